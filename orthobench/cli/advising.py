"""The command ``orthobench advise``."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orthobench.cli.completion import Installed
from orthobench.cli.options import AS_JSON
from orthobench.cli.printing import print_json, say
from orthobench.tools.collections import plain

if TYPE_CHECKING:
    from orthobench.atlas.consult import Consultation
    from orthobench.atlas.table import Atlas

NEXT = """
orthobench advise FAMILY tells more of one, and
orthobench advise -p "npy-pca path=X.npy k=8" is about your data"""


@click.command()
@click.argument("about", required=False, type=Installed("families", "problems"))
@click.option(
    "-p",
    "--problem",
    type=Installed("problems"),
    metavar="SPEC",
    help='Your data, as a problem: "NAME key=value ...".',
)
@click.option(
    "--budget",
    metavar="COST=MOST",
    help="What a run may cost: samples=1000, seconds=0.5 or flops=1e9.  [default: the atlas's]",
)
@click.option(
    "--atlas",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Parquet file of `orthobench atlas`.  [default: the one that comes with the package]",
)
@AS_JSON
def advise(about: str | None, problem: str | None, budget: str | None, file: Path | None,
           as_json: bool) -> None:  # fmt: skip
    """Say which method to use, from measurements that are there already; nothing is run.

    ABOUT is a family or a problem of the atlas. With -p the data of a problem are measured (rows,
    dimension, decay of the spectrum, noise), and the problems of the atlas that are like them
    answer. Without either, there is a line for each family. Where the atlas cannot tell, it says
    so, and why.
    """
    if about and problem:
        raise click.UsageError("name a family or problem of the atlas, or -p with your data")
    from orthobench.atlas.consult import find, limit_of, opened

    if budget:
        limit_of(budget)
    atlas = opened(file)
    if problem:
        _tell(_on_data(atlas, problem, budget), as_json)
        return
    family, named = find(atlas, about) if about else ("", "")
    if named:
        from orthobench.atlas.consult import on_problem

        _tell(on_problem(atlas, named, budget), as_json)
    elif budget:
        raise click.UsageError("--budget goes with a problem")
    else:
        _answers(atlas, family, as_json)


def _on_data(atlas: Atlas, problem: str, budget: str | None) -> Consultation:
    from orthobench.atlas.consult import on_data
    from orthobench.registry.suite_values import specification
    from orthobench.registry.plugins import catalogue

    entry: dict[str, Any] = specification(problem)
    return on_data(atlas, catalogue().problem(entry.pop("name"), entry), problem, budget)


def _tell(found: Consultation, as_json: bool) -> None:
    from orthobench.atlas.wording import of_problem

    if as_json:
        print_json(plain(found))
    else:
        _print(of_problem(found))


def _answers(atlas: Atlas, family: str, as_json: bool) -> None:
    """Print the answers of one family, or a line for each kind of problems."""
    from orthobench.atlas.answers import answers
    from orthobench.atlas.wording import facts, of_family, overview

    if as_json:
        print_json(facts(answers(atlas, family)))
    elif family:
        _print(of_family(answers(atlas, family)))
    else:
        _print(overview(atlas))
        say(NEXT)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        for part in _wrapped(line):
            say(part)


def _wrapped(line: str) -> Iterator[str]:
    """Yield a line in parts as wide as the terminal; one that is a command stays whole."""
    if "orthobench run" in line:
        yield line
        return
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    yield from textwrap.wrap(
        line, shutil.get_terminal_size().columns, subsequent_indent=indent, break_on_hyphens=False
    ) or [""]  # fmt: skip
