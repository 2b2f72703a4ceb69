"""The command ``orthobench advise``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from orthobench.cli.options import AS_JSON, FILE, Installed
from orthobench.cli.printing import print_json, say, wrapped

NEXT = """
orthobench advise FAMILY tells more of one, and
orthobench advise -p "npy-stochastic-pca path=X.npy k=8" is about your data"""


@click.command()
@click.argument("about", required=False, type=Installed("families", "problems"))
@click.option("-p", "--problem", type=Installed("problems"), metavar="SPEC",
              help='Your data, as a problem: "NAME key=value ...".')  # fmt: skip
@click.option("--cost", type=click.Choice(("seconds", "samples", "flops")), default="seconds",
              help="What is to be least.")  # fmt: skip
@click.option("--tolerance", type=float, default=0.01,
              help="Part of the gap that counts as good: 0.01 or 1e-6.")  # fmt: skip
@click.option("--atlas", "file", type=FILE,
              help="File of `orthobench atlas`.  [default: the one in the package]")  # fmt: skip
@AS_JSON
def advise(about: str | None, problem: str | None, cost: str, tolerance: float,
           file: Path | None, as_json: bool) -> None:  # fmt: skip
    """Recommend a method from stored measurements, without running anything.

    ABOUT is a family or a problem of the atlas. With -p the data of a problem are measured (rows,
    dimension, decay of the spectrum, noise), and the problems of the atlas answer, those that are
    like them with more weight. Without either, there is a line for each family.
    """
    if about and problem:
        raise click.UsageError("name a family or problem of the atlas, or -p with your data")
    from orthobench.atlas import advice, answers

    table = answers.opened(file)
    if problem:
        own = advice.advise(problem, cost, tolerance, table)
        lines = [own.sentence, f"Like: {', '.join(own.near)}", f"Check it: {own.check}"]
        print_json(own) if as_json else _print(lines)
        return
    kinds, named = answers.find(table, about) if about else (list(table.kinds), "")
    if named:
        one = advice.on_problem(table, named, cost, tolerance)
        print_json(one) if as_json else _print(str(one).splitlines())
    elif as_json:
        print_json(answers.facts(table, kinds))
    elif about:
        _print(answers.of_family(table, kinds))
    else:
        _print(answers.overview(table))
        say(NEXT)


def _print(lines: Iterable[str]) -> None:
    """Print lines as wide as the terminal; those that are commands stay whole."""
    for line in lines:
        indent = len(line) - len(line.lstrip()) + 4
        say(line if "orthobench race" in line else wrapped(line, indent))
