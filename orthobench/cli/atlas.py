"""The command ``orthobench atlas``."""

from __future__ import annotations

from pathlib import Path

import click

from orthobench.cli.options import FOLDER, PATH, QUIET
from orthobench.cli.printing import say, status_line


@click.command()
@click.argument("stores", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", required=True, type=FOLDER,
              help="Write the site to this folder, which may have no other site.")  # fmt: skip
@QUIET
def atlas(stores: tuple[Path, ...], out: Path, quiet: bool) -> None:
    """Write the site "Which method should I use?" from STORES.

    The site names solvers for each family, with the evidence, in files that need no network.
    Results of one suite may be in several stores. `orthobench advise` reads OUT/atlas.parquet,
    which has a row for each run.
    """
    from orthobench.atlas.site import build

    with status_line(quiet) as tell:
        tell("reading the stores, and building each problem once")
        page = build(stores, out)
    say(page)
    say("next: open it in a browser; orthobench advise --atlas asks its atlas.parquet")
