"""Options and arguments that several commands share."""

from __future__ import annotations

import re
from pathlib import Path

import click

COUNT = click.IntRange(1)
POSITIVE = click.FloatRange(0, min_open=True)
PART = click.FloatRange(0, 1, min_open=True, max_open=True)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
PATH = click.Path(path_type=Path)

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
STORE = click.argument("store", type=PATH)
SUITE_OF_STORE = click.option(
    "--suite", help="Take this suite of the store.  [default: the latest]"
)
TOLERANCE = click.option(
    "--tolerance", type=PART,
    help="Accept solvers that leave this part of the gap.  [default: the suite's]",
)  # fmt: skip
WORKERS = click.option(
    "-w", "--workers", type=COUNT, default=1, help="Use this number of processes."
)


AUTO_WORKERS = click.option(
    "-w", "--workers", type=COUNT,
    help="Use this number of worker processes.  [default: one for each physical core]",
)  # fmt: skip


def size(text: str) -> int:
    """Return the bytes of ``4GiB``, ``500 MB`` or ``100000``; units are powers of 1024."""
    units = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    count = int(float(match[1]) * units[match[2]]) if match else 0
    if count < 1:
        raise click.BadParameter(f"{text!r} is not a size; write it as 4GiB or 500MiB")
    return count


def duration(text: str) -> float:
    """Return the seconds of ``90``, ``30s``, ``2m`` or ``1h``."""
    units = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(s|m|min|h|)\s*", text.lower())
    value = float(match[1]) * units[match[2]] if match else 0.0
    if value <= 0:
        raise click.BadParameter(f"{text!r} is no time; write it as 30s, 2m or 1h")
    return value


TIMEOUT = click.option(
    "--timeout", type=POSITIVE, metavar="SECONDS",
    help="Stop a cell that takes longer.  [default: ten times the budget in seconds, minimum "
    "25; or ten times the slowest cell, minimum 60]",
)  # fmt: skip
MEMORY_LIMIT = click.option(
    "--memory-limit", type=size, metavar="SIZE",
    help="Limit the memory of a process, as 4GiB; Linux only.  [default: none]",
)  # fmt: skip


def titled(**titles: str) -> type[click.Command]:
    """Return a class of commands whose help has these titles, each above the option of its name."""

    class Titled(click.Command):
        def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            title, sections = "", dict[str, list[tuple[str, str]]]()
            options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
            for option in options:
                title = titles.get(str(option.name), title)
                if record := option.get_help_record(ctx):
                    sections.setdefault(title, []).append(record)
            for name, records in sections.items():
                with formatter.section(name):
                    formatter.write_dl(records)

    return Titled


PROBLEMS = click.option(
    "-p", "--problem", "problems", multiple=True, metavar="SPEC",
    help='Take this problem: "NAME key=value ...", or FILE.py:CLASS. Repeatable.',
)  # fmt: skip
SOLVERS = click.option(
    "-s", "--solver", "solvers", multiple=True, metavar="SPEC",
    help='Take this solver: "NAME key=value ...", FILE.py:CLASS or FILE.py:run. Repeatable.  '
    "[default: all that can, or the suite's]",
)  # fmt: skip
