"""The line numbers of tables and keys in a TOML file, which its parser does not keep."""

from __future__ import annotations

import re
from collections import Counter
from typing import TypeAlias

_TABLE = re.compile(r"^\s*\[\s*([\w.\-]+)\s*\]")
_ARRAY = re.compile(r"^\s*\[\[\s*([\w.\-]+)\s*\]\]")
_KEY = re.compile(r"""^\s*["']?([\w\-]+)["']?\s*(?:\.[\w\-.\s]+)?=""")

KeyPath: TypeAlias = tuple[str | int, ...]
"""The path of a table or key: ``("solver", 0, "step")``."""


def line_numbers(text: str) -> dict[KeyPath, int]:
    """Return the number of the line, from 1, of each table and key.

    Parameters
    ----------
    text : str
        A TOML document.

    Returns
    -------
    dict
        Numbers by path: ``("solver", 0, "step")`` is the key ``step`` of the first ``[[solver]]``.
    """
    numbers: dict[KeyPath, int] = {}
    counts: Counter[str] = Counter()
    table: KeyPath = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _ARRAY.match(line):
            name = match[1]
            table = (name, counts[name])
            counts[name] += 1
            numbers.setdefault((name,), number)
            numbers[table] = number
        elif match := _TABLE.match(line):
            table = tuple(match[1].split("."))
            numbers[table] = number
        elif match := _KEY.match(line):
            numbers.setdefault((*table, match[1]), number)
    return numbers


def line_of(path: KeyPath, numbers: dict[KeyPath, int]) -> int | None:
    """Return the number of a path's line, or else of the innermost table around it."""
    for length in range(len(path), 0, -1):
        if path[:length] in numbers:
            return numbers[path[:length]]
    return None
