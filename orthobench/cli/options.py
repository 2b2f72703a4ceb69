"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress display.")
STORE = click.argument("store", type=click.Path(path_type=Path))
SUITE_OF_STORE = click.option("--suite", help="A suite in the store.  [default: the latest]")
WORKERS = click.option(
    "-w",
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Number of worker processes.",
)


class _Workers(click.IntRange):
    """A number of worker processes, or ``auto``."""

    name = "integer|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == "auto" else super().convert(value, param, ctx)


AUTO_WORKERS = click.option(
    "-w",
    "--workers",
    type=_Workers(1),
    default="auto",
    show_default=True,
    help="Number of worker processes; auto takes one for each physical core.",
)
