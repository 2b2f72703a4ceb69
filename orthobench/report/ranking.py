"""Ranking of the solvers on each problem: which is best, which may be as good, which failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.harness.trace import Mark
from orthobench.report.grouping import grouped
from orthobench.results.tuning import Entry
from orthobench.stats.bootstrap import intervals, quantiles
from orthobench.stats.paired import differences
from orthobench.stats.summaries import Summary, summaries
from orthobench.stats.values import COSTS, final, metric_of

ROUNDING = 1e-12
"""Values are equal that differ by less than this fraction of the largest value at a start."""


@dataclass(frozen=True)
class Ranked:
    """An entry with its summary and its place.

    Attributes
    ----------
    entry : Entry
    summary : Summary
        Of the primary metric.
    best : bool
        Whether its median is the smallest of the solvers without a failed run; of equal ones, the
        fastest is best.
    close : bool
        Whether the 95 % interval of its median difference from the best, seed by seed, contains
        zero; differences at rounding level are zero.
    """

    entry: Entry
    summary: Summary
    best: bool
    close: bool

    @property
    def mark(self) -> str:
        """Its mark in tables: ``"best"``, ``"failed"``, ``"close"`` or nothing."""
        if self.best:
            return "best"
        return "failed" if self.summary.n_failed else "close" if self.close else ""

    @property
    def ok(self) -> str:
        """The number of runs that did not fail, of those planned: ``9/10``."""
        return f"{self.summary.n_ok}/{len(self.entry.seeds)}"

    @property
    def metrics(self) -> dict[str, float]:
        """The medians of all metrics, by name."""
        marks = [r.trace[-1] for r in self.entry.records if r.trace and not r.failed]
        names = dict.fromkeys(name for mark in marks for name in mark.metrics)
        return {name: self.median_of(metric_of(name)) for name in names}

    def median_of(self, value: Callable[[Mark], float]) -> float:
        """Return the median of a final value over the runs that did not fail; NaN without any."""
        return _median_final(self.entry, value)


def rank(entries: Sequence[Entry]) -> list[Ranked]:
    """Summarize entries and sort them: problems in their order, solvers by median, failures last.

    Of the solvers whose medians equal the smallest one up to rounding, the fastest comes first.
    """
    groups = grouped(entries, lambda entry: entry.problem)
    return [ranked for group in groups.values() for ranked in _rank(group)]


def _rank(entries: Sequence[Entry]) -> list[Ranked]:
    """Summarize and sort the entries of one problem."""
    seeds = {seed for entry in entries for seed in entry.seeds}
    metric = entries[0].facts.primary
    found = summaries([entry.records for entry in entries], metric, seeds)
    rounding = rounding_level(entries)
    least = min((s.median for s in found if not s.n_failed), default=math.inf)

    def place(pair: tuple[Entry, Summary]) -> tuple[float, int, float, str]:
        entry, summary = pair
        equal = abs(summary.median - least) <= rounding
        median, seconds = (least, _seconds(entry)) if equal else (summary.median, 0.0)
        return median, summary.n_failed, seconds, entry.solver

    pairs = sorted(zip(entries, found, strict=True), key=place)
    best = next((s for _, s in pairs if not s.n_failed), None)
    close = _close(best, [s for _, s in pairs], rounding)
    return [Ranked(e, s, s is best, near) for (e, s), near in zip(pairs, close, strict=True)]


def rounding_level(entries: Sequence[Entry]) -> float:
    """Return the largest difference that counts as zero: `ROUNDING` of the largest start.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of one problem.
    """
    starts = (abs(record.start) for entry in entries for record in entry.records)
    return ROUNDING * max((value for value in starts if math.isfinite(value)), default=0.0)


def _seconds(entry: Entry) -> float:
    """Return the median time of the runs that did not fail; infinite without any."""
    seconds = _median_final(entry, COSTS["seconds"])
    return math.inf if math.isnan(seconds) else seconds


def _median_final(entry: Entry, value: Callable[[Mark], float]) -> float:
    values = [final(record, value) for record in entry.records]
    finite = [v for v in values if math.isfinite(v)]
    return float(quantiles(finite, 0.5)) if finite else math.nan


def _close(best: Summary | None, found: Sequence[Summary], rounding: float) -> list[bool]:
    """Return for each solver whether its median difference from the best may be zero."""
    if best is None:
        return [False] * len(found)
    others = np.array([summary.values for summary in found])
    low, high = intervals(differences(best.values, others, rounding))
    return [
        bool(near) and summary is not best
        for near, summary in zip((low <= 0) & (high >= 0), found, strict=True)
    ]
