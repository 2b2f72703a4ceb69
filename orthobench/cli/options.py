"""Options and arguments that several commands share, and the completion of names in shells."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import click
from click.shell_completion import CompletionItem

COUNT = click.IntRange(1)
POSITIVE = click.FloatRange(0, min_open=True)
PART = click.FloatRange(0, 1, min_open=True, max_open=True)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
PATH = click.Path(path_type=Path)

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress display.")
STORE = click.argument("store", type=PATH)
SUITE_OF_STORE = click.option("--suite", help="A suite in the store.  [default: the latest]")
TOLERANCE = click.option(
    "--tolerance", type=PART,
    help="The part of the gap that a good enough solver may leave, instead of the suite's.",
)  # fmt: skip
WORKERS = click.option("-w", "--workers", type=COUNT, default=1, help="Number of processes.")


class _Workers(click.IntRange):
    """A number of worker processes, or ``auto``."""

    name = "integer|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == "auto" else super().convert(value, param, ctx)


AUTO_WORKERS = click.option(
    "-w", "--workers", type=_Workers(1), default="auto",
    help="Number of worker processes; auto takes one for each physical core.",
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
    help="Cut a cell that takes longer; it runs again under a longer limit."
    "  [default: ten times --seconds, at least 25, or the slowest cell, at least 60]",
)  # fmt: skip
MEMORY_LIMIT = click.option(
    "--memory-limit", type=size, metavar="SIZE",
    help="The most memory of a process: 4GiB. Linux only.",
)  # fmt: skip


class Installed(click.types.StringParamType):
    """A text that begins with the name of something installed; completed, not checked.

    Parameters
    ----------
    kinds : str
        What is completed: ``"suites"``, ``"solvers"``, ``"problems"``, ``"families"`` of problems,
        with hyphens for spaces. After a name, its parameters are.
    """

    name = "text"

    def __init__(self, *kinds: Literal["suites", "solvers", "problems", "families"]) -> None:
        self.kinds = kinds

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names, or the parameters of a name, that begin with what is typed."""
        del ctx, param
        words = self._words(incomplete.rpartition(" ")[0])
        return [CompletionItem(word) for word in words if word.startswith(incomplete)]

    def _words(self, typed: str) -> list[str]:
        from orthobench.contract.parameters import parameters_of
        from orthobench.registry.plugins import catalogue

        registry = catalogue()
        items = {
            name: provided.item
            for kind in self.kinds
            for name, provided in getattr(registry, kind, {}).items()
        }
        if not typed:
            families = {p.item.family.replace(" ", "-") for p in registry.problems.values()}
            return sorted({*items, *(families if "families" in self.kinds else ())})
        item = items.get(typed.split()[0])
        declared = parameters_of(item) if isinstance(item, type) else ()
        return [f"{typed} {parameter.name}=" for parameter in declared]


PROBLEMS = click.option(
    "-p", "--problem", "problems", multiple=True, type=Installed("problems"), metavar="SPEC",
    help='A problem: "NAME key=value ...", or FILE.py:CLASS. Repeatable.',
)  # fmt: skip
SOLVERS = click.option(
    "-s", "--solver", "solvers", multiple=True, type=Installed("solvers"), metavar="SPEC",
    help='A solver, instead of all that can or the suite\'s: "NAME key=value ...", or '
    "FILE.py:CLASS. Repeatable.",
)  # fmt: skip
