"""Curves over commits of result, work and time, with the steps in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from orthobench.compare.comparison import Row
from orthobench.compare.options import Question
from orthobench.history.follow import Followed, History
from orthobench.history.times import Ratio
from orthobench.results.runs import Run
from orthobench.results.traces import COUNTS
from orthobench.stats import run_pairs
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.run_pairs import Change, Finding, Key
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean, plural

LEFT = 0.05
"""The part of the oldest run's way that is left at the target of the curve of work."""

CHANGED = (Change.WORSE, Change.BETTER, Change.MIXED)

EXACT: Mapping[Question, Callable[[Run, Run, float], Finding]] = {
    Question.RESULT: run_pairs.compare_results,
    Question.WORK: run_pairs.compare_work,
}


Step: TypeAlias = dict[str, Any]  # plain values, as `curves` describes them


@dataclass
class Curve:
    """A solver on a problem over the commits.

    Attributes
    ----------
    problem, solver, metric : str
    unit : str
        That of its work: flops, samples or steps.
    result, work, time : list of float
        A value for each commit, NaN if there is none: the median over seeds of the last value of
        the metric, the median of the work to the target, infinite if that is not reached, and the
        ratio of the time to that of the oldest commit.
    low, high : list of float
        The 95 % interval of the ratio of times.
    reasons : dict
        Why commits have no value, by their places.
    """

    problem: str
    solver: str
    metric: str
    unit: str
    result: list[float]
    work: list[float]
    time: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)


def curves(history: History, ratios: Sequence[Ratio]) -> tuple[list[Curve], list[Step]]:
    """Return the curve of each solver on each problem, and the steps of all, newest first.

    Parameters
    ----------
    history : History
    ratios : sequence of Ratio
        Of times; none if they were not measured.

    Returns
    -------
    curves : list of Curve
    steps : list of dict
        Changes of a curve from one commit that has it to the next one. ``place`` and ``since`` are
        the places of these commits, the later one first, and ``gap`` is the number of commits
        between them, which have no result; ``commit`` and ``subject`` are those of the later one.
        ``change`` is ``"worse"``, ``"better"`` or, if seeds disagree, ``"mixed"``; ``ratio`` and
        ``said`` are of the seed that is worst, or that changed most if none is worse. Besides
        ``question``, ``problem`` and ``solver``.
    """
    keys = dict.fromkeys(key for one in reversed(history.commits) for key in one.runs)
    found, steps = [], list[Step]()
    for group in grouped(keys, lambda key: key[:2]).values():
        curve = _curve(group, history.commits)
        steps += _exact_steps(group, history.commits)
        steps += _chain(curve, [one for one in ratios if one.key[:2] == group[0][:2]],
                        history.commits, 2 * len(ratios))  # fmt: skip
        found.append(curve)
    return found, sorted(steps, key=lambda step: -step["place"])


def _curve(keys: Sequence[Key], commits: Sequence[Followed]) -> Curve:
    """Return the curve of some cells, without its times."""
    newest = next(one.runs[keys[0]] for one in reversed(commits) if keys[0] in one.runs)
    metric = newest.problem.primary
    seeds = [[one.finished(key) for one in commits] for key in keys]
    finals = [[run.trace[-1].metrics.get(metric, math.nan) if run else math.nan for run in runs]
              for runs in seeds]  # fmt: skip
    units, work = zip(*map(_work, seeds), strict=True)
    found = Curve(*keys[0][:2], metric, next(filter(None, units), "steps"), _median(finals),
                  _median(work))  # fmt: skip
    found.reasons = {i: _why(one, keys) for i, one in enumerate(commits)
                     if math.isnan(found.result[i])}  # fmt: skip
    return found


def _work(runs: Sequence[Run | None]) -> tuple[str, list[float]]:
    """Return the unit, and the work at each commit to what the oldest run reaches.

    The target leaves a part `LEFT` of the way from its start to its end; if it gets no further than
    its start, the work of whole runs is counted.
    """
    oldest = next(filter(None, runs), None)
    if oldest is None:
        return "", [math.nan] * len(runs)
    values, ends = run_pairs.values(oldest), run_pairs.work_table(oldest)[-1]
    target = values[-1] + LEFT * (values[0] - values[-1])
    at = next((i for i in (2, 1) if ends[i] > 0), 0)
    way = values[0] > values[-1]

    def spent(run: Run) -> float:
        there = np.flatnonzero(run_pairs.smoothed(run_pairs.values(run)) <= target) if way else [-1]
        return float(run_pairs.work_table(run)[there[0], at]) if len(there) else math.inf

    return COUNTS[at], [spent(run) if run else math.nan for run in runs]


def _median(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the median over seeds at each commit; NaN if a seed has no value."""
    columns = zip(*rows, strict=True)
    return [math.nan if np.isnan(one).any() else float(quantiles(one, 0.5)) for one in columns]


def _why(one: Followed, keys: Sequence[Key]) -> str:
    """Return why a commit has no value."""
    runs = [one.runs[key] for key in keys if key in one.runs]
    failed = [f"seed {run.seed}: {run_pairs.failure(run)}" for run in runs if run.failed]
    absent = [why for problem, solver, why in one.absent
              if keys[0][0].startswith(problem) and keys[0][1].startswith(solver)]  # fmt: skip
    reasons = [one.failed, *failed, *absent, "it does not have the cell, or another metric"]
    return next(filter(None, reasons))


def _exact_steps(keys: Sequence[Key], commits: Sequence[Followed]) -> Iterator[Step]:
    """Yield each change of results and of work."""
    there = [i for i, one in enumerate(commits) if any(key in one.runs for key in keys)]
    for ends in pairwise(there):
        old, new = (commits[i] for i in ends)
        both = [key for key in keys if key in old.runs and key in new.runs]
        if all(old.content[key] == new.content[key] for key in both):
            continue
        for question, compare in EXACT.items():
            found = [compare(old.runs[key], new.runs[key], 0.0) for key in both]
            changed = [one for one in found if one.change in CHANGED]
            if changed:
                ways = {one.change for one in changed}
                worst = max(changed, key=lambda one: (one.change is Change.WORSE, _size(one)))
                change = ways.pop() if len(ways) == 1 else Change.MIXED
                seeds = f", {len(changed)} of {plural(len(both), 'seed')}" * (len(both) > 1)
                yield _step(keys[0], question, ends, commits, change, worst, seeds)


def _size(one: Finding) -> float:
    """Return how large a change is; one without a ratio, such as a failure, is the largest."""
    if math.isnan(one.ratio) or one.ratio <= 0:
        return math.inf
    return abs(math.log(one.ratio)) if math.isfinite(one.ratio) else math.inf


def _step(
    key: Key, question: Question, ends: tuple[int, int], commits: Sequence[Followed],
    change: Change, finding: Finding, seeds: str = "",
) -> Step:  # fmt: skip
    """Return a step, from one place in the history to another."""
    (since, place), (problem, solver, seed) = ends, key
    said = Row(question, problem, solver, seed, finding).said
    said = said.replace("HEAD", "this commit").replace("BASE", "the one before") + seeds
    commit = commits[place].commit
    return {
        "place": place, "since": since, "gap": place - since - 1, "commit": commit.hash,
        "subject": clean(commit.subject), "question": question, "problem": problem,
        "solver": solver, "change": change, "ratio": finding.ratio, "said": said,
    }  # fmt: skip


def _chain(
    curve: Curve, ratios: Sequence[Ratio], commits: Sequence[Followed], tests: int
) -> Iterator[Step]:
    """Multiply the ratios of neighbours from the oldest commit on, and yield the steps.

    A ratio is no more certain than the ratios that are no steps are near to 1: rounds in the same
    processes share their places in memory.
    """
    curve.time, curve.low, curve.high = ([math.nan] * len(commits) for _ in range(3))
    if not tests:
        return
    own = {(one.since, one.place): (one, one.finding(tests)) for one in ratios if one.logs}
    calm = [abs(math.log(one.ratio)) for _, one in own.values() if one.change not in CHANGED]
    noise = 1.4826 * float(np.median(calm)) if calm else 0.0
    keys = {key for one in commits for key in one.runs if key[:2] == (curve.problem, curve.solver)}
    there = [i for i, value in enumerate(curve.result) if math.isfinite(value)]
    log, variance = 0.0, 0.0
    for before, place in zip([*there[:1], *there], there, strict=False):
        if found := own.get((before, place)):
            ratio, finding = found
            log += math.log(finding.ratio)
            variance += max(ratio.spread(), noise) ** 2
            if finding.change in CHANGED:
                ends = before, place
                yield _step(ratio.key, Question.TIME, ends, commits, finding.change, finding)
        elif any(commits[before].content.get(k) != commits[place].content.get(k) for k in keys):
            log, variance = math.nan, 0.0  # the chain is broken here
        reach = 1.96 * math.sqrt(variance)
        curve.time[place] = math.exp(log)
        curve.low[place], curve.high[place] = math.exp(log - reach), math.exp(log + reach)
