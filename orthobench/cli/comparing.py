"""The commands ``orthobench compare`` and ``orthobench verify``: runs held against runs."""

from __future__ import annotations

import math
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from orthobench.cli.options import (
    AS_JSON,
    AUTO_WORKERS,
    COUNT,
    FILE,
    FOLDER,
    MEMORY_LIMIT,
    POSITIVE,
    QUIET,
    STORE,
    TIMEOUT,
)
from orthobench.cli.printing import FAILED, WRONG, print_facts, status_line

QUESTIONS = ("result", "work", "time")
WIDEST = 100
"""The most columns of a line."""


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
    help="How much worse a cell may be, as 0.05 or 5%; with result=, work= or time= for one."
    " Repeatable.  [default: result=0 work=0 time=3%]",
)
@click.option(
    "--budget", type=POSITIVE, default=90.0, metavar="SECONDS", help="How long the timing may take."
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
@click.option("--seeds", type=COUNT, help="Number of seeds, instead of the suite's.")
@click.option(
    "--clock",
    type=click.Choice(["cpu", "wall"]),
    default="cpu",
    help="Processor time, or wall time.",
)
@click.option(
    "--fresh-dependencies", "fresh", is_flag=True, help="Install each side's own dependencies."
)
@click.option(
    "--environments",
    type=FOLDER,
    metavar="FOLDER",
    help="To keep environments.  [default: the user's cache; with --fresh-dependencies nowhere]",
)
@click.option("--markdown", type=FILE, help="Also write Markdown, for a pull request.")
@click.option("--junit", type=FILE, help="Also write JUnit XML.")
@click.option("--all", "every", is_flag=True, help="List every cell, not only what changed.")
@click.option("-q", "--quiet", is_flag=True, help="No progress display.")
@AS_JSON
def compare(base: str, head: str, tolerances: tuple[dict[str, float], ...], fresh: bool,
            environments: Path | None, markdown: Path | None, junit: Path | None, every: bool,
            quiet: bool, as_json: bool, **others: Any) -> None:  # fmt: skip
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
    from orthobench.compare import run, wording
    from orthobench.compare.cached_env import users_folder
    from orthobench.compare.comparison import Options, Tolerance
    from orthobench.compare.facts import facts
    from orthobench.compare.junit import junit as as_junit
    from orthobench.compare.markdown import markdown as as_markdown
    from orthobench.compare.sides import sides
    from orthobench.compare.terminal import lines
    from orthobench.tools.files import atomic_write, refuse_unwritable

    files = [(path, text) for path, text in ((markdown, as_markdown), (junit, as_junit)) if path]
    for path, _ in files:
        refuse_unwritable(path)  # before the minutes that a comparison takes
    parts = {name: part for one in tolerances for name, part in one.items()}
    options = Options(tolerance=Tolerance(**parts), **others)
    folder = environments or (None if fresh else users_folder())
    with (
        status_line(quiet or as_json) as progress,
        sides(base, head, folder, fresh=fresh, progress=progress) as (first, second),
    ):
        comparison = run.compare(first, second, options, progress)
    for path, text in files:
        with atomic_write(path) as file:
            file.write(text(comparison).encode())
    width = min(shutil.get_terminal_size().columns, WIDEST)
    as_text = partial(lines, every=every, width=width)
    print_facts(facts(comparison) if as_json else comparison, as_json, as_text)
    nothing = wording.verdict(comparison) == wording.NOTHING
    sys.exit(FAILED if comparison.regressions() else WRONG if nothing else 0)


@click.command()
@STORE
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    help="Share of the cells to compute again.",
)
@click.option("--seed", type=int, default=0, help="Of the draw of these cells.")
@click.option(
    "--data",
    "folders",
    multiple=True,
    type=FOLDER,
    help="Where files may be read that STORE names. Repeatable.  [default: nowhere]",
)
@AUTO_WORKERS
@TIMEOUT
@MEMORY_LIMIT
@QUIET
@AS_JSON
def verify(store: Path, share: float, seed: int, folders: tuple[Path, ...],
           workers: Any, timeout: float | None, memory_limit: int | None,
           quiet: bool, as_json: bool) -> None:  # fmt: skip
    """Compute a random share of the cells in STORE again, and compare.

    STORE is a store, or the folder that holds results.sqlite; it is only read.
    Endings, steps, samples, flops and metrics of all checkpoints are compared: bit for bit on the
    same platform, within a tolerance on another one, which is named. Seconds are not. What is not
    installed here is named and counts as not checked, and so does what ran with other code than is
    here and comes out otherwise.

    \b
    orthobench verify STORE --share 1       all cells
    orthobench verify STORE --seed $RANDOM  a draw that nobody knows beforehand
    orthobench verify STORE --timeout 60 --memory-limit 4GiB
                                            a store of somebody else

    The exit code is 1 where a value did not come out again, and 2 where nothing could be checked.
    """  # noqa: D301 - click reads the backspace
    from orthobench.harness.executors import Limits
    from orthobench.registry.plugins import catalogue
    from orthobench.results.results import store_at
    from orthobench.tools.environment import cores
    from orthobench.verify import wording
    from orthobench.verify.check import verify as verified

    verification = verified(
        store_at(store), catalogue(), share=share, seed=seed, folders=folders,
        workers=cores() if workers == "auto" else workers,
        limits=Limits(timeout, memory_limit), quiet=quiet or as_json,
    )  # fmt: skip
    facts = wording.facts(verification) if as_json else verification
    print_facts(facts, as_json, wording.lines)
    sys.exit(FAILED if verification.mismatches else 0 if verification.recomputed else WRONG)
