"""The rows of tables: each solver on a problem, with what is decided of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from orthobench.decide.answer import standings
from orthobench.decide.rule import Comparison, Decision, Verdict
from orthobench.decide.wording import mark
from orthobench.harness.trace import Checkpoint
from orthobench.results.tuning import SolverResult
from orthobench.stats.costs import Cost, costs_of
from orthobench.stats.values import Summary, median_final, metric_of, summary
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import number

ROUNDING = 1e-12
"""Values are equal up to this fraction of the largest start."""


@dataclass(frozen=True)
class Row:
    """A solver on a problem, with the summary of its final values, and what is decided.

    `mark` is one of `orthobench.decide.wording.MARKS`, or empty; differences up to `rounding` count
    as zero.
    """

    result: SolverResult
    summary: Summary
    decision: Decision
    mark: str
    rounding: float

    @property
    def runs(self) -> dict[str, int]:
        """How many runs there are: planned, ok, failed and missing."""
        s = self.summary
        counts = {"ok": s.n_ok, "failed": s.n_failed, "missing": s.n_missing}
        return {"planned": len(self.result.seeds), **counts}

    @property
    def metrics(self) -> dict[str, float]:
        """The medians of all metrics, by name."""
        marks = [r.trace[-1] for r in self.result.records if r.trace and r.ok]
        names = dict.fromkeys(name for mark in marks for name in mark.metrics)
        return {name: self.median_of(metric_of(name)) for name in names}

    def text(self, value: float) -> str:
        """Return a value as text; at rounding level only that."""
        if 0 < abs(value) <= self.rounding:
            return f"<1e{math.ceil(math.log10(self.rounding))}"
        return number(value)

    def median_of(self, value: Callable[[Checkpoint], float]) -> float:
        """Return the median of a final value over the sound runs; NaN if it is not known."""
        records = self.result.records
        if isinstance(value, Cost) and value.name not in costs_of(records):
            return math.nan
        return median_final(records, value)


def rows_by_problem(
    results: Sequence[SolverResult], comparisons: Iterable[Comparison]
) -> Iterator[tuple[Comparison, list[Row]]]:
    """Yield each comparison with its rows, in its order, from the results on its problem."""
    groups = grouped(results, lambda result: result.problem)
    for comparison in comparisons:
        own, decided = groups[comparison.problem], comparison.decisions
        known = {r.solver: (r, summary(r.records, comparison.metric, r.seeds)) for r in own}
        starts = (abs(run.start) for r in own for run in r.records)
        rounding = ROUNDING * max((start for start in starts if math.isfinite(start)), default=0.0)
        rows = [Row(*known[d.solver], d, mark(comparison, d.solver), rounding) for d in decided]
        yield comparison, rows


def solvers_shown(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the solvers that ran in a family, the one to use first."""
    ran = {d.solver for c in comparisons for d in c.decisions if d.verdict is not Verdict.ABSENT}
    return [one.solver for one in standings(comparisons) if one.solver in ran]
