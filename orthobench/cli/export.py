"""The command ``orthobench export``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from orthobench.cli.options import PATH, STORE, SUITE_OF_STORE


@click.command()
@STORE
@click.option("-o", "--out", type=PATH, help="Write this .csv, .jsonl or .parquet file; of ioh "
              "a folder.  [default: CSV to standard output]")  # fmt: skip
@click.option("--format", "other", type=click.Choice(("ioh", "benchopt")),
              help="Write for IOHanalyzer and iohinspector, or for benchopt.")  # fmt: skip
@SUITE_OF_STORE
def export(store: Path, out: Path | None, other: str | None, suite: str | None) -> None:
    """Write a table of all checkpoints of all runs in STORE.

    With --format, write only the runs with the hyperparameters that tuning chose.
    """
    from orthobench.results.export import FORMATS, to_csv, write
    from orthobench.results.results import Results

    if other and out is None:
        raise click.UsageError(f"--format {other} writes files; name them with --out")
    results = Results.read(store, suite)
    if out is None:
        to_csv(results, sys.stdout.buffer)
    else:
        (FORMATS[other] if other else write)(results, out)
