"""Curves over commits of result, work and time, with the steps in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from orthobench.compare.comparison import Question
from orthobench.history.follow import Followed, History
from orthobench.history.times import Ratio
from orthobench.results.runs import Run
from orthobench.results.traces import COUNTS
from orthobench.stats import run_pairs
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.run_pairs import Change, Finding, Key
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped

LEFT = 0.05
"""The part of the oldest run's way that is left at the target of the curve of work."""

CHANGED = (Change.WORSE, Change.BETTER, Change.MIXED)

EXACT: Mapping[Question, Callable[[Run, Run, float], Finding]] = {
    Question.RESULT: run_pairs.compare_results,
    Question.WORK: run_pairs.compare_work,
}


@dataclass(frozen=True)
class Step:
    """A change of a curve from one commit that has it to the next one.

    Attributes
    ----------
    question : Question
    first, second : int
        The places of the two commits; a commit between them has no result.
    change : str
        ``"worse"``, ``"better"`` or, if seeds disagree, ``"mixed"``.
    seeds : (int, int)
        The number of seeds that changed, and of all.
    finding : Finding
        The largest change among the seeds that are worse, or among all if none is.
    """

    question: Question
    first: int
    second: int
    change: str
    seeds: tuple[int, int]
    finding: Finding


@dataclass
class Curve:
    """A solver on a problem over the commits.

    Attributes
    ----------
    problem, solver, metric : str
    unit : str
        That of its work: flops, samples or steps.
    values : mapping
        An array of a value for each commit, NaN if there is none. Of the result it is the median
        over seeds of the last value of the metric, of work the median of what it takes to the
        target, infinite if that is not reached, and of time the ratio to the oldest commit.
    low, high : ndarray
        The 95 % interval of the ratio of times.
    steps : list of Step
    reasons : dict
        Why commits have no value, by their places.
    """

    problem: str
    solver: str
    metric: str
    unit: str
    values: dict[Question, Array]
    low: Array
    high: Array
    steps: list[Step] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)


def curves(history: History, ratios: Sequence[Ratio], tolerance: float) -> list[Curve]:
    """Return the curve of each solver on each problem.

    Parameters
    ----------
    history : History
    ratios : sequence of Ratio
    tolerance : float
        The part by which times may change without a step.
    """
    commits = history.commits
    keys = dict.fromkeys(key for one in reversed(commits) for key in one.runs)
    groups = grouped(keys, lambda key: key[:2])
    return [_curve(group, commits, ratios, tolerance) for group in groups.values()]


def _curve(
    keys: Sequence[Key], commits: Sequence[Followed], ratios: Sequence[Ratio], tolerance: float
) -> Curve:
    newest = next(one for one in reversed(commits) if keys[0] in one.runs).runs[keys[0]]
    seeds = [[one.runs.get(key) for one in commits] for key in keys]
    work = [_work(runs) for runs in seeds]
    units = [unit for unit, _ in work if unit]
    empty = np.full(len(commits), math.nan)
    found = Curve(
        *keys[0][:2], newest.problem.primary, units[0] if units else "steps",
        {
            Question.RESULT: _median([_finals(runs, newest.problem.primary) for runs in seeds]),
            Question.WORK: _median([values for _, values in work]),
            Question.TIME: empty.copy(),
        },
        empty.copy(), empty.copy(),
    )  # fmt: skip
    for i, one in enumerate(commits):
        if math.isnan(found.values[Question.RESULT][i]):
            found.reasons[i] = _why(one, keys)
    found.steps += _exact_steps(keys, commits)
    own = {(one.first, one.second): one for one in ratios if one.key[:2] == keys[0][:2]}
    if ratios:
        _chain(found, own, commits, keys, tolerance, 2 * len(ratios))
    return found


def _finals(runs: Sequence[Run | None], metric: str) -> list[float]:
    """Return the last value of a metric at each commit, NaN if there is none."""
    return [
        run.trace[-1].metrics.get(metric, math.nan)
        if run and run.trace and not run.failed else math.nan
        for run in runs
    ]  # fmt: skip


def _work(runs: Sequence[Run | None]) -> tuple[str, list[float]]:
    """Return the unit, and the work at each commit to what the oldest run reaches.

    The target leaves a part `LEFT` of the way from its start to its end; if it gets no further than
    its start, the work of whole runs is counted.
    """
    sound = [run for run in runs if run and run.trace and not run.failed]
    if not sound:
        return "", [math.nan] * len(runs)
    values = run_pairs.values(sound[0])
    target = values[-1] + LEFT * (values[0] - values[-1])
    table = run_pairs.work_table(sound[0])
    at = next(i for i in (2, 1, 0) if table[-1, i] > 0 or i == 0)
    way = values[0] > values[-1]

    def spent(run: Run | None) -> float:
        if not run or not run.trace or run.failed:
            return math.nan
        counts = run_pairs.work_table(run)[:, at]
        there = np.flatnonzero(run_pairs.smoothed(run_pairs.values(run)) <= target) if way else [-1]
        return float(counts[there[0]]) if len(there) else math.inf

    return COUNTS[at], [*map(spent, runs)]


def _median(rows: Sequence[Sequence[float]]) -> Array:
    """Return the median over seeds at each commit; NaN if a seed has no value."""
    columns = np.array(rows, dtype=np.float64).T
    middle = [math.nan if np.isnan(one).any() else float(quantiles(one, 0.5)) for one in columns]
    return np.array(middle)


def _why(one: Followed, keys: Sequence[Key]) -> str:
    """Return why a commit has no value."""
    if one.failed:
        return one.failed
    runs = [one.runs[key] for key in keys if key in one.runs]
    failed = [f"seed {run.seed}: {run_pairs.failure(run)}" for run in runs if run.failed]
    absent = [why for problem, solver, why in one.absent
              if keys[0][0].startswith(problem) and keys[0][1].startswith(solver)]  # fmt: skip
    return next(iter([*failed, *absent]), "it does not have the cell, or another metric")


def _exact_steps(keys: Sequence[Key], commits: Sequence[Followed]) -> Iterator[Step]:
    """Yield each change of results and of work."""
    there = [i for i, one in enumerate(commits) if any(key in one.runs for key in keys)]
    for first, second in pairwise(there):
        old, new = commits[first], commits[second]
        both = [key for key in keys if key in old.runs and key in new.runs]
        if all(old.content[key] == new.content[key] for key in both):
            continue
        for question, compare in EXACT.items():
            found = [compare(old.runs[key], new.runs[key], 0.0) for key in both]
            changed = [one for one in found if one.change in CHANGED]
            if changed:
                ways = {one.change.value for one in changed}
                worst = max(changed, key=lambda one: (one.change is Change.WORSE, _size(one)))
                way = ways.pop() if len(ways) == 1 else Change.MIXED.value
                yield Step(question, first, second, way, (len(changed), len(both)), worst)


def _size(one: Finding) -> float:
    """Return how large a change is; one without a ratio, such as a failure, is the largest."""
    if math.isnan(one.ratio) or one.ratio <= 0:
        return math.inf
    return abs(math.log(one.ratio)) if math.isfinite(one.ratio) else math.inf


def _chain(
    found: Curve, ratios: Mapping[tuple[int, int], Ratio], commits: Sequence[Followed],
    keys: Sequence[Key], tolerance: float, tests: int,
) -> None:  # fmt: skip
    """Multiply the ratios of neighbours from the oldest commit on, and add the steps.

    A ratio is no more certain than the ratios that are no steps are near to 1: rounds in the same
    processes share their places in memory.
    """
    times, log, variance = found.values[Question.TIME], 0.0, 0.0
    found_of = {at: one.finding(tests, tolerance) for at, one in ratios.items() if one.logs}
    calm = [abs(math.log(one.ratio)) for one in found_of.values() if one.change not in CHANGED]
    noise = 1.4826 * float(np.median(calm)) if calm else 0.0
    there = np.flatnonzero(np.isfinite(found.values[Question.RESULT])).tolist()
    for number, place in enumerate(there):
        before = there[number - 1] if number else place
        ratio = ratios.get((before, place))
        if ratio is not None and ratio.logs:
            finding = found_of[before, place]
            log += math.log(finding.ratio)
            variance += max(ratio.spread(), noise) ** 2
            if finding.change in CHANGED:
                found.steps.append(
                    Step(Question.TIME, before, place, finding.change.value, (1, 1), finding)
                )
        elif any(
            commits[before].content.get(key) != commits[place].content.get(key) for key in keys
        ):
            log, variance = math.nan, 0.0  # the chain is broken here
        times[place] = math.exp(log)
        reach = 1.96 * math.sqrt(variance)
        found.low[place], found.high[place] = math.exp(log - reach), math.exp(log + reach)
