"""Paired differences of the ends of several solvers, and their intervals.

The difference of two solvers on a seed is in units of the gap from the common start to the best
value seen there. All intervals of a problem hold together: Bonferroni's correction over the
differences from the true best, whichever that is (Edwards and Hsu 1983, *JASA* 78). The solver that
ends lowest is tested without it, at `LEVEL_OF_LOWEST` (Gutmann and Maymin 1987, *Annals of
Statistics* 15).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from orthobench.stats.noninferiority import FAR, FEWEST, lower_ends, upper_ends
from orthobench.tools.arrays import Array

LEVEL = 0.05
"""Maximum share of problems with a wrong verdict."""

LEVEL_OF_LOWEST = 0.1
"""The level of each test by which the solver that ends lowest is shown to be as good."""

ROUNDING = 1e-12
"""Maximum difference of equal values, as a fraction of the largest value at a start."""


class Differences:
    """Differences on S seeds between the ends of n solvers; a failed run is far above all others.

    The arguments are as of `orthobench.decide.rule.decide`.

    Attributes
    ----------
    best : int, optional
        The solver that ends lowest, of `sound`.
    sound, few : ndarray of int
        Solvers that are compared, and those with too few seeds; those in `broken` are in neither.
    ran, failed : ndarray of bool, shape (n, S)
    counts, distinct : ndarray of int, shape (n,)
        Number of runs, and of those that are no copies.
    broken, repeats : ndarray of bool, shape (n,)
        Whether half of the runs or more failed; whether all runs are copies of one.
    start, unit, rounding : ndarray, shape (S,)
        The start, the gap, and the difference up to which values are equal.
    above_seen, above_best : ndarray, shape (n, S)
        Ends above the best value seen, and above those of `best`, in units of the gap.
    intervals : mapping
        For each sound solver the ends of its difference from whichever is truly best, and the
        distinct differences of the pair that decides.
    """

    def __init__(
        self,
        finals: Mapping[str, Sequence[float]],
        starts: Sequence[float],
        lowest: Sequence[float] | None = None,
        identity: Mapping[str, Sequence[object]] | None = None,
    ) -> None:
        self.names = list(finals)
        table = np.array([finals[n] for n in finals], dtype=np.float64).reshape(-1, len(starts))
        self.start = np.asarray(starts, dtype=np.float64)
        self.failed, self.ran = np.isposinf(table), ~np.isnan(table)
        self.counts = self.ran.sum(axis=1)
        self.broken = 2 * self.failed.sum(axis=1) >= self.counts
        self._measure(table, lowest)
        self._table = np.where(self.failed, self._far, table)
        self._fill_copies(table, identity)
        # another seed would repeat the runs of a deterministic solver
        seeds = np.where(self.repeats, FEWEST, self.counts)
        able = ~self.broken & (self.counts > 0)
        sound = able & (seeds >= min(FEWEST, seeds[able].max(initial=0)))
        self.sound, self.few = np.flatnonzero(sound), np.flatnonzero(able & ~sound)
        self._compare()

    def _measure(self, table: Array, lowest: Sequence[float] | None) -> None:
        seen = np.where(np.isfinite(table), table, np.inf).min(axis=0, initial=np.inf)
        self._seen = seen if lowest is None else np.fmin(seen, np.asarray(lowest, np.float64))
        known = np.isfinite(self._seen)
        largest = np.fmax(np.abs(self.start), np.where(known, np.abs(self._seen), 0.0))
        self.rounding = ROUNDING * largest
        with np.errstate(invalid="ignore"):
            least = np.fmax(self.rounding, np.finfo(float).tiny)
            self.unit = np.fmax(self.start - self._seen, least)
            self._far = np.where(known, self._seen + FAR * self.unit, np.nan)

    def _fill_copies(self, table: Array, identity: Mapping[str, Sequence[object]] | None) -> None:
        """Find copies of runs, and give deterministic solvers one value on all seeds."""
        self._groups = np.zeros(table.shape, dtype=np.intp)
        self.distinct = np.zeros(len(table), dtype=np.intp)
        self.repeats = np.zeros(len(table), dtype=np.bool_)
        for i, (name, ran) in enumerate(zip(self.names, self.ran, strict=True)):
            starts = zip(self.start.tolist(), table[i].tolist(), strict=True)
            own: Iterable[object] = identity[name] if identity else starts
            known: dict[object, int] = {}
            self._groups[i] = [known.setdefault(one, len(known)) for one in own]
            self.distinct[i] = len({*self._groups[i, ran].tolist()})
            self.repeats[i] = self.distinct[i] == 1 < ran.sum()
            if self.repeats[i]:
                self._table[i], self._groups[i] = self._of_first(i, self._table[i]), 0

    def _of_first(self, i: int, values: Array) -> Array:
        """Return a value of a solver on its first seed, in place of those on all seeds."""
        return np.full(values.shape, values[self.ran[i].argmax()])

    def _compare(self) -> None:
        with np.errstate(invalid="ignore"):
            self.above_seen = np.where(self.ran, (self._table - self._seen) / self.unit, np.inf)
            self.best = min(self.sound.tolist(), key=self._place, default=None)
            ends = self._seen
            if self.best is not None:
                ends = np.where(self.failed[self.best], np.nan, self._table[self.best])
            self.above_best = (self._table - ends) / self.unit
        self._reference = np.where(np.isnan(ends), self._seen, np.fmax(ends, self._seen))
        self.intervals = dict(zip(self.sound.tolist(), self._against_best(), strict=True))

    def _place(self, i: int) -> tuple[float, float, str]:
        own = np.fmax(self.above_seen[i][self.ran[i]], 0.0)
        median = float(np.median(own))
        return (median if median > ROUNDING else 0.0), float(np.fmin(own, 1).mean()), self.names[i]

    def _against_best(self) -> list[tuple[float, float, Array]]:
        m = len(self.sound)
        low, highs, deciding = np.zeros((m, m)), np.zeros(m), list[Array]()
        for row, i in enumerate(self.sound.tolist()):
            gaps, alike = self._gaps(i, self._table[i])
            low[row] = lower_ends(gaps, LEVEL / max(1, m - 1), alike)
            high = upper_ends(gaps, self.tail(i), alike)
            low[row, row], high[row] = 0.0, -1.0
            worst = int(np.argmax(high))
            highs[row] = max(0.0, float(high[worst]))
            deciding.append(gaps[worst][~np.isnan(gaps[worst])] if worst != row else np.zeros(0))
        lows, beaten = np.zeros(m), (low > 0).any(axis=1)
        if not beaten.all():
            lows[beaten] = np.maximum(0.0, low[beaten][:, ~beaten].min(axis=1))
        return list(zip(lows.tolist(), highs.tolist(), deciding, strict=True))

    def tail(self, i: int) -> float:
        """Return the level of each test that a solver has to pass."""
        return LEVEL_OF_LOWEST if i == self.best else LEVEL / max(1, len(self.sound) - 1)

    def targets(self, tolerance: float) -> Array:
        """Return the largest value that is within a tolerance of the best, shape (S,)."""
        targets: Array = self._reference + tolerance * self.unit + self.rounding
        return targets

    def typically_lower(self, j: int, i: int, tolerance: float) -> bool:
        """Return whether solver j typically ends below solver i by more than the tolerance."""
        with np.errstate(invalid="ignore"):
            gaps = (self._table[i] - self._table[j]) / self.unit
        own = gaps[~np.isnan(gaps)]
        return len(own) > 0 and float(np.median(own)) > tolerance

    def within(self, i: int, values: Array, tolerance: float) -> bool:
        """Return whether values of solver i are shown to be within a tolerance of all ends."""
        values = np.where(np.isposinf(values), self._far, values)
        values = self._of_first(i, values) if self.repeats[i] else values
        gaps, alike = self._gaps(i, values)
        return bool((upper_ends(gaps, LEVEL / max(1, len(self.sound)), alike) <= tolerance).all())

    def _gaps(self, i: int, values: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return values of a solver above the ends of each sound one, shape (m, S), without copies.

        With them comes whether all seeds repeat the same two runs, shape (m,).
        """
        one, others = self._groups[i], self._groups[self.sound]
        with np.errstate(invalid="ignore"):
            gaps = values - self._table[self.sound]
        gaps = np.where(np.abs(gaps) <= self.rounding, 0.0, gaps) / self.unit
        there = ~np.isnan(gaps)
        same = (one[:, None] == one) & (others[:, :, None] == others[:, None]) & there[:, None]
        distinct = there & ~np.tril(same, -1).any(axis=2)
        alike = (distinct.sum(axis=1) == 1) & (there.sum(axis=1) > 1)
        return np.where(distinct, gaps, np.nan), alike
