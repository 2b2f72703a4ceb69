"""Comparisons of the solvers of a suite's results, problem by problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from orthobench.decide.answer import Answer, answer
from orthobench.decide.rule import TOLERANCE, Comparison, Decision, Verdict, decider
from orthobench.errors import unknown
from orthobench.harness.stopping import RunStatus
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.results.traces import read
from orthobench.results.tuning import SolverResult
from orthobench.stats.costs import ALL_COSTS
from orthobench.stats.targets import path_of, whole_cost
from orthobench.stats.values import final, metric_of
from orthobench.tools.collections import grouped


def answer_of(results: Results, cost: str = "seconds", tolerance: float | None = None) -> Answer:
    """Return which solver to use, by all results of a suite; the arguments as in `compare`."""
    return answer(compare(results.entries, cost, tolerance), results.suite)


def compare(
    results: Sequence[SolverResult],
    cost: str = "seconds",
    tolerance: float | None = None,
    metric: str = "",
) -> list[Comparison]:
    """Compare the solvers of each problem.

    Parameters
    ----------
    results : sequence of SolverResult
    cost : str
        What is to be least: one of `orthobench.stats.costs.ALL_COSTS`.
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
    for cost, _ in views:
        if cost not in ALL_COSTS:
            raise unknown("cost", cost, ALL_COSTS)
    groups = grouped(results, lambda r: r.problem)
    found = [_compare(own, views, metric) for own in groups.values()]
    return [list(of_view) for of_view in zip(*found, strict=True)] or [[] for _ in views]


def _compare(
    results: Sequence[SolverResult], views: Sequence[tuple[str, float | None]], metric: str
) -> list[Comparison]:
    """Return the comparison of one problem under each view."""
    info = results[0].problem_info
    metric = metric or info.primary
    seeds = sorted({seed for r in results for seed in r.seeds})
    part = [r for r in results if r.takes_part]
    runs = {r.solver: {run.seed: run for run in r.records} for r in part}
    paths = {r.solver: {run.seed: path_of(run, r.level, metric) for run in r.records} for r in part}

    by_seed = [[path for own in paths.values() if (path := own.get(s))] for s in seeds]
    decided_by = decider(
        {name: [_final(own.get(s), metric) for s in seeds] for name, own in runs.items()},
        [max((path.start for path in own), default=math.nan) for own in by_seed],
        lowest=[min((path.lowest for path in own), default=math.inf) for own in by_seed],
        identity={
            name: [_identity(own.get(s), metric) for s in seeds] for name, own in runs.items()
        },
    )
    facts = {r.solver: r.records[0].solver for r in results}

    def view(cost: str, tolerance: float) -> Comparison:
        def costs(targets: Sequence[float]) -> dict[str, list[float]]:
            return {
                name: [
                    math.inf if (path := own.get(seed)) is None else path.cheapest(cost, target)
                    for seed, target in zip(seeds, targets, strict=True)
                ]
                for name, own in paths.items()
            }

        spent = {
            name: [whole_cost(run, cost) if (run := own.get(s)) else math.nan for s in seeds]
            for name, own in runs.items()
        }
        best, decided = decided_by(costs, spent, tolerance)
        found = {d.solver: d for d in decided}
        decisions = [*decided, *(Decision(r.solver, Verdict.ABSENT) for r in results)]
        return Comparison(
            results[0].problem, info.name, info.family, metric, best,
            tuple(
                replace(d, name=facts[d.solver].name, parameters=facts[d.solver].parameters)
                for d in decisions if d.verdict is not Verdict.ABSENT or d.solver not in found
            ),
            tolerance, cost, len(seeds), max((d.seeds for d in decided), default=0),
            info.parameters,
        )  # fmt: skip

    usual = results[0].tolerance or TOLERANCE
    return [view(cost, tolerance or usual) for cost, tolerance in views]


def _final(run: Run | None, metric: str) -> float:
    """Return the final value: infinite where the run failed, NaN where there is none yet."""
    if run is None or run.stop.status is RunStatus.MISSING:
        return math.nan
    return final(run, metric_of(metric))


def _identity(run: Run | None, metric: str) -> object:
    """Return what runs share that are copies: all values of the metric, bit for bit."""
    if run is None or run.failed or not run.trace:
        return None if run is None else run.seed
    return read(run.trace, metric_of(metric)).tobytes()
