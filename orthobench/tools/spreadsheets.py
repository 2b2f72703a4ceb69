"""CSV files in which no text is a formula, whatever a solver or a problem is called.

Spreadsheets calculate a cell that begins with ``=``, ``+``, ``-`` or ``@``, and a formula can send
the sheet elsewhere or start a program. Such a text gets an apostrophe in front, which they take for
"this is text"; numbers stay as they are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any, BinaryIO

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a formula can begin; a spreadsheet leaves out white space before it."""


def write_csv(rows: Iterable[Iterable[Any]], file: BinaryIO, newline: str = "\r\n") -> None:
    """Write rows as CSV, in UTF-8.

    Parameters
    ----------
    rows : iterable of iterable
    file : binary file
    newline : str
        What ends a row.
    """
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    try:
        writer = csv.writer(text, lineterminator=newline)
        writer.writerows([_cell(value) for value in row] for row in rows)
    finally:
        text.detach()


def _cell(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
