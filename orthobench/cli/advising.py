"""The command ``orthobench advise``."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orthobench.cli.completion import Installed
from orthobench.cli.options import AS_JSON
from orthobench.cli.printing import print_json, say
from orthobench.tools.collections import plain

if TYPE_CHECKING:
    from orthobench.atlas.table import Atlas

NEXT = """
orthobench advise FAMILY tells more of one, and
orthobench advise -p "npy-stochastic-pca path=X.npy k=8" is about your data"""


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
    "--cost",
    type=click.Choice(["seconds", "samples", "flops"]),
    default="seconds",
    show_default=True,
    help="What is to be least.",
)
@click.option(
    "--tolerance",
    type=float,
    default=0.01,
    show_default=True,
    help="Part of the gap by which a method may end above the best: 0.01 or 1e-6.",
)
@click.option(
    "--atlas",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Parquet file of `orthobench atlas`.  [default: the one that comes with the package]",
)
@AS_JSON
def advise(about: str | None, problem: str | None, cost: str, tolerance: float, file: Path | None,
           as_json: bool) -> None:  # fmt: skip
    """Say which method to use, from measurements that are there already; nothing is run.

    ABOUT is a family or a problem of the atlas. With -p the data of a problem are measured (rows,
    dimension, decay of the spectrum, noise), and the problems of the atlas answer, those that are
    like them with more weight. Without either, there is a line for each family.
    """
    if about and problem:
        raise click.UsageError("name a family or problem of the atlas, or -p with your data")
    from orthobench.atlas import advice, answers

    atlas = answers.opened(file)
    if problem:
        found = advice.advise(problem, cost, tolerance, atlas)
        lines = [found.sentence, f"Like: {', '.join(found.near)}", f"Check it: {found.check}"]
        print_json(plain(found)) if as_json else _print(lines)
        return
    kinds, named = answers.find(atlas, about) if about else (list(atlas.kinds), "")
    if named:
        one = advice.on_problem(atlas, named, cost, tolerance)
        print_json(plain(one)) if as_json else _print(str(one).splitlines())
    elif as_json:
        print_json(plain(answers.facts(atlas, kinds)))
    elif about:
        _print(answers.of_family(atlas, kinds))
    else:
        _overview(atlas)


def _overview(atlas: Atlas) -> None:
    from orthobench.atlas.answers import overview

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
