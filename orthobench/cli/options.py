"""Options and arguments that several commands share."""

from __future__ import annotations

import re
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


def size(text: str) -> int:
    """Return the bytes of ``4GiB``, ``500 MB`` or ``100000``; units are powers of 1024."""
    units = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    count = int(float(found[1]) * units[found[2]]) if found else 0
    if count < 1:
        raise click.BadParameter(f"{text!r} is not a size; write it as 4GiB or 500MiB")
    return count


TIMEOUT = click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Kill a cell that takes longer in total, and record it as failed.",
)
MEMORY_LIMIT = click.option(
    "--memory-limit",
    type=size,
    metavar="SIZE",
    help="The most memory of a process, such as 4GiB; a cell that needs more fails. Linux only.",
)
