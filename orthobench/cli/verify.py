"""The command ``orthobench verify``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from orthobench.cli import options
from orthobench.cli.printing import FAILED, WRONG, print_facts


@click.command()
@options.STORE
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), default=0.1,
              help="Compute this share of the cells.")  # fmt: skip
@click.option("--seed", type=int, default=0, help="Draw the cells with this seed.")
@click.option("--data", "folders", multiple=True, type=options.FOLDER, help="Read files that STORE "
              "names from this folder. Repeatable.  [default: none]")  # fmt: skip
@options.AUTO_WORKERS
@options.TIMEOUT
@options.MEMORY_LIMIT
@options.QUIET
@options.AS_JSON
def verify(store: Path, share: float, seed: int, folders: tuple[Path, ...],
           workers: int | None, timeout: float | None, memory_limit: int | None,
           quiet: bool, as_json: bool) -> None:  # fmt: skip
    """Compute a share of the cells in STORE again, and compare.

    STORE is a store, or the folder with its results.sqlite; it is only read. Endings, steps,
    samples, flops and metrics are compared: bit for bit on the same platform with the same code,
    otherwise within a tolerance, which is printed. Cells whose code is not installed are skipped.

    \b
    orthobench verify STORE --share 1       all cells
    orthobench verify STORE --seed 1        another share
    orthobench verify STORE --timeout 60 --memory-limit 4GiB
                                            a store of a stranger

    The exit code is 1 if a value differs, and 2 if nothing could be checked.
    """  # noqa: D301 - click reads the backspace
    from orthobench.harness.executors import Limits
    from orthobench.registry.plugins import catalogue
    from orthobench.results.results import store_at
    from orthobench.tools.environment import cores
    from orthobench.verify.check import lines
    from orthobench.verify.check import verify as verified

    verification = verified(
        store_at(store), catalogue(), share=share, seed=seed, folders=folders,
        workers=workers or cores(), limits=Limits(timeout, memory_limit), quiet=quiet or as_json,
    )  # fmt: skip
    print_facts(verification.facts() if as_json else verification, as_json, lines)
    sys.exit(FAILED if verification.mismatches else 0 if verification.recomputed else WRONG)
