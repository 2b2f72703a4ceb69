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
from orthobench.stats.calls import calls_of, offered, ratio_of
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


class _Problem:
    """The results of one problem: their runs by seed, curves and calls."""

    def __init__(self, results: Sequence[SolverResult], metric: str) -> None:
        self._results, self._info = results, results[0].problem_info
        self._unit = results[0].records[0].imported.unit
        self._metric = metric = metric or self._info.primary
        self._seeds = sorted({seed for r in results for seed in r.seeds})
        self._solvers = {r.solver: r.records[0].solver for r in results}
        part = {r.solver: r for r in results if r.takes_part}
        self._runs = {name: self._by_seed(r) for name, r in part.items()}
        self._curves = {
            name: [_curve(run, part[name].level, metric) for run in own]
            for name, own in self._runs.items()
        }
        finals = {
            name: [_final(*pair, metric) for pair in zip(own, self._curves[name], strict=True)]
            for name, own in self._runs.items()
        }
        ratios = {n: next(ratio_of(run) for run in own if run) for n, own in self._runs.items()}
        self._calls = {
            name: calls_of(own, [math.isinf(value) for value in finals[name]], ratios[name])
            for name, own in self._curves.items()
        }
        by_seed = zip(*self._curves.values(), strict=True)
        gaps = [gap_of([curve for curve in own if curve]) for own in by_seed]
        gaps = gaps or [gap_of(())] * len(self._seeds)
        identity = {n: [_identity(run, metric) for run in own] for n, own in self._runs.items()}
        starts, lowest = [start for start, _ in gaps], [lowest for _, lowest in gaps]
        ends = Differences(finals, starts, lowest, identity)
        certified = metric == self._info.primary and not self._unit
        self._evidence = Evidence(ends, self._calls, certified)

    def _by_seed(self, result: SolverResult) -> list[Run | None]:
        runs = {run.seed: run for run in result.records}
        return [runs.get(seed) for seed in self._seeds]

    def view(self, cost: str, tolerance: float | None) -> Comparison:
        """Return the comparison by a cost and a tolerance; see `compare`."""
        cost = cost or self._unit or "seconds"
        tolerance = tolerance or self._results[0].tolerance or TOLERANCE
        prices = {
            name: own.costs([curve.spent(cost) if curve else None for curve in self._curves[name]])
            for name, own in self._calls.items()
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
        calls, runs = self._calls[d.solver], self._runs[d.solver]
        call, exact = (
            call and replace(call, metrics=calls.metrics(call.place, runs))
            for call in (d.call, d.exact)
        )
        return replace(d, call=call, exact=exact)


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
