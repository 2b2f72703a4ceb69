"""The command ``orthobench atlas``."""

from __future__ import annotations

from pathlib import Path

import click

from orthobench.cli.options import QUIET
from orthobench.cli.printing import say, status_line


@click.command()
@click.argument("stores", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the site: new, empty, or with a site that is replaced.",
)
@click.option("--reports/--no-reports", default=True, help="Whether to add a report on each suite.")
@QUIET
def atlas(stores: tuple[Path, ...], out: Path, reports: bool, quiet: bool) -> None:
    """Write the site "Which method should I use?" from STORES.

    It answers for each family and situation, with the evidence and the problems on which the answer
    loses, in static files that need no network. Results of one suite may be in several stores:
    solvers are compared with each other there. OUT/atlas.parquet has a row for each
    run, and is what `orthobench advise` reads.
    """
    from orthobench.atlas.building import build

    with status_line(quiet) as tell:
        tell("reading the stores, and building each problem once")
        page = build(stores, out, reports)
    say(page)
