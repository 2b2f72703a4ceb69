"""The commands ``orthobench compare`` and ``orthobench verify``."""

from __future__ import annotations

import math
import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from orthobench.cli.options import (
    AS_JSON,
    AUTO_WORKERS,
    FILE,
    FOLDER,
    MEMORY_LIMIT,
    PROBLEMS,
    QUIET,
    SOLVERS,
    STORE,
    TIMEOUT,
)
from orthobench.cli.printing import FAILED, WRONG, print_facts, status_line

QUESTIONS = ("result", "work", "time")


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
@click.option("--suite", type=suite_named, metavar="SUITE", help="Name or file of the suite.  "
              "[default: regression]")  # fmt: skip
@click.option("--tolerance", "tolerances", type=tolerance, multiple=True, metavar="PART",
              help="The part of BASE by which a cell may be worse, 0.05 or 5%, or for one question "
              "time=5%. Repeatable.  [default: result=0 work=0 time=3%]")  # fmt: skip
@click.option("--budget", type=click.FloatRange(0, min_open=True), default=90.0, show_default=True,
              metavar="SECONDS", help="How long the timing may take.")  # fmt: skip
@PROBLEMS
@SOLVERS
@click.option("--seeds", type=click.IntRange(1), help="Number of seeds, instead of the suite's.")
@click.option("--clock", type=click.Choice(("cpu", "wall")), default="cpu", show_default=True,
              help="Time by the processor's clock, or by wall time.")  # fmt: skip
@click.option("--markdown", type=FILE, help="Also write Markdown, for a pull request's comment.")
@click.option("--junit", type=FILE, help="Also write JUnit XML.")
@click.option("--name-base", metavar="NAME", help="What reports call BASE, as main@5e0370b1a2c3.")
@click.option("--name-head", metavar="NAME", help="What reports call HEAD.")
@click.option("--fail-on", type=click.Choice(("worse", "probable")), default="worse",
              show_default=True, help="Whether probably slower is a regression too.")  # fmt: skip
@click.option("--all", "every", is_flag=True,
              help="Compare and list every cell, also where nothing of it differs.")  # fmt: skip
@QUIET
@AS_JSON
def compare(base: str, head: str, tolerances: tuple[dict[str, float], ...],
            markdown: Path | None, junit: Path | None, every: bool, name_base: str | None,
            name_head: str | None,
            fail_on: str, quiet: bool, as_json: bool, **chosen: Any) -> None:  # fmt: skip
    """Compare HEAD with BASE: is a result worse, does it take more work, is it slower.

    Each of BASE and HEAD is a git revision, a project's folder as it is (with uncommitted changes),
    a wheel, or a Python environment. Revisions, folders and wheels are installed in environments of
    their own. Results and work are compared exactly; times side by side in interleaved processes,
    until each comparison is decided or the budget is spent. `orthobench report` holds two stores
    against each other.

    The exit code is 1 where HEAD is worse than tolerated, 2 where nothing could be compared.

    \b
    orthobench compare main HEAD
    orthobench compare v1.0 .        the last release, and the working tree
    """  # noqa: D301 - click reads the backspace
    from orthobench.compare import reports, run
    from orthobench.compare.comparison import TOLERANCE, Options
    from orthobench.compare.environments import sides
    from orthobench.stats.run_pairs import Change
    from orthobench.tools.files import atomic_write, refuse_unwritable

    files = {path: text for path, text in ((markdown, reports.markdown), (junit, reports.junit))
             if path}  # fmt: skip
    for path in files:  # before the minutes that a comparison takes
        refuse_unwritable(path)
    given = {**TOLERANCE, **{name: part for one in tolerances for name, part in one.items()}}
    failing = (Change.WORSE, Change.PROBABLE)[: 1 + (fail_on == "probable")]
    options = Options(tolerance=given, every=every, failing=failing, **chosen)
    with (
        status_line(quiet or as_json) as progress,
        sides(base, head, progress=progress) as pair,
    ):
        first = replace(pair[0], name=name_base or pair[0].name)
        second = replace(pair[1], name=name_head or pair[1].name)
        found = run.compare(first, second, options, progress)
    for path, text in files.items():
        with atomic_write(path) as file:
            file.write(text(found).encode())
    width = min(shutil.get_terminal_size().columns, 100)
    as_text = partial(reports.lines, every=every, width=width)
    print_facts(reports.facts(found) if as_json else found, as_json, as_text)
    sys.exit(FAILED if found.regressions else WRONG if found.empty else 0)


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
    same platform with the same code, within a tolerance otherwise, which is named. Seconds are not.
    What is not installed here is named and counts as not checked.

    \b
    orthobench verify STORE --share 1       all cells
    orthobench verify STORE --seed 1        another share
    orthobench verify STORE --timeout 60 --memory-limit 4GiB
                                            a store of somebody else

    The exit code is 1 where a value did not come out again, and 2 where nothing could be checked.
    """  # noqa: D301 - click reads the backspace
    from orthobench.harness.executors import Limits
    from orthobench.registry.plugins import catalogue
    from orthobench.results.results import store_at
    from orthobench.tools.environment import cores
    from orthobench.verify.check import lines
    from orthobench.verify.check import verify as verified

    verification = verified(
        store_at(store), catalogue(), share=share, seed=seed, folders=folders,
        workers=cores() if workers == "auto" else workers,
        limits=Limits(timeout, memory_limit), quiet=quiet or as_json,
    )  # fmt: skip
    print_facts(verification.facts() if as_json else verification, as_json, lines)
    sys.exit(FAILED if verification.mismatches else 0 if verification.recomputed else WRONG)
