"""The command ``orthobench verify``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from orthobench.cli.exit_codes import FAILED, WRONG
from orthobench.cli.options import AS_JSON, AUTO_WORKERS, MEMORY_LIMIT, QUIET, STORE, TIMEOUT
from orthobench.cli.printing import print_facts
from orthobench.tools.collections import plain


@click.command()
@STORE
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="Share of the cells that are computed again, rounded up.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of these cells.")
@click.option(
    "--data",
    "folders",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder below which files may be read that STORE names. Repeatable.  [default: none]",
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
    from orthobench.tools.threads import cores
    from orthobench.verify import wording
    from orthobench.verify.check import verify as verified

    found = verified(
        store_at(store), catalogue(), share=share, seed=seed, folders=folders,
        workers=cores() if workers == "auto" else workers,
        limits=Limits(timeout, memory_limit), quiet=quiet or as_json,
    )  # fmt: skip
    print_facts(plain(wording.facts(found)) if as_json else found, as_json, wording.lines)
    sys.exit(FAILED if found.mismatches else 0 if found.recomputed else WRONG)
