"""Scaling: how time and flops grow with a size of the problem, as the exponent of a power."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.atlas.table import AtlasRow, settings
from orthobench.harness.identity import canonical
from orthobench.report.grouping import grouped
from orthobench.stats.student import quantile
from orthobench.tools.arrays import Array

SIZES = ("d", "k", "rows")
"""The sizes of a problem, in the order in which one is looked for that a sweep varies."""

FEWEST = 3
"""The fewest values of a size that a power is fitted to."""


@dataclass(frozen=True)
class Power:
    """A power law, fitted by least squares to logarithms.

    Attributes
    ----------
    exponent : float
    interval : (float, float)
        With a confidence of 95 %, if errors of logarithms are independent and alike.
    points : int
        The runs that it is fitted to.
    """

    exponent: float
    interval: tuple[float, float]
    points: int


@dataclass(frozen=True)
class Sweep:
    """Problems of a suite that differ in one size only.

    Attributes
    ----------
    name : str
        Of the problem in the catalogue.
    size : str
        One of `SIZES`.
    values : tuple of int
        Ascending.
    rows : tuple of AtlasRow
    """

    name: str
    size: str
    values: tuple[int, ...]
    rows: tuple[AtlasRow, ...]

    def power(self, solver: str, cost: Callable[[AtlasRow], float]) -> Power | None:
        """Return how a cost of a solver grows; None where it is known at too few sizes."""
        own = [row for row in self.rows if row.solver == solver and 0 < cost(row) < math.inf]
        x = np.array([getattr(row, self.size) for row in own], dtype=float)
        return power(x, np.array([cost(row) for row in own]))


def power(x: Array, y: Array) -> Power | None:
    """Return the power law of y in x, both positive; None where x has too few values."""
    if len(set(x.tolist())) < FEWEST:
        return None
    u, v = np.log(x) - np.log(x).mean(), np.log(y) - np.log(y).mean()
    slope = float(u @ v / (u @ u))
    freedom = len(x) - 2
    error = math.sqrt(float(((v - slope * u) ** 2).sum()) / freedom / float(u @ u))
    reach = quantile(0.975, freedom) * error
    return Power(slope, (slope - reach, slope + reach), len(x))


def sweeps(rows: Sequence[AtlasRow]) -> list[Sweep]:
    """Return the sweeps among some rows."""
    known = [row for row in rows if row.d]
    groups = grouped(known, lambda row: (row.suite, row.name))
    return [sweep for (_, name), own in groups.items() for sweep in _sweeps(name, own)]


def _sweeps(name: str, rows: Sequence[AtlasRow]) -> Iterator[Sweep]:
    """Yield the sweeps over each parameter of a problem: all others are the same."""
    parameters = {row.parameters: settings(row.parameters) for row in rows}
    names = dict.fromkeys(key for values in parameters.values() for key in values)
    for varied in names:
        groups = grouped(rows, lambda row: _without(parameters[row.parameters], varied))  # noqa: B023
        for own in groups.values():
            yield from _sweep(name, own)


def _without(parameters: dict[str, Any], name: str) -> str:
    return canonical({key: value for key, value in parameters.items() if key != name})


def _sweep(name: str, rows: Sequence[AtlasRow]) -> Iterator[Sweep]:
    for size in SIZES:
        values = sorted({getattr(row, size) for row in rows} - {0})
        if len(values) >= FEWEST:
            yield Sweep(name, size, tuple(values), tuple(rows))
            return
