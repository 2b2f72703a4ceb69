"""Regimes: what counts in a comparison of the runs of an atlas, and who is best at that."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from orthobench.atlas.table import SHARES, AtlasRow
from orthobench.report.answers import REGIMES as OF_COSTS
from orthobench.report.answers import Contest, contest
from orthobench.report.ranking import ROUNDING
from orthobench.stats.bootstrap import quantiles
from orthobench.tools.collections import grouped

REACHED = SHARES.index(1e-2)
"""The target whose costs count, as on the pages of reports."""


@dataclass(frozen=True)
class Regime:
    """What counts.

    Attributes
    ----------
    name : str
        ``"Least time"``.
    factor : str
        How a factor of it reads: ``"takes {} times as long"``.
    value : callable
        Reads it off a row; smaller is better, infinite is a failure.
    rounding : callable
        Returns the largest difference on the rows of a problem that counts as zero.
    """

    name: str
    factor: str
    value: Callable[[AtlasRow], float]
    rounding: Callable[[Iterable[AtlasRow]], float] = lambda _: 0.0


def _of_starts(rows: Iterable[AtlasRow]) -> float:
    """Return `ROUNDING` of the largest start, as the ranking of reports does."""
    starts = (abs(row.start) for row in rows)
    return ROUNDING * max((start for start in starts if math.isfinite(start)), default=0.0)


LOWEST = Regime("Lowest value", "ends {} times as high", lambda row: row.value, _of_starts)
"""The final value within the budget of the atlas."""


def cost(name: str) -> Regime:
    """Return the regime of the least cost until a hundredth of the gap is left."""
    return Regime(*OF_COSTS[name], lambda row: getattr(row, f"{name}_to")[REACHED])


def within(name: str, most: float) -> Regime:
    """Return the regime of the lowest value within a budget of one cost.

    Of a run that was still under way then, only the targets that it had reached are known: their
    share of the gap takes the place of the value.
    """

    def value(row: AtlasRow) -> float:
        gap = row.start - row.lowest
        if row.failed or not gap > 0:
            return math.inf if row.failed else row.value
        if getattr(row, name) <= most:
            return max(0.0, (row.value - row.lowest) / gap)
        spent = getattr(row, f"{name}_to")
        reached = [share for share, at in zip(SHARES, spent, strict=True) if at <= most]
        return min(reached, default=1.0)

    told = f"Lowest value within {most:g} {name}"
    return Regime(told, "leaves {} times as much", value, lambda _: SHARES[-1])


@dataclass(frozen=True)
class Compared:
    """The runs of one problem, compared in one regime.

    Attributes
    ----------
    rows : tuple of AtlasRow
    contest : Contest
    values : mapping
        The values of each solver, seed by seed; infinite where it failed or has no run.
    """

    rows: tuple[AtlasRow, ...]
    contest: Contest
    values: Mapping[str, Sequence[float]]

    @property
    def failing(self) -> set[str]:
        """The solvers that failed on some seed."""
        return {name for name, row in self.values.items() if not np.isfinite(row).all()}

    @cached_property
    def left(self) -> dict[str, float]:
        """The share of the gap from the start to the lowest value that each solver leaves.

        The median over the seeds, of the value at the end of the run; NaN where there is no gap.
        """
        found: dict[str, list[float]] = {}
        for row in self.rows:
            gap = row.start - row.lowest
            share = (row.value - row.lowest) / gap if gap > 0 else math.nan
            found.setdefault(row.solver, []).append(share)
        return {name: float(np.median(own)) for name, own in found.items()}

    @property
    def factors(self) -> dict[str, float]:
        """The factor of each solver to the first: the median over the seeds; 1 for that itself.

        NaN where values have no ratio.
        """
        ratios = {c.other: c.effect if c.ratio else math.nan for c in self.contest.comparisons}
        return dict.fromkeys(self.values, 1.0) | ratios


def compared(rows: Iterable[AtlasRow], regime: Regime) -> list[Compared]:
    """Return the problems of some rows, compared in a regime; withdrawn rows do not count."""
    groups = grouped((row for row in rows if row.tier != "withdrawn"), lambda row: row.contest)
    return [_compared(tuple(group), regime) for group in groups.values()]


def _compared(rows: tuple[AtlasRow, ...], regime: Regime) -> Compared:
    seeds = sorted({row.seed for row in rows})
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        found.setdefault(row.solver, {})[row.seed] = regime.value(row)
    values = {solver: [own.get(seed, math.nan) for seed in seeds] for solver, own in found.items()}
    decided = contest(rows[0].name, values, regime.rounding(rows), _seconds(rows))
    return Compared(rows, decided, values)


def _seconds(rows: Iterable[AtlasRow]) -> dict[str, float]:
    """Return the median time of each solver's runs; zero where one has none."""
    groups = grouped(rows, lambda row: row.solver)
    return {
        solver: float(quantiles(np.nan_to_num([row.seconds for row in own]), 0.5))
        for solver, own in groups.items()
    }
