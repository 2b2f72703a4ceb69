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
@QUIET
def atlas(stores: tuple[Path, ...], out: Path, quiet: bool) -> None:
    """Write the site "Which method should I use?" from STORES.

    It says for each family what to use, with the evidence, in static files that need no network.
    Results of one suite may be in several stores: solvers are compared with each other there.
    OUT/atlas.parquet has a row for each run, and is what `orthobench advise` reads.
    """
    from orthobench.atlas.site import build

    with status_line(quiet) as tell:
        tell("reading the stores, and building each problem once")
        page = build(stores, out)
    say(page)
