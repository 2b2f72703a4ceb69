"""The command ``orthobench compare``."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from orthobench.cli import options as shared
from orthobench.cli.printing import print_facts, status_line


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
    from orthobench.compare.options import TOLERANCE

    name, equals, value = text.rpartition("=")
    asked = name.partition("@")[0].strip()
    if equals and asked not in TOLERANCE:
        raise click.BadParameter(f"{asked!r} is no question; write {', '.join(TOLERANCE)}")
    return dict.fromkeys([name.strip()] if equals else TOLERANCE, part(value))


def suite_named(text: str) -> str | Path:
    """Return a suite's name, or its file."""
    return Path(text) if text.endswith(".toml") else text


def comparing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that `compare` and `history` share."""
    for option in (  # help shows the last one first
        click.option("--with", "extras", type=shared.FOLDER, multiple=True, metavar="DIR",
                     help="Build this project of the repository too, on each side. Repeatable."),
        click.option("--clock", type=click.Choice(("cpu", "wall")), default="cpu",
                     show_default=True,
                     help="Time by this clock: of the processor, or wall time."),
        click.option("--seeds", type=shared.COUNT,
                     help="Run this number of seeds.  [default: the suite's]"),
        shared.SOLVERS,
        shared.PROBLEMS,
        click.option("--suite", type=suite_named, metavar="SUITE", help="Compare on this suite: "
                     "its name or file.  [default: regression]"),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("base")
@click.argument("head")
@comparing
@click.option("--tolerance", "tolerances", type=tolerance, multiple=True, metavar="PART",
              help="Accept cells that are worse by this part of BASE: 5%, or for one question "
              "time=5%, or for some cells time@digits*=5%. Repeatable.  [default: result=0 work=0 "
              "time=3% memory=10% import=25% first=25%]")  # fmt: skip
@click.option("--undecided", type=part, default="25%", show_default=True, metavar="PART",
              help="Fail if an undecided time does not exclude this slow-down.")  # fmt: skip
@click.option("--budget", type=shared.POSITIVE, default=90.0, show_default=True, metavar="SECONDS",
              help="Limit the timing; the limit is doubled once if times are undecided."
              )  # fmt: skip
@click.option("--name-base", metavar="NAME", help="Call BASE this in reports.")
@click.option("--name-head", metavar="NAME", help="Call HEAD this in reports.")
@click.option("--markdown", type=shared.FILE, help="Write Markdown, for a comment, to this file.")
@click.option("--junit", type=shared.FILE, help="Write JUnit XML to this file.")
@click.option("--dashboard", type=shared.FILE,
              help="Write JSON for github-action-benchmark to this file.")  # fmt: skip
@click.option("--all", "every", is_flag=True,
              help="Compare and list every cell, also if it does not differ.")  # fmt: skip
@shared.QUIET
@shared.AS_JSON
def compare(base: str, head: str, tolerances: tuple[dict[str, float], ...],
            extras: tuple[Path, ...], name_base: str | None, name_head: str | None,
            markdown: Path | None, junit: Path | None, dashboard: Path | None, every: bool,
            quiet: bool, as_json: bool, **chosen: Any) -> None:  # fmt: skip
    """Compare HEAD with BASE: worse results, more work, longer times.

    BASE and HEAD are git revisions, folders of projects with uncommitted changes, wheels, or Python
    environments; each is installed in an environment of its own. Results and work are compared
    exactly, times in interleaved processes, until all are decided or the budget is spent.

    The exit code is 0 if all cells were compared and none is worse, 1 if one is worse or HEAD does
    not repeat its bits, 2 if a cell could not be compared.

    \b
    orthobench compare main HEAD
    orthobench compare v1.0 .        the last release, and the working tree
    orthobench compare v1.0 HEAD -s bench.py:Mine -p "digits k=4"
                                     in the repository of any library
    """  # noqa: D301 - click reads the backspace
    from dataclasses import replace

    from orthobench.compare import reports, run
    from orthobench.compare.cells import SUITE
    from orthobench.compare.comparison import Comparison
    from orthobench.compare.options import TOLERANCE, Options
    from orthobench.compare.sides import Side, sides
    from orthobench.errors import OrthobenchError
    from orthobench.tools.files import atomic_write, refuse_unwritable
    from orthobench.tools.formatting import clean

    writers = {markdown: reports.markdown, junit: reports.junit, dashboard: reports.dashboard}
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
    except OrthobenchError as error:  # replaces the reports of another comparison
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
