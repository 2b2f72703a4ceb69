"""Scaling: how time and flops grow with the sizes of problems, as exponents of powers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from orthobench.atlas.answers import of_one_machine
from orthobench.atlas.table import AtlasRow, settings
from orthobench.harness.identity import canonical
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.student import quantile
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped

SIZES = ("d", "k", "rows")
"""The sizes of a problem, in the order in which one is looked for that a sweep varies."""

FEWEST = 3
"""The fewest values of a size that a power is fitted to."""

EXACT = 1e-9
"""What counts as zero in a direction of sizes."""

Cost = Callable[[AtlasRow], float]


@dataclass(frozen=True)
class Power:
    """A power law, fitted by least squares to logarithms.

    Attributes
    ----------
    exponent : float
    interval : (float, float)
        With a confidence of 95 %, if errors of logarithms are independent and alike.
    points : int
        The runs, or medians, that it is fitted to.
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
        Of the problem in the catalogue, with the level that it is compared at.
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

    def power(self, solver: str, cost: Cost) -> Power | None:
        """Return how a cost of a solver grows; None where it is known at too few sizes."""
        known = [row for row in self.rows if row.solver == solver and 0 < cost(row) < math.inf]
        own = of_one_machine(known) if known else ()
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
    return _power(slope, error, freedom, len(x))


def _power(slope: float, error: float, freedom: int, points: int) -> Power:
    reach = quantile(0.975, freedom) * error
    return Power(slope, (slope - reach, slope + reach), points)


def sweeps(rows: Sequence[AtlasRow]) -> list[Sweep]:
    """Return the sweeps among some rows."""
    known = [row for row in rows if row.d]
    groups = grouped(known, lambda row: (row.suite, row.name + row.level))
    return [sweep for (_, name), own in groups.items() for sweep in _sweeps(name, own)]


def _sweeps(name: str, rows: Sequence[AtlasRow]) -> Iterator[Sweep]:
    """Yield the sweeps over each parameter of a problem: all others are the same."""
    parameters = {row.parameters: settings(row.parameters) for row in rows}
    names = dict.fromkeys(key for values in parameters.values() for key in values)
    for varied in names:
        groups = grouped(rows, lambda row: _without(parameters[row.parameters], [varied]))  # noqa: B023
        for own in groups.values():
            yield from _sweep(name, own)


def _without(parameters: Mapping[str, Any], names: Sequence[str]) -> str:
    return canonical({key: value for key, value in parameters.items() if key not in names})


def _sweep(name: str, rows: Sequence[AtlasRow]) -> Iterator[Sweep]:
    for size in SIZES:
        values = sorted({getattr(row, size) for row in rows} - {0})
        if len(values) >= FEWEST:
            yield Sweep(name, size, tuple(values), tuple(rows))
            return


@dataclass(frozen=True)
class Design:
    """Problems whose sizes vary, for the exponents of several sizes at once.

    Problems that have all but the sizes in common are a group: each group has a constant of its
    own, and all have the same exponents.

    Attributes
    ----------
    groups : tuple of tuple of AtlasRow
        A row of each problem.
    sizes : tuple of str
        Those of `SIZES` with enough values.
    """

    groups: tuple[tuple[AtlasRow, ...], ...]
    sizes: tuple[str, ...]

    @property
    def problems(self) -> list[AtlasRow]:
        """The problems, group after group."""
        return [row for own in self.groups for row in own]

    def centred(self, value: Cost) -> Array:
        """Return the logarithm of a value of each problem, without the mean of its group."""
        logs = [np.log([value(row) for row in own]) for own in self.groups]
        return np.concatenate([one - one.mean() for one in logs])

    @property
    def columns(self) -> dict[str, Array]:
        """The sizes; those that are equal, or grow alike, as one: ``"d and k"``."""
        found: dict[str, Array] = {}
        for size in self.sizes:
            column = self.centred(lambda row: getattr(row, size))  # noqa: B023
            twin = next((name for name, one in found.items() if np.allclose(one, column)), "")
            name = f"{twin} and {size}" if twin else size
            found[name] = found.pop(twin, column)
        return found


def conditions(rows: Sequence[AtlasRow]) -> dict[tuple[str, str], str]:
    """Return for each problem what it has in common with those that differ in their sizes only.

    A whole number that grows with one of the sizes belongs to these.
    """
    found: dict[tuple[str, str], str] = {}
    problems = {row.contest: row for row in rows}
    for own in grouped(problems.values(), lambda row: (row.suite, row.name)).values():
        values = [settings(row.parameters) for row in own]
        names = dict.fromkeys(name for one in values for name in one)
        sizes = [name for name in names if _is_size([one.get(name) for one in values], own)]
        for row, one in zip(own, values, strict=True):
            found[row.contest] = json.dumps([row.suite, row.name, row.level, _without(one, sizes)])
    return found


def _is_size(values: Sequence[Any], rows: Sequence[AtlasRow]) -> bool:
    """Return whether a parameter is a whole number that grows with a size."""
    if not all(type(value) is int for value in values):
        return False
    for size in SIZES:
        pairs = sorted({(getattr(row, size), v) for row, v in zip(rows, values, strict=True)})
        if all(a < b and x < y for (a, x), (b, y) in pairwise(pairs)):
            return True
    return False


def design(rows: Sequence[AtlasRow], alike: Mapping[tuple[str, str], str]) -> Design | None:
    """Return the design that some problems make; None where no size has enough values.

    Parameters
    ----------
    rows : sequence of AtlasRow
        One of each problem.
    alike : mapping
        Their `conditions`.
    """
    sizes = tuple(size for size in SIZES if all(getattr(row, size) for row in rows))
    while sizes:
        groups = _groups(rows, alike, [size for size in SIZES if size not in sizes])
        enough = tuple(size for size in sizes if _values(groups, size) >= FEWEST)
        if enough == sizes:
            return Design(groups, sizes)
        sizes = enough
    return None


def _groups(
    rows: Sequence[AtlasRow], alike: Mapping[tuple[str, str], str], fixed: Sequence[str]
) -> tuple[tuple[AtlasRow, ...], ...]:
    """Return the problems of each condition with the same fixed sizes; none that is alone."""
    groups = grouped(rows, lambda row: (alike[row.contest], *(getattr(row, s) for s in fixed)))
    return tuple(tuple(own) for own in groups.values() if len(own) > 1)


def _values(groups: Sequence[Sequence[AtlasRow]], size: str) -> int:
    """Return how many values a size has in the groups in which it varies."""
    values = [{getattr(row, size) for row in own} for own in groups]
    return len(set().union(*(own for own in values if len(own) > 1)))


@dataclass(frozen=True)
class Fit:
    """A cost as a product of powers of sizes.

    Attributes
    ----------
    powers : mapping
        The power of each size, and of those that grow alike as one; None where the problems do
        not identify it.
    problems : int
    factor : float
        By which factor a problem is off, typically.
    """

    powers: Mapping[str, Power | None]
    problems: int
    factor: float


def fit(rows: Sequence[AtlasRow], cost: Cost, alike: Mapping[tuple[str, str], str]) -> Fit | None:
    """Return how a cost of one solver grows with the sizes of all problems that it was run on.

    The medians over the seeds are fitted, of problems where half of the runs have that cost.

    Parameters
    ----------
    rows : sequence of AtlasRow
    cost : callable
    alike : mapping
        The `conditions` of the problems.

    Returns
    -------
    Fit, optional
        None where the problems are too few.
    """
    costs = medians(rows, cost)
    known = {row.contest: row for row in rows if row.contest in costs}
    found = design([*known.values()], alike) if known else None
    if found is None:
        return None
    y = found.centred(lambda row: costs[row.contest])
    return _fit(found.columns, y, len(found.groups))


def medians(rows: Sequence[AtlasRow], cost: Cost) -> dict[tuple[str, str], float]:
    """Return the median of a cost of one solver on each problem where half of the runs have it."""
    groups = grouped(of_one_machine(rows) if rows else (), lambda row: row.contest)
    found = {
        contest: float(quantiles([cost(row) for row in own], 0.5))
        for contest, own in groups.items()
    }
    return {contest: median for contest, median in found.items() if 0 < median < math.inf}


def _fit(columns: Mapping[str, Array], y: Array, constants: int) -> Fit | None:
    """Return the least-squares fit; columns and y are without the means of groups."""
    x = np.stack([*columns.values()], axis=1)
    _, lengths, directions = np.linalg.svd(x)
    rank = int((lengths > EXACT * lengths[0]).sum())
    freedom = len(y) - constants - rank
    if freedom < 1:
        return None
    inverse = np.linalg.pinv(x, rcond=EXACT)
    slopes = inverse @ y
    variance = float(((y - x @ slopes) ** 2).sum()) / freedom
    errors = np.sqrt(variance * (inverse**2).sum(axis=1))
    hidden = np.abs(directions[rank:]).max(axis=0, initial=0.0) > math.sqrt(EXACT)
    powers = [
        _power(float(s), float(e), freedom, len(y)) for s, e in zip(slopes, errors, strict=True)
    ]
    known = [None if one else power for one, power in zip(hidden, powers, strict=True)]
    return Fit(dict(zip(columns, known, strict=True)), len(y), math.exp(math.sqrt(variance)))
