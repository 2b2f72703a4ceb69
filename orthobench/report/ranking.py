"""Who did best on each problem, who may be as good as the best, and who failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.harness.trace import Mark
from orthobench.results.traces import read
from orthobench.results.tuning import Entry
from orthobench.stats.paired import differences
from orthobench.stats.seeds import Summary, final, intervals, metric_of, quantiles, summaries

ROUNDING = 1e-12
"""Values that differ by less than this part of where the runs started are equal."""


@dataclass(frozen=True)
class Ranked:
    """An entry with its summary and its place.

    Attributes
    ----------
    entry : Entry
    summary : Summary
        Of the primary metric.
    best : bool
        Whether its median is the smallest among those of which no run failed, of equal ones the
        fastest.
    close : bool
        Whether the 95 % interval of its median difference from the best, seed by seed, contains
        zero; differences by rounding are zero.
    """

    entry: Entry
    summary: Summary
    best: bool
    close: bool

    @property
    def mark(self) -> str:
        """What it is marked as: best, failed, close, or nothing."""
        if self.best:
            return "best"
        return "failed" if self.summary.n_failed else "close" if self.close else ""

    @property
    def ok(self) -> str:
        """Runs that did not fail, of those planned."""
        return f"{self.summary.n_ok}/{len(self.entry.seeds)}"

    def typical(self, value: Callable[[Mark], float]) -> float:
        """Return the median of a value over the runs that did not fail; NaN without any."""
        values = [final(record, value) for record in self.entry.records]
        finite = [v for v in values if math.isfinite(v)]
        return float(quantiles(finite, 0.5)) if finite else math.nan

    @property
    def metrics(self) -> dict[str, float]:
        """The medians of all metrics, by name."""
        marks = [r.trace[-1] for r in self.entry.records if r.trace and not r.failed]
        names = dict.fromkeys(name for mark in marks for name in mark.metrics)
        return {name: self.typical(metric_of(name)) for name in names}


def rank(entries: Sequence[Entry]) -> list[Ranked]:
    """Summarize and sort: problems in their order, solvers by median, failures last.

    Of those whose medians equal the smallest but for rounding, the one that took the least time
    is first.
    """
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.problem, []).append(entry)
    return [ranked for group in groups.values() for ranked in _rank(group)]


def _rank(entries: Sequence[Entry]) -> list[Ranked]:
    """Summarize and sort the entries of one problem."""
    seeds = {seed for entry in entries for seed in entry.seeds}
    metric = entries[0].facts.primary
    found = summaries([entry.records for entry in entries], metric, seeds)
    smallest = rounding(entries)
    least = min((s.median for s in found if not s.n_failed), default=math.inf)

    def place(pair: tuple[Entry, Summary]) -> tuple[float, int, float, str]:
        entry, summary = pair
        equal = abs(summary.median - least) <= smallest
        median, seconds = (least, _seconds(entry)) if equal else (summary.median, 0.0)
        return median, summary.n_failed, seconds, entry.solver

    pairs = sorted(zip(entries, found, strict=True), key=place)
    best = next((s for _, s in pairs if not s.n_failed), None)
    close = _close(best, [s for _, s in pairs], smallest)
    return [Ranked(e, s, s is best, near) for (e, s), near in zip(pairs, close, strict=True)]


def rounding(entries: Sequence[Entry]) -> float:
    """Return the largest difference that is none: `ROUNDING` of the largest start.

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem.
    """
    primary = metric_of(entries[0].facts.primary)
    traces = [record.trace for entry in entries for record in entry.records if record.trace]
    starts = [abs(float(read(trace, primary)[0])) for trace in traces]
    return ROUNDING * max((value for value in starts if math.isfinite(value)), default=0.0)


def _seconds(entry: Entry) -> float:
    """Return the median time of the runs that did not fail, clock and reading."""
    times = [final(record, lambda mark: mark.seconds + mark.reading) for record in entry.records]
    finite = [seconds for seconds in times if math.isfinite(seconds)]
    return float(quantiles(finite, 0.5)) if finite else math.inf


def _close(best: Summary | None, found: Sequence[Summary], smallest: float) -> list[bool]:
    """Return of which solvers the median difference from the best may be zero."""
    if best is None:
        return [False] * len(found)
    others = np.array([summary.values for summary in found])
    low, high = intervals(differences(best.values, others, smallest))
    return [
        bool(near) and summary is not best
        for near, summary in zip((low <= 0) & (high >= 0), found, strict=True)
    ]
