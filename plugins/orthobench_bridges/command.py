"""The command ``orthobench import``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from orthobench.cli.options import PATH
from orthobench.cli.printing import say
from orthobench.tools.formatting import plural
from orthobench_bridges.read import import_results


@click.command("import")
@click.argument("tables", nargs=-1, required=True, type=PATH)
@click.option(
    "--store", type=PATH, required=True, help="Add to this store; create it if necessary."
)
@click.option("--suite", default="imported", help="Call the results this in the store.")
def import_(tables: tuple[Path, ...], store: Path, suite: str) -> None:
    """Read results of other harnesses into a store.

    TABLES are long tables (.csv, .tsv, .parquet) with the columns problem, solver, seed, cost,
    value and optionally start and unit; Parquet files of benchopt; folders or archives of COCO or
    IOHprofiler. Smaller values are better.
    """
    count = import_results(tables, store, suite, shlex.join(sys.argv))
    say(f"{plural(count, 'run')} imported into {store}")
    say(f"next: orthobench show {shlex.quote(str(store))} says which solver to use")
