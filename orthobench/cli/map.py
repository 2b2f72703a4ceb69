"""The command ``orthobench map``."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from orthobench.cli.options import FOLDER, QUIET, duration
from orthobench.cli.printing import say


@click.command()
@click.argument("parts", nargs=-1)
@click.option("--within", type=duration, default="4h", metavar="TIME",
              help="Begin no race after this time.")  # fmt: skip
@click.option("--store", type=FOLDER, default=Path("orthobench-results/map"),
              help="Keep the runs in this folder.")  # fmt: skip
@QUIET
def map(parts: tuple[str, ...], within: float, store: Path, quiet: bool) -> None:  # noqa: A001
    """Measure the map: a race on each problem of a grid.

    PARTS are families  [default: all]. Each race is stored. The same command goes on after an
    interruption, and runs races again whose code has changed.
    """
    from orthobench.racing import grid
    from orthobench.tools.formatting import plural

    some = grid.points(parts, store)
    left = grid.measure(some, within, tell=None if quiet else say)
    if left:
        say(f"{plural(left, 'race')} left: the same command goes on")
        return
    say(f"{plural(len(some), 'point')} measured; to draw the map:")
    say(f"orthobench atlas {shlex.quote(str(store))}/*/*.sqlite --out site")
