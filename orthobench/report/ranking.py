"""The solvers of each problem in the order of tables: by median, failures last."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orthobench.harness.trace import Checkpoint
from orthobench.results.tuning import SolverResult
from orthobench.stats.summaries import Summary, summaries
from orthobench.stats.values import COSTS, median_final, metric_of
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import number

ROUNDING = 1e-12
"""Values are equal that differ by less than this fraction of the largest value at a start."""


@dataclass(frozen=True)
class Ranked:
    """An entry with what tables say of it.

    Attributes
    ----------
    entry : SolverResult
    summary : Summary
        Of the primary metric.
    rounding : float
        The largest difference on the problem that counts as zero.
    """

    entry: SolverResult
    summary: Summary
    rounding: float = 0.0

    @property
    def ok(self) -> str:
        """The number of runs that did not fail, of those planned: ``9/10``."""
        return f"{self.summary.n_ok}/{len(self.entry.seeds)}"

    def text(self, value: float) -> str:
        """Return a value of the primary metric as text; those at rounding level are all alike."""
        return rounded(value, self.rounding)

    @property
    def metrics(self) -> dict[str, float]:
        """The medians of all metrics, by name."""
        marks = [r.trace[-1] for r in self.entry.records if r.trace and r.ok]
        names = dict.fromkeys(name for mark in marks for name in mark.metrics)
        return {name: self.median_of(metric_of(name)) for name in names}

    def median_of(self, value: Callable[[Checkpoint], float]) -> float:
        """Return the median of a final value over the runs that did not fail; NaN without any."""
        return median_final(self.entry.records, value)


def rounded(value: float, rounding: float) -> str:
    """Return a value as text; one at rounding level only as that."""
    if 0 < abs(value) <= rounding:
        return f"<1e{math.ceil(math.log10(rounding))}"
    return number(value)


def rank(entries: Sequence[SolverResult]) -> list[Ranked]:
    """Summarize entries and sort them: problems in their order, solvers by median, failures last.

    Of the solvers whose medians equal the smallest one up to rounding, the fastest comes first.
    """
    groups = grouped(entries, lambda entry: entry.problem)
    return [ranked for group in groups.values() for ranked in _rank(group)]


def _rank(entries: Sequence[SolverResult]) -> list[Ranked]:
    """Summarize and sort the entries of one problem."""
    seeds = {seed for entry in entries for seed in entry.seeds}
    metric = entries[0].problem_info.primary
    found = summaries([entry.records for entry in entries], metric, seeds)
    rounding = rounding_level(entries)
    least = min((s.median for s in found if s.n_ok and not s.n_failed), default=math.inf)

    def place(ranked: Ranked) -> tuple[bool, float, int, float, str]:
        entry, summary = ranked.entry, ranked.summary
        equal = abs(summary.median - least) <= rounding
        median, seconds = (least, _seconds(entry)) if equal else (summary.median, 0.0)
        return math.isnan(median), median, summary.n_failed, seconds, entry.solver

    return sorted((Ranked(e, s, rounding) for e, s in zip(entries, found, strict=True)), key=place)


def rounding_level(entries: Sequence[SolverResult]) -> float:
    """Return the largest difference that counts as zero: `ROUNDING` of the largest start.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of one problem.
    """
    starts = (abs(record.start) for entry in entries for record in entry.records)
    return ROUNDING * max((value for value in starts if math.isfinite(value)), default=0.0)


def _seconds(entry: SolverResult) -> float:
    """Return the median time of the runs that did not fail; infinite without any."""
    seconds = median_final(entry.records, COSTS["seconds"])
    return math.inf if math.isnan(seconds) else seconds
