"""Comparisons of the solvers of a suite's results, problem by problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from orthobench.decide.answer import Answer, answer
from orthobench.decide.rule import TOLERANCE, Comparison, Decision, Evidence, Verdict
from orthobench.errors import unknown
from orthobench.harness.stopping import RunStatus, Target, Termination
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.results.traces import read
from orthobench.results.tuning import SolverResult
from orthobench.stats.calls import Call, Calls, calls_of, ratio_of
from orthobench.stats.cost_curve import CostCurve, cost_curve
from orthobench.stats.costs import ALL_COSTS
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
    """Compare the solvers of each problem.

    Parameters
    ----------
    results : sequence of SolverResult
    cost : str
        What is to be least: one of `orthobench.stats.costs.ALL_COSTS`, or a unit of imported runs.
        By default seconds, or that unit.
    tolerance : float, optional
        The part of the gap by which a solver may end above the best, in place of the suite's.
    metric : str
        What is compared; the problem's primary metric where it is not named.

    Returns
    -------
    list of Comparison
        Problems in their order.

    Raises
    ------
    UsageError
        On an unknown cost.
    """
    return compare_by(results, [(cost, tolerance)], metric)[0]


def compare_by(
    results: Sequence[SolverResult], views: Sequence[tuple[str, float | None]], metric: str = ""
) -> list[list[Comparison]]:
    """Compare the solvers of each problem under several costs and tolerances; see `compare`.

    What these have in common is computed once for all of them.
    """
    units = {unit for r in results for run in r.records[:1] for unit in run.imported.costs}
    for cost, _ in views:
        if cost and cost not in (known := units or ALL_COSTS):
            raise unknown("cost", cost, known)
    groups = grouped(results, lambda r: r.problem)
    found = [_compare(own, views, metric) for own in groups.values()]
    return [list(of_view) for of_view in zip(*found, strict=True)] or [[] for _ in views]


def _compare(
    results: Sequence[SolverResult], views: Sequence[tuple[str, float | None]], metric: str
) -> list[Comparison]:
    """Return the comparison of one problem under each view."""
    info, source = results[0].problem_info, results[0].records[0].imported
    metric = metric or info.primary
    seeds = sorted({seed for r in results for seed in r.seeds})
    part = [r for r in results if r.takes_part]
    runs = {r.solver: _by_seed(r, seeds) for r in part}
    curves = {r.solver: [_curve(run, r.level, metric) for run in runs[r.solver]] for r in part}
    finals = {name: [_final(run, metric) for run in own] for name, own in runs.items()}
    calls = {
        name: calls_of(
            own,
            [math.isinf(value) for value in finals[name]],
            next(ratio_of(run) for run in runs[name] if run),
        )
        for name, own in curves.items()
    }
    by_seed = [[curve for own in curves.values() if (curve := own[s])] for s in range(len(seeds))]
    evidence = Evidence(
        finals,
        [max((curve.start for curve in own), default=math.nan) for own in by_seed],
        calls,
        [min((curve.lowest for curve in own), default=math.inf) for own in by_seed],
        {name: [_identity(run, metric) for run in own] for name, own in runs.items()},
        metric == info.primary and not source.unit,
    )
    solvers = {r.solver: r.records[0].solver for r in results}

    def with_facts(d: Decision) -> Decision:
        call, exact = d.call, d.exact
        if d.as_good:
            measured = partial(_measured, calls[d.solver], runs[d.solver])
            same, call, exact = call is exact, measured(call), measured(exact)
            exact = call if same else exact
        name, parameters = solvers[d.solver].name, solvers[d.solver].parameters
        return replace(d, name=name, parameters=parameters, call=call, exact=exact)

    def view(cost: str, tolerance: float) -> Comparison:
        prices = {
            name: own.costs([curve.spent(cost) if curve else None for curve in curves[name]])
            for name, own in calls.items()
        }
        decided = evidence.decide(prices, tolerance, cost)
        absent = [Decision(r.solver, Verdict.ABSENT) for r in results if r.solver not in runs]
        return Comparison(
            results[0].problem, info.name, info.family, metric, evidence.best,
            tuple(with_facts(d) for d in (*decided, *absent)),
            tolerance, cost, len(seeds), info.name, info.parameters,
        )  # fmt: skip

    usual = results[0].tolerance or TOLERANCE
    return [view(cost or source.unit or "seconds", tolerance or usual) for cost, tolerance in views]


def _measured(calls: Calls, runs: Sequence[Run | None], call: Call | None) -> Call | None:
    """Return a call with the judge's metrics at its stop."""
    return call and replace(call, metrics=calls.metrics(call.place, runs))


def _by_seed(result: SolverResult, seeds: Sequence[int]) -> list[Run | None]:
    runs = {run.seed: run for run in result.records}
    return [runs.get(seed) for seed in seeds]


def _curve(run: Run | None, level: Target | None, metric: str) -> CostCurve | None:
    """Return the cost curve of a run, as far as it came if a limit of time ended it."""
    if run is None:
        return None
    if run.stop.status is RunStatus.TIMEOUT:
        run = replace(run, stop=Termination(RunStatus.BUDGET, run.stop.reason))
    return cost_curve(run, level, metric)


def _final(run: Run | None, metric: str) -> float:
    """Return the final value: infinite if the run failed, NaN if there is none, or none yet.

    A run that a limit of time ended says nothing about its end.
    """
    if run is None or run.stop.status in (RunStatus.MISSING, RunStatus.TIMEOUT):
        return math.nan
    return final(run, metric_of(metric))


def _identity(run: Run | None, metric: str) -> object:
    """Return what runs share that are copies: all values of the metric, bit for bit."""
    if run is None or run.failed or not run.trace:
        return None if run is None else run.seed
    return read(run.trace, metric_of(metric)).tobytes()
