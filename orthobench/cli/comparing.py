"""The command ``orthobench compare``."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orthobench.cli.options import AS_JSON
from orthobench.cli.printing import say, status_line

if TYPE_CHECKING:
    from orthobench.compare.comparison import Comparison, Options

REGRESSION, NOTHING = 1, 2
QUESTIONS = ("result", "work", "time")
CLOCKS = ("cpu", "wall")
WIDEST = 100
"""The most columns of a line."""

FILE = click.Path(dir_okay=False, path_type=Path)


def tolerance(text: str) -> dict[str, float]:
    """Return the tolerances that ``5%``, ``0.05`` or ``time=0.05`` mean, by question."""
    asked, equals, part = (word.strip() for word in text.rpartition("="))
    if equals and asked not in QUESTIONS:
        raise click.BadParameter(f"{asked!r} is none of {', '.join(QUESTIONS)}")
    try:
        value = float(part[:-1]) / 100 if part.endswith("%") else float(part)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise click.BadParameter(f"{part!r} is no part of BASE; write 0.05 or 5%")
    return dict.fromkeys([asked] if equals else QUESTIONS, value)


def suite_named(text: str) -> str | Path:
    """Return a suite's name, or its file."""
    return Path(text) if text.endswith(".toml") else text


@click.command()
@click.argument("base")
@click.argument("head")
@click.option(
    "--suite",
    type=suite_named,
    metavar="NAME|FILE",
    help="Which cells.  [default: regression; of a store, its latest]",
)
@click.option(
    "--tolerance",
    "tolerances",
    type=tolerance,
    multiple=True,
    metavar="[QUESTION=]PART",
    help="The part of BASE by which a cell may be worse, as 0.05 or 5%: for every question, or with"
    " result=, work= or time= for one. Repeatable.  [default: result=0 work=0 time=3%]",
)
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    default=90.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the timing may take; cells that are not decided then stay undecided.",
)
@click.option(
    "-s", "--solver", "solvers", multiple=True, metavar="NAME", help="Only this solver. Repeatable."
)
@click.option(
    "-p",
    "--problem",
    "problems",
    multiple=True,
    metavar="NAME",
    help="Only this problem. Repeatable.",
)
@click.option("--seeds", type=click.IntRange(1), help="Number of seeds, instead of the suite's.")
@click.option(
    "--clock",
    type=click.Choice(CLOCKS),
    default="cpu",
    show_default=True,
    help="The clock of the timing: processor time, or wall time.",
)
@click.option(
    "--fresh-dependencies",
    "fresh",
    is_flag=True,
    help="Install each side's dependencies anew, instead of sharing those of this environment.",
)
@click.option(
    "--environments",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where the environments of revisions and wheels are kept for the next time."
    "  [default: the user's cache; with --fresh-dependencies nowhere]",
)
@click.option("--markdown", type=FILE, help="Also write Markdown, for a pull request's comment.")
@click.option("--junit", type=FILE, help="Also write JUnit XML.")
@click.option("--all", "every", is_flag=True, help="List every cell, not only what changed.")
@click.option("-q", "--quiet", is_flag=True, help="No progress display.")
@AS_JSON
def compare(base: str, head: str, tolerances: tuple[dict[str, float], ...], fresh: bool,
            environments: Path | None, markdown: Path | None, junit: Path | None, every: bool,
            quiet: bool, as_json: bool, **chosen: Any) -> None:  # fmt: skip
    """Compare HEAD with BASE: is a result worse, does it take more work, is it slower.

    Each of BASE and HEAD is a git revision, a project's folder as it is (with uncommitted changes),
    a wheel, a Python environment, or a store. Revisions, folders and wheels are installed in
    environments of their own. Results and work are compared exactly; times side by side in
    interleaved processes, until each comparison is decided or the budget is spent.

    The exit code is 1 where HEAD is worse than tolerated, 2 where nothing could be compared.

    \b
    orthobench compare main HEAD
    orthobench compare v1.0 .            the last release, and what is in the working tree
    orthobench compare old/results.sqlite new/results.sqlite
    """  # noqa: D301 - click reads the backspace
    from orthobench.compare.comparison import Options, Tolerance

    files = {"markdown": markdown, "junit": junit}
    _refuse_unwritable(files)
    given = {name: part for one in tolerances for name, part in one.items()}
    options = Options(tolerance=Tolerance(**given), **chosen)
    comparison = _compared(base, head, options, environments, fresh, quiet or as_json)
    _write(comparison, files)
    _print(comparison, every, as_json)
    sys.exit(_exit_code(comparison))


def _compared(
    base: str, head: str, options: Options, environments: Path | None, fresh: bool, quiet: bool
) -> Comparison:
    from orthobench.compare import run
    from orthobench.compare.environments import cache_folder, sides

    folder = environments or (None if fresh else cache_folder())
    with (
        status_line(quiet) as progress,
        sides(base, head, folder, fresh=fresh, progress=progress) as (first, second),
    ):
        return run.compare(first, second, options, progress)


def _exit_code(comparison: Comparison) -> int:
    from orthobench.stats.run_pairs import Change

    if comparison.found(Change.WORSE):
        return REGRESSION
    return NOTHING if comparison.empty else 0


def _print(comparison: Comparison, every: bool, as_json: bool) -> None:
    from orthobench.compare.reports import facts, lines

    if as_json:
        say(json.dumps(facts(comparison), indent=2))
        return
    for line in lines(comparison, every, min(shutil.get_terminal_size().columns, WIDEST)):
        say(line)


def _refuse_unwritable(files: Mapping[str, Path | None]) -> None:
    """Refuse files that could not be written, before the minutes that a comparison takes."""
    from orthobench.errors import UsageError
    from orthobench.tools.files import refuse_unwritable

    for option, path in files.items():
        try:
            if path is not None:
                refuse_unwritable(path)
        except UsageError as error:
            raise UsageError(f"{error}; name another with --{option}") from None


def _write(comparison: Comparison, files: Mapping[str, Path | None]) -> None:
    from orthobench.compare.reports import junit, markdown
    from orthobench.tools.files import replacing

    for option, text in {"markdown": markdown, "junit": junit}.items():
        if path := files[option]:
            with replacing(path) as file:
                file.write(text(comparison).encode())
