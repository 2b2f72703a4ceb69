"""Ranking of the solvers on each problem: which is best, which may be as good, which failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orthobench.harness.trace import Checkpoint
from orthobench.report.formatting import number
from orthobench.results.tuning import SolverResult
from orthobench.stats.paired import Comparison, Decision, compare_to_best
from orthobench.stats.summaries import Summary, summaries
from orthobench.stats.values import COSTS, median_final, metric_of
from orthobench.tools.collections import grouped

MARKS = {
    "best": "smallest median, of equal ones the fastest; no run failed",
    "equal": "equal to it up to rounding",
    "close": "may be the best as well",
    "undecided": "too few seeds, or too many ties, to decide",
    "failed": "runs failed; each counts as infinite",
}
"""The marks of solvers on a problem, and what they mean."""

MARKED = {
    Decision.EQUAL: "equal", Decision.OPEN: "close", Decision.UNDECIDABLE: "undecided",
}  # fmt: skip
"""The marks of decisions; a solver that is shown not to be the best has none."""

ROUNDING = 1e-12
"""Values are equal that differ by less than this fraction of the largest value at a start."""


@dataclass(frozen=True)
class Ranked:
    """An entry with its summary and its place.

    Attributes
    ----------
    entry : SolverResult
    summary : Summary
        Of the primary metric.
    best : bool
        Whether its median is the smallest of the solvers without a failed run; of equal ones, the
        fastest is best. Nobody is where all end equal up to rounding on every seed.
    comparison : Comparison, optional
        With the best solver, or with the first where nobody is best; that one has none.
    rounding : float
        The largest difference on the problem that counts as zero.
    """

    entry: SolverResult
    summary: Summary
    best: bool
    comparison: Comparison | None = None
    rounding: float = 0.0

    @property
    def close(self) -> bool:
        """Whether it may be the best as well: the seeds could have shown otherwise, and do not."""
        return self.decision is Decision.OPEN

    @property
    def decision(self) -> Decision | None:
        """What is shown of it against the best; None for that one itself."""
        return self.comparison.decision if self.comparison else None

    @property
    def mark(self) -> str:
        """Its mark in tables, a key of `MARKS`, or nothing; one seed marks nothing but failures."""
        if self.summary.n_failed:
            return "failed"
        if len(self.entry.seeds) == 1:
            return ""
        return "best" if self.best else MARKED.get(self.decision or Decision.BEHIND, "")

    @property
    def ok(self) -> str:
        """The number of runs that did not fail, of those planned: ``9/10``."""
        return f"{self.summary.n_ok}/{len(self.entry.seeds)}"

    @property
    def median(self) -> str:
        """The median as text; see `text`."""
        return self.text(self.summary.median)

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

    def place(pair: tuple[SolverResult, Summary]) -> tuple[bool, float, int, float, str]:
        entry, summary = pair
        equal = abs(summary.median - least) <= rounding
        median, seconds = (least, _seconds(entry)) if equal else (summary.median, 0.0)
        return math.isnan(median), median, summary.n_failed, seconds, entry.solver

    pairs = sorted(zip(entries, found, strict=True), key=place)
    values = {e.solver: s.values for e, s in pairs if e.takes_part}
    sound = (e.solver for e, s in pairs if e.solver in values and s.n_ok and not s.n_failed)
    best = next(sound, None)
    first = best or next(iter(values), "")
    compared = {c.other: c for c in compare_to_best(values, first, rounding)} if values else {}
    if compared and all(c.decision is Decision.EQUAL for c in compared.values()):
        best = None
    return [Ranked(e, s, e.solver == best, compared.get(e.solver), rounding) for e, s in pairs]


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
