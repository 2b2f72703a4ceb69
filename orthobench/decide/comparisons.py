"""Comparisons of the solvers of a suite's results, problem by problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from orthobench.decide.answer import Answer, answer
from orthobench.decide.rule import TOLERANCE, Comparison, Decision, Evidence, Verdict
from orthobench.errors import unknown
from orthobench.harness.stopping import RunStatus, Target
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.results.traces import read
from orthobench.results.tuning import SolverResult
from orthobench.stats.calls import Call, calls_of, offered, ratio_of
from orthobench.stats.cost_curve import CostCurve, cost_curve, cut_short, gap_of
from orthobench.stats.costs import ALL_COSTS
from orthobench.stats.differences import Differences
from orthobench.stats.values import final, metric_of
from orthobench.tools.collections import grouped


def answer_of(results: Results, cost: str = "", tolerance: float | None = None) -> Answer:
    """Return which solver to use, by all results of a suite; the arguments as in `compare`."""
    return answer(compare(results.entries, cost, tolerance), results.suite_as_typed)


def compare(
    results: Sequence[SolverResult],
    cost: str = "",
    tolerance: float | None = None,
    metric: str = "",
) -> list[Comparison]:
    """Compare the solvers of each problem, in their order.

    Parameters
    ----------
    results : sequence of SolverResult
    cost : str
        One of `orthobench.stats.costs.ALL_COSTS`, or the unit of imported runs; by default seconds,
        or that unit.
    tolerance : float, optional
        In place of the suite's.
    metric : str
        By default the problem's primary metric.

    Raises
    ------
    UsageError
        On an unknown cost.
    """
    return compare_by(results, [(cost, tolerance)], metric)[0]


def compare_by(
    results: Sequence[SolverResult], views: Sequence[tuple[str, float | None]], metric: str = ""
) -> list[list[Comparison]]:
    """Compare the solvers of each problem under several costs and tolerances; see `compare`."""
    units = {unit for r in results for run in r.records[:1] for unit in run.imported.costs}
    for cost, _ in views:
        if cost and cost not in (known := units or ALL_COSTS):
            raise unknown("cost", cost, known)
    problems = [_Problem(own, metric) for own in grouped(results, lambda r: r.problem).values()]
    return [[problem.view(cost, tolerance) for problem in problems] for cost, tolerance in views]


class _Solver:
    """The runs of a solver on one problem by seed, with their curves and calls."""

    def __init__(self, result: SolverResult, seeds: Sequence[int], metric: str) -> None:
        runs = {run.seed: run for run in result.records}
        self.runs = [runs.get(seed) for seed in seeds]
        self.curves = [_curve(run, result.level, metric) for run in self.runs]
        pairs = zip(self.runs, self.curves, strict=True)
        self.finals = [_final(run, curve, metric) for run, curve in pairs]
        self.identity = [_identity(run, metric) for run in self.runs]
        ratio = next(ratio_of(run) for run in self.runs if run)
        self.calls = calls_of(self.curves, [math.isinf(value) for value in self.finals], ratio)

    def judged(self, call: Call | None) -> Call | None:
        """Return a call with its metrics."""
        return call and replace(call, metrics=self.calls.metrics(call.place, self.runs))


class _Problem:
    """The results of one problem, before costs and a tolerance are chosen."""

    def __init__(self, results: Sequence[SolverResult], metric: str) -> None:
        self._results, self._info = results, results[0].problem_info
        self._unit = results[0].records[0].imported.unit
        self._metric = metric or self._info.primary
        self._seeds = sorted({seed for r in results for seed in r.seeds})
        self._solvers = {r.solver: r.records[0].solver for r in results}
        self._ran = ran = {
            r.solver: _Solver(r, self._seeds, self._metric) for r in results if r.takes_part
        }
        by_seed = ([own.curves[s] for own in ran.values()] for s in range(len(self._seeds)))
        gaps = [gap_of([curve for curve in curves if curve]) for curves in by_seed]
        ends = Differences(
            {name: own.finals for name, own in ran.items()},
            [start for start, _ in gaps],
            [lowest for _, lowest in gaps],
            {name: own.identity for name, own in ran.items()},
        )
        certified = self._metric == self._info.primary and not self._unit
        calls = {name: own.calls for name, own in ran.items()}
        self._evidence = Evidence(ends, calls, certified)

    def view(self, cost: str, tolerance: float | None) -> Comparison:
        """Return the comparison by a cost and a tolerance; see `compare`."""
        cost = cost or self._unit or "seconds"
        tolerance = tolerance or self._results[0].tolerance or TOLERANCE
        prices = {
            name: own.calls.costs([curve.spent(cost) if curve else None for curve in own.curves])
            for name, own in self._ran.items()
        }
        decided = self._evidence.decide(prices, tolerance, cost)
        absent = [Decision(name, Verdict.ABSENT) for name in self._solvers if name not in prices]
        return Comparison(
            self._results[0].problem, self._info.name, self._info.family, self._metric,
            self._evidence.best, tuple(self._told(d) for d in [*decided, *absent]), tolerance, cost,
            len(self._seeds), self._info.name, self._info.parameters,
        )  # fmt: skip

    def _told(self, d: Decision) -> Decision:
        """Return a decision with name and parameters of its solver, and metrics of its calls."""
        solver = self._solvers[d.solver]
        d = replace(d, name=solver.name, parameters=solver.parameters)
        if not d.as_good:
            return d
        judged = self._ran[d.solver].judged
        return replace(d, call=judged(d.call), exact=judged(d.exact))


def _curve(run: Run | None, level: Target | None, metric: str) -> CostCurve | None:
    """Return the cost curve of a run, as far as it came if a limit of time ended it."""
    if run is None:
        return None
    late = run.stop.status is RunStatus.TIMEOUT
    curve = cost_curve(cut_short(run) if late else run, level, metric)
    return curve and offered(curve, ratio_of(run))


def _final(run: Run | None, curve: CostCurve | None, metric: str) -> float:
    """Return the final value; infinite if the run failed, NaN without one, or if a limit cut it."""
    if run is None or run.stop.status is RunStatus.TIMEOUT:
        return math.nan
    return curve.end if curve and curve.cut else final(run, metric_of(metric))


def _identity(run: Run | None, metric: str) -> object:
    if run is None or run.failed or not run.trace:
        return None if run is None else run.seed
    return read(run.trace, metric_of(metric)).tobytes()
