"""The command ``orthobench atlas``."""

from __future__ import annotations

from pathlib import Path

import click

from orthobench.cli.options import FOLDER, PATH, QUIET
from orthobench.cli.printing import say, status_line


@click.command()
@click.argument("stores", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", required=True, type=FOLDER,
              help="Folder of the site, new or empty, or a site to replace.")  # fmt: skip
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
    say("next: open it in a browser; orthobench advise --atlas asks its atlas.parquet")
