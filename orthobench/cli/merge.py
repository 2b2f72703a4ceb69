"""The command ``orthobench merge``."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from orthobench.cli.options import PATH, STORE
from orthobench.cli.printing import say


@click.command()
@STORE
@click.argument("others", nargs=-1, required=True, type=PATH)
@click.option(
    "--drop-unreadable", is_flag=True, help="Skip rows that cannot be read, and print them."
)
def merge(store: Path, others: tuple[Path, ...], drop_unreadable: bool) -> None:
    """Add the cells of other stores to STORE.

    Each is a store, or the folder with its results.sqlite. Cells that STORE has already stay. STORE
    is created if it does not exist. With --drop-unreadable, `orthobench merge NEW OLD` saves the
    readable rows of a damaged store.
    """
    from orthobench.results import schema
    from orthobench.results.results import store_at
    from orthobench.results.store import Store
    from orthobench.tools.formatting import clean

    store, others = store_at(store), tuple(map(store_at, others))
    for other in others:
        schema.recognise(other)  # before STORE is made
    with Store(store, write=True) as opened:
        for other in others:
            dropped: list[str] | None = [] if drop_unreadable else None
            say(f"{opened.merge(other, dropped)} cells of {other} added to {store}")
            for row in dropped or ():
                say(f"left out: {clean(row)}")
    say(f"next: orthobench report {shlex.quote(str(store))} writes the page")
