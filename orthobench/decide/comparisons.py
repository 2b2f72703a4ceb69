"""Comparisons of the solvers of a suite's results, problem by problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from orthobench.decide.answer import Answer, answer
from orthobench.decide.rule import TOLERANCE, Comparison, Decision, Evidence, Verdict
from orthobench.errors import unknown
from orthobench.harness.stopping import RunStatus, Target, Termination
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.results.traces import read
from orthobench.results.tuning import SolverResult
from orthobench.stats.calls import calls_of, curve_of, ratio_of
from orthobench.stats.costs import ALL_COSTS
from orthobench.stats.targets import Path, path_of
from orthobench.stats.values import final, metric_of
from orthobench.tools.collections import grouped


def answer_of(results: Results, cost: str = "seconds", tolerance: float | None = None) -> Answer:
    """Return which solver to use, by all results of a suite; the arguments as in `compare`."""
    return answer(compare(results.entries, cost, tolerance), results.suite_as_typed)


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
    runs = {r.solver: [_run_on(r, seed) for seed in seeds] for r in part}
    paths = {r.solver: [_path(run, r.level, metric) for run in runs[r.solver]] for r in part}
    finals = {name: [_final(run, metric) for run in own] for name, own in runs.items()}
    calls = {
        name: calls_of(
            [curve_of(path) if path else None for path in paths[name]],
            [math.isinf(value) for value in finals[name]],
            next(ratio_of(run) for run in own if run),
        )
        for name, own in runs.items()
    }
    by_seed = [[path for own in paths.values() if (path := own[s])] for s in range(len(seeds))]
    evidence = Evidence(
        finals,
        [max((path.start for path in own), default=math.nan) for own in by_seed],
        calls,
        [min((path.lowest for path in own), default=math.inf) for own in by_seed],
        {name: [_identity(run, metric) for run in own] for name, own in runs.items()},
        metric == info.primary,
    )
    facts = {r.solver: r.records[0].solver for r in results}

    def with_facts(d: Decision) -> Decision:
        own = calls.get(d.solver)
        known = {id(call): call for call in (d.call, d.exact) if call is not None}
        told = {
            at: replace(call, metrics=own.metrics(call.place, runs[d.solver]))
            for at, call in known.items()
            if own and d.as_good
        }
        return replace(
            d, name=facts[d.solver].name, parameters=facts[d.solver].parameters,
            call=told.get(id(d.call), d.call), exact=told.get(id(d.exact), d.exact),
        )  # fmt: skip

    def view(cost: str, tolerance: float) -> Comparison:
        prices = {
            name: own.costs([path.spent(cost) if path else None for path in paths[name]])
            for name, own in calls.items()
        }
        decided = evidence.decide(prices, tolerance, cost)
        found = {d.solver for d in decided}
        decisions = [*decided, *(Decision(r.solver, Verdict.ABSENT) for r in results)]
        return Comparison(
            results[0].problem, info.name, info.family, metric, evidence.best,
            tuple(
                with_facts(d)
                for d in decisions if d.verdict is not Verdict.ABSENT or d.solver not in found
            ),
            tolerance, cost, len(seeds), max((d.seeds for d in decided), default=0),
            info.parameters,
        )  # fmt: skip

    usual = results[0].tolerance or TOLERANCE
    return [view(cost, tolerance or usual) for cost, tolerance in views]


def _run_on(result: SolverResult, seed: int) -> Run | None:
    return next((run for run in result.records if run.seed == seed), None)


def _path(run: Run | None, level: Target | None, metric: str) -> Path | None:
    """Return a run up to where it counts, as far as it came if a limit of time ended it."""
    if run is None:
        return None
    if run.stop.status is RunStatus.TIMEOUT:
        run = replace(run, stop=Termination(RunStatus.BUDGET, run.stop.reason))
    return path_of(run, level, metric)


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
