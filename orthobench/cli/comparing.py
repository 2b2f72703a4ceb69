"""The command ``orthobench compare``."""

from __future__ import annotations

import math
import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from orthobench.cli import options as shared
from orthobench.cli.printing import print_facts, status_line

QUESTIONS = ("result", "work", "time", "memory", "import", "first")


def part(text: str) -> float:
    """Return the part that ``5%`` or ``0.05`` means."""
    try:
        value = float(text.strip()[:-1]) / 100 if text.strip().endswith("%") else float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise click.BadParameter(f"{text!r} is no part of BASE; write 0.05 or 5%")
    return value


def tolerance(text: str) -> dict[str, float]:
    """Return the tolerances that ``5%``, ``time=0.05`` or ``time@digits*=5%`` mean."""
    name, equals, value = text.rpartition("=")
    asked = name.partition("@")[0].strip()
    if equals and asked not in QUESTIONS:
        raise click.BadParameter(f"{asked!r} is none of {', '.join(QUESTIONS)}")
    return dict.fromkeys([name.strip()] if equals else QUESTIONS, part(value))


def suite_named(text: str) -> str | Path:
    """Return a suite's name, or its file."""
    return Path(text) if text.endswith(".toml") else text


SUITE_NAME = click.option("--suite", type=suite_named, metavar="SUITE", help="Name or file of the "
                          "suite.  [default: regression]")  # fmt: skip
SEEDS = click.option("--seeds", type=shared.COUNT, help="Number of seeds, instead of the suite's.")
CLOCK = click.option("--clock", type=click.Choice(("cpu", "wall")), default="cpu",
                     show_default=True, help="Time by the processor's clock, or by wall time."
                     )  # fmt: skip
WITH = click.option("--with", "extras", type=shared.FOLDER, multiple=True, metavar="DIR",
                    help="Build this project of the repository too, on each side. Repeatable."
                    )  # fmt: skip


@click.command()
@click.argument("base")
@click.argument("head")
@SUITE_NAME
@click.option("--tolerance", "tolerances", type=tolerance, multiple=True, metavar="PART",
              help="The part of BASE by which a cell may be worse, 0.05 or 5%, or for one question "
              "time=5%, or for some cells time@digits*=5%. Repeatable.  [default: result=0 work=0 "
              "time=3% memory=10% import=25% first=25%]")  # fmt: skip
@click.option("--undecided", type=part, default="25%", show_default=True, metavar="PART",
              help="The slow-down that a time has to exclude if it is undecided.")  # fmt: skip
@click.option("--budget", type=shared.POSITIVE, default=90.0, show_default=True, metavar="SECONDS",
              help="How long the timing may take; it is doubled once if times are undecided."
              )  # fmt: skip
@click.option("--run-limit", type=shared.POSITIVE, metavar="SECONDS",
              help="How long one run may take.  [default: twice the budget, 60 at least]"
              )  # fmt: skip
@shared.PROBLEMS
@shared.SOLVERS
@SEEDS
@CLOCK
@WITH
@click.option("--name-base", metavar="NAME", help="The name of BASE in reports.")
@click.option("--name-head", metavar="NAME", help="The name of HEAD in reports.")
@click.option("--markdown", type=shared.FILE, help="Also write Markdown, for a comment.")
@click.option("--junit", type=shared.FILE, help="Also write JUnit XML.")
@click.option("--all", "every", is_flag=True,
              help="Compare and list every cell, also those that are the same.")  # fmt: skip
@shared.QUIET
@shared.AS_JSON
def compare(base: str, head: str, tolerances: tuple[dict[str, float], ...],
            extras: tuple[Path, ...], name_base: str | None, name_head: str | None,
            markdown: Path | None, junit: Path | None, every: bool, quiet: bool,
            as_json: bool, **chosen: Any) -> None:  # fmt: skip
    """Compare HEAD with BASE: is a result worse, does it take more work, is it slower.

    Each of BASE and HEAD is a git revision, a project's folder as it is (with uncommitted changes),
    a wheel, or a Python environment. Revisions, folders and wheels are installed in environments of
    their own. Results and work are compared exactly; times side by side in interleaved processes,
    until each comparison is decided or the budget is spent. `orthobench report` holds two stores
    against each other.

    The exit code is 0 if all cells were compared and none is worse, 1 if one is worse than
    tolerated or HEAD does not repeat its bits, 2 if a cell could not be compared.

    \b
    orthobench compare main HEAD
    orthobench compare v1.0 .        the last release, and the working tree
    orthobench compare v1.0 HEAD -s bench.py:Mine -p "digits k=4"
                                     in the repository of any library
    """  # noqa: D301 - click reads the backspace
    from orthobench.compare import reports, run
    from orthobench.compare.cells import SUITE
    from orthobench.compare.comparison import Comparison
    from orthobench.compare.environments import sides
    from orthobench.compare.options import TOLERANCE, Options
    from orthobench.compare.sides import Side
    from orthobench.errors import OrthobenchError
    from orthobench.tools.files import atomic_write, refuse_unwritable
    from orthobench.tools.formatting import clean

    writers = {markdown: reports.markdown, junit: reports.junit}
    files = {path: text for path, text in writers.items() if path}
    for path in files:  # before the minutes that a comparison takes
        refuse_unwritable(path)
    given = {**TOLERANCE, **{name: part for one in tolerances for name, part in one.items()}}
    options = Options(tolerance=given, every=every, **chosen)
    names = name_base or base, name_head or head
    failure: OrthobenchError | None = None
    try:
        with (
            status_line(quiet or as_json) as progress,
            sides(base, head, extras=extras, progress=progress) as pair,
        ):
            old, new = (replace(side, name=name) for side, name in zip(pair, names, strict=True))
            found = run.compare(old, new, options, progress)
    except OrthobenchError as error:  # what was written about another comparison must not stay
        failure = error
        old, new = (Side(name, "unknown", name) for name in names)
        suite = str(options.suite or SUITE)
        found = Comparison(old, new, suite, options, reason=clean(str(error)))
    for path, text in files.items():
        with atomic_write(path) as file:
            file.write(text(found).encode())
    if as_json or not failure:
        width = min(shutil.get_terminal_size().columns, 100)
        as_text = partial(reports.lines, every=every, width=width)
        print_facts(reports.facts(found) if as_json else found, as_json, as_text)
    if failure:
        raise failure
    sys.exit(found.exit_code)
