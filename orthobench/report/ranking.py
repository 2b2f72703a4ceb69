"""Who did best on each problem, who cannot be told from the best, and who failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orthobench.stats.seeds import Summary, final, metric_of, paired_interval, quantiles, summarize
from orthobench.trace import Mark
from orthobench.tuning import Entry

ROUNDING = 1e-12
"""Medians that differ by less than this part of where the runs started are equal."""


@dataclass(frozen=True)
class Ranked:
    """An entry with its summary and its place."""

    entry: Entry
    summary: Summary
    best: bool
    close: bool

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
        marks = [r.trace[-1] for r in self.entry.records if r.trace and not r.status.failed]
        names = dict.fromkeys(name for mark in marks for name in mark.metrics)
        return {name: self.typical(metric_of(name)) for name in names}


def rank(entries: Sequence[Entry]) -> list[Ranked]:
    """Summarize and sort: problems in their order, solvers by median, failures last.

    Of those whose medians equal the smallest but for rounding, the one that took the least time
    is first.
    """
    found: list[Ranked] = []
    for problem in dict.fromkeys(entry.problem for entry in entries):
        group = [entry for entry in entries if entry.problem == problem]
        pairs = [(e, summarize(e.records, e.records[0].primary, e.seeds)) for e in group]
        rounding = ROUNDING * _largest_start(group)
        least = min((s.median for _, s in pairs if not s.n_failed), default=math.inf)

        def place(
            pair: tuple[Entry, Summary], least: float = least, rounding: float = rounding
        ) -> tuple[float, int, float, str]:
            entry, summary = pair
            equal = abs(summary.median - least) <= rounding
            median, seconds = (least, _seconds(entry)) if equal else (summary.median, 0.0)
            return median, summary.n_failed, seconds, entry.solver

        pairs.sort(key=place)
        best = next((s for _, s in pairs if not s.n_failed), None)
        found += [Ranked(e, s, s is best, _close(best, s, rounding)) for e, s in pairs]
    return found


def _seconds(entry: Entry) -> float:
    """Return the median time of the runs that did not fail, clock and reading."""
    times = [final(record, lambda mark: mark.seconds + mark.reading) for record in entry.records]
    finite = [seconds for seconds in times if math.isfinite(seconds)]
    return float(quantiles(finite, 0.5)) if finite else math.inf


def _largest_start(entries: Sequence[Entry]) -> float:
    """Return the largest finite primary metric that a run started from."""
    traces = [record.trace for entry in entries for record in entry.records if record.trace]
    starts = [abs(trace[0].metrics.get(entries[0].records[0].primary, 0.0)) for trace in traces]
    return max((value for value in starts if math.isfinite(value)), default=0.0)


def _close(best: Summary | None, other: Summary, rounding: float) -> bool:
    """Return whether a solver cannot be told from the best, over the seeds or but by rounding."""
    if best is None or other is best:
        return False
    if other.median - best.median <= rounding:
        return True
    if len(best.values) < 2:
        return False
    low, high = paired_interval(best.values, other.values)
    return low <= 0 <= high
