"""Reads daily returns as Kenneth French's data library publishes them."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.data.data_files import csv_text

from orthobench.contract import Array, DataError

MISSING = (-99.99, -999.0)
"""Numbers that stand for missing returns."""

DAY = "as 20130102 or 2013-01-02"
"""How messages describe a day."""

HOLIDAYS = timedelta(days=10)
"""Longest time without trading at either end of a period."""

Line: TypeAlias = tuple[int, list[str]]
"""The number of a line, and its fields."""


@dataclass(frozen=True, eq=False)
class Returns:
    """Daily returns of assets.

    Attributes
    ----------
    days : ndarray of datetime64[D], shape (p,)
        Increasing.
    names : tuple of str
        The n assets.
    values : ndarray, shape (p, n)
        Returns in percent; NaN where missing.
    """

    days: NDArray[np.datetime64]
    names: tuple[str, ...]
    values: Array

    def between(self, first: date, last: date) -> Array:
        """Return the returns from one day to another, both included, shape (days, n).

        Raises
        ------
        DataError
            Where the file does not span the period, or a return in it is missing.
        """
        begin, end = self.days[0].astype(date), self.days[-1].astype(date)
        if begin > first + HOLIDAYS or end < last - HOLIDAYS:
            raise DataError(
                f"there are no returns from {first} to {last}, only from {begin} to {end}"
            )
        inside = (self.days >= np.datetime64(first)) & (self.days <= np.datetime64(last))
        values: Array = self.values[inside]
        if len(values) < 2:
            raise DataError(f"from {first} to {last} there are {len(values)} days of returns")
        if np.isnan(values).any():
            day, asset = np.argwhere(np.isnan(values))[0]
            raise DataError(
                f"the return of {self.names[asset]!r} on {self.days[inside][day]} is missing; "
                "choose another period"
            )
        return values


def read_returns(path: Path) -> Returns:
    """Return the first table of daily returns in a CSV file of Kenneth French's data library.

    The first table is that of value-weighted portfolios; one of equally weighted portfolios may
    follow after an empty line, and is not read. Text before the table is skipped. The line before
    the first day names the assets. The first field of a line is its day, ``20130102`` or
    ``2013-01-02``; the others are returns in percent, -99.99 or -999 where missing.

    Parameters
    ----------
    path : Path

    Raises
    ------
    DataError
        Names the line, and what is wrong with it.
    """
    with csv_text(path) as stream:
        header, rows = _table(path, _lines(stream))
    values = np.array([_numbers(path, line, header) for line in rows])
    days = np.array([_day(row[0]) for _, row in rows], dtype="datetime64[D]")
    late = np.flatnonzero(np.diff(days) <= np.timedelta64(0, "D"))
    if len(late):
        at, row = rows[int(late[0]) + 1]
        raise DataError(f"{path}, line {at}: day {row[0]} is not after that of the line before")
    return Returns(days, tuple(header[1:]), values)


def _lines(stream: Iterator[str]) -> Iterator[Line]:
    """Yield the numbers of lines, from 1, and their fields, stripped of spaces."""
    reader = csv.reader(stream)
    for row in reader:
        yield reader.line_num, [field.strip() for field in row]


def _table(path: Path, lines: Iterator[Line]) -> tuple[list[str], list[Line]]:
    """Return the header and the lines of the first table, which an empty line ends."""
    header: list[str] = []
    rows: list[Line] = []
    for at, row in lines:
        if not any(row):
            if rows:
                break
        elif _day(row[0]) is not None:
            _check_length(path, at, row, header)
            rows.append((at, row))
        elif rows:
            raise DataError(f"{path}, line {at} begins with {row[0]!r}, not with a day: {DAY}")
        else:
            header = row
    if not rows:
        raise DataError(f"{path} has no line that begins with a day ({DAY}): is it daily?")
    return header, rows


def _day(field: str) -> date | None:
    if len(field) < 8:
        return None
    try:
        return date.fromisoformat(field)
    except ValueError:
        return None


def _check_length(path: Path, at: int, row: list[str], header: list[str]) -> None:
    if len(header) < 2:
        raise DataError(f"{path}: the line before line {at}, the first day, must name the assets")
    if len(row) != len(header):
        raise DataError(
            f"{path}, line {at} has {len(row)} fields, the line with the names {len(header)}"
        )


def _numbers(path: Path, line: Line, header: list[str]) -> list[float]:
    """Return the returns of a line, NaN where missing."""
    at, row = line
    values = []
    for name, field in zip(header[1:], row[1:], strict=True):
        value = _number(field)
        if value is None:
            raise DataError(f"{path}, line {at}: {field!r} is not a return in percent ({name!r})")
        values.append(value)
    return values


def _number(field: str) -> float | None:
    """Return a return in percent, NaN for a missing one; None where the field is neither."""
    try:
        value = float(field)
    except ValueError:
        return None
    if value in MISSING:
        return math.nan
    return value if -100 <= value < math.inf else None
