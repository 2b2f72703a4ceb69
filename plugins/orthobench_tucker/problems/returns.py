"""Reads daily returns of Kenneth French's data library."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.data.data_files import csv_text

from orthobench.contract import Array, DataError

MISSING = (-99.99, -999.0)
"""Numbers that stand for missing returns."""

DAY = "as 20130102 or 2013-01-02"
"""How messages describe a day."""

HOLIDAYS = timedelta(days=10)
"""Maximum time without trading at either end of a period."""


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
        Returns in percent; NaN if missing.
    """

    days: NDArray[np.datetime64]
    names: tuple[str, ...]
    values: Array

    def between(self, first: date, last: date) -> Array:
        """Return the returns from one day to another, both included, shape (days, n).

        Raises
        ------
        DataError
            If the file does not span the period, or a return in it is missing.
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

    Text before the table is skipped; the line before the first day names the assets; an empty line
    ends it. The first field of a line is its day, ``20130102`` or ``2013-01-02``; the others are
    returns in percent, -99.99 or -999 if missing.

    Raises
    ------
    DataError
        Names the line and its error.
    """
    header: list[str] = []
    days: list[date] = []
    values: list[list[float]] = []
    with csv_text(path) as stream:
        lines = csv.reader(stream)
        for line in lines:
            at, row = f"{path}, line {lines.line_num}", [field.strip() for field in line]
            if not any(row):
                if days:
                    break
            elif (day := _day(row[0])) is not None:
                if days and day <= days[-1]:
                    raise DataError(f"{at}: day {row[0]} is not after that of the line before")
                days.append(day)
                values.append(_returns_in(row, header, at))
            elif days:
                raise DataError(f"{at} begins with {row[0]!r}, not with a day: {DAY}")
            else:
                header = row
    if not days:
        raise DataError(f"{path} has no line that begins with a day ({DAY}): is it daily?")
    return Returns(np.array(days, dtype="datetime64[D]"), tuple(header[1:]), np.array(values))


def _day(field: str) -> date | None:
    try:
        return date.fromisoformat(field) if len(field) >= 8 else None
    except ValueError:
        return None


def _returns_in(row: list[str], header: list[str], at: str) -> list[float]:
    if len(header) < 2:
        raise DataError(f"{at} is the first day: the line before it must name the assets")
    if len(row) != len(header):
        raise DataError(f"{at} has {len(row)} fields, the line with the names {len(header)}")
    values = []
    for name, field in zip(header[1:], row[1:], strict=True):
        try:
            value = float(field)
        except ValueError:
            value = math.nan
        if value in MISSING:
            value = math.nan
        elif not -100 <= value < math.inf:
            raise DataError(f"{at}: {field!r} is not a return in percent ({name!r})")
        values.append(value)
    return values
