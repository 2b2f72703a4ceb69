"""The command ``orthobench export``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from orthobench.cli.options import PATH, STORE, SUITE_OF_STORE


@click.command()
@STORE
@click.option("-o", "--out", type=PATH, help="Write this .csv file.  [default: standard output]")
@SUITE_OF_STORE
def export(store: Path, out: Path | None, suite: str | None) -> None:
    """Write a table of all checkpoints of all runs in STORE, as CSV."""
    from orthobench.results.results import Results, to_csv, write

    results = Results.read(store, suite)
    if out is None:
        to_csv(results, sys.stdout.buffer)
    else:
        write(results, out)
