"""The command ``orthobench advise``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from orthobench.cli.options import AS_JSON, FILE
from orthobench.cli.printing import print_json, say, wrapped

NEXT = """
orthobench advise FAMILY has more about one, and
orthobench advise -p "npy-stochastic-pca path=X.npy k=8" is about your data"""


@click.command()
@click.argument("about", required=False)
@click.option("-p", "--problem", metavar="SPEC",
              help='Advise on these data: "NAME key=value ...".')  # fmt: skip
@click.option("--cost", type=click.Choice(("seconds", "samples", "flops")),
              help="Minimise this cost; with -p only.  [default: seconds]")  # fmt: skip
@click.option("--tolerance", type=float, help="Accept solvers that leave this part of the gap, "
              "0.01 or 1e-6; with -p only.  [default: 0.01]")  # fmt: skip
@click.option("--atlas", "file", type=FILE,
              help="Read this atlas.  [default: that of the package]")  # fmt: skip
@AS_JSON
def advise(about: str | None, problem: str | None, file: Path | None, as_json: bool,
           **wishes: Any) -> None:  # fmt: skip
    """Recommend a method from stored results, without a run.

    ABOUT is a family, or a problem of one  [default: a line for each family]. With -p, similar
    problems of the atlas answer: by rows, dimension, decay of the spectrum, noise.
    """
    if about and problem:
        raise click.UsageError("name a family of the atlas, or your data with -p, not both")
    given = {name: wish for name, wish in wishes.items() if wish is not None}
    if given and not problem:
        raise click.UsageError("--cost and --tolerance are for your data: name them with -p")
    from orthobench.atlas import advice, answers

    table = answers.opened(file)
    if problem:
        own = advice.advise(problem, atlas=table, **given)
        race = f"Race instead, since {own.doubt}:" if own.doubt else "Check it:"
        lines = [own.sentence, f"Like: {', '.join(own.near)}", f"{race} {own.check}"]
        print_json(own) if as_json else _print([*lines, "", *own.code.splitlines()])
        return
    kinds = answers.find(table, about) if about else list(table.kinds)
    if as_json:
        print_json(answers.facts(table, kinds))
    elif about:
        _print(answers.of_family(table, kinds))
    else:
        _print(answers.overview(table))
        say(NEXT)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        indent = len(line) - len(line.lstrip()) + 4
        say(line if "orthobench race" in line else wrapped(line, indent))
