"""Where a key of a TOML file stands, for error messages: the parser itself forgets the lines."""

from __future__ import annotations

import re
from collections import Counter

_TABLE = re.compile(r"^\s*\[\s*([\w.\-]+)\s*\]")
_ARRAY = re.compile(r"^\s*\[\[\s*([\w.\-]+)\s*\]\]")
_KEY = re.compile(r"""^\s*["']?([\w\-]+)["']?\s*(?:\.[\w\-.\s]+)?=""")

Path = tuple[str | int, ...]


def lines(text: str) -> dict[Path, int]:
    """Return the line, counted from 1, of each table and key.

    Parameters
    ----------
    text : str
        A TOML document.

    Returns
    -------
    dict
        Paths such as ``("solver", 0, "step")`` to lines: the first ``[[solver]]``'s key ``step``.
    """
    found: dict[Path, int] = {}
    counts: Counter[str] = Counter()
    table: Path = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _ARRAY.match(line):
            name = match[1]
            table = (name, counts[name])
            counts[name] += 1
            found.setdefault((name,), number)
            found[table] = number
        elif match := _TABLE.match(line):
            table = tuple(match[1].split("."))
            found[table] = number
        elif match := _KEY.match(line):
            found.setdefault((*table, match[1]), number)
    return found


def nearest(found: dict[Path, int], path: Path) -> int | None:
    """Return the line of `path`, or of the nearest thing that encloses it."""
    for length in range(len(path), 0, -1):
        if path[:length] in found:
            return found[path[:length]]
    return None
