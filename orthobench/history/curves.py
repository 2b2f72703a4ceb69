"""Curves of result, work and time over commits, with their steps, as JSON and as text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from orthobench.compare.cells import why_absent
from orthobench.compare.comparison import Row
from orthobench.compare.options import Question
from orthobench.history.follow import Commit, History
from orthobench.history.times import Ratio
from orthobench.results.runs import Run
from orthobench.results.traces import COUNTS
from orthobench.stats import run_pairs
from orthobench.stats.run_pairs import Change, Finding, Key
from orthobench.tools.collections import grouped, plain
from orthobench.tools.formatting import clean, plural

LEFT = 0.05
"""The target of the curve of work: the part that is left of the oldest run's way."""

CHANGED = (Change.WORSE, Change.BETTER, Change.MIXED)

EXACT: Mapping[Question, Callable[[Run, Run, float], Finding]] = {
    Question.RESULT: run_pairs.compare_results,
    Question.WORK: run_pairs.compare_work,
}


Step: TypeAlias = dict[str, Any]  # see `curves`


@dataclass
class Curve:
    """A solver on a problem over the commits.

    Attributes
    ----------
    problem, solver, metric : str
    unit : str
        That of its work: flops, samples or steps.
    result, work : list of float
        For each commit the median over seeds of the metric's last value, and of the work to the
        target: NaN for no value, infinity if it is not reached.
    time, low, high : list of float
        The ratio to the oldest commit's time, and its 95 % interval.
    reasons : dict
        Why commits have no value, by their places.
    """

    problem: str
    solver: str
    metric: str
    unit: str
    result: list[float]
    work: list[float]
    reasons: dict[int, str]
    time: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)


def curves(history: History, ratios: Sequence[Ratio]) -> tuple[list[Curve], list[Step]]:
    """Return the curve of each solver on each problem, and the steps of all, newest first.

    Parameters
    ----------
    history : History
    ratios : sequence of Ratio
        Empty if no times were measured.

    Returns
    -------
    curves : list of Curve
    steps : list of dict
        Changes from one commit with a value, at ``since``, to the next, at ``place``, with ``gap``
        commits between them. If seeds disagree, the ``change`` is ``"mixed"``; ``ratio`` and
        ``said`` are of the seed with the largest change.
    """
    keys = dict.fromkeys(key for one in reversed(history.commits) for key in one.runs)
    found, steps = [], list[Step]()
    for group in grouped(keys, lambda key: key[:2]).values():
        curve = _curve(group, history.commits)
        steps += _steps(group, history.commits)
        steps += _chain(curve, group, ratios, history.commits)
        found.append(curve)
    return found, sorted(steps, key=lambda step: -step["place"])


def _curve(keys: Sequence[Key], commits: Sequence[Commit]) -> Curve:
    newest = next(one.runs[keys[0]] for one in reversed(commits) if keys[0] in one.runs)
    metric = newest.problem.primary
    seeds = [[one.finished(key) for one in commits] for key in keys]
    finals = [[run.trace[-1].metrics.get(metric, math.nan) if run else math.nan for run in runs]
              for runs in seeds]  # fmt: skip
    units, work = zip(*map(_work, seeds), strict=True)
    unit = next(filter(None, units), "steps")
    # NaN if a seed has no value
    result, spent = (np.median(rows, axis=0).tolist() for rows in (finals, work))
    reasons = {i: _why(one, keys) for i, one in enumerate(commits) if math.isnan(result[i])}
    return Curve(*keys[0][:2], metric, unit, result, spent, reasons)


def _work(runs: Sequence[Run | None]) -> tuple[str, list[float]]:
    """Return the unit, and the work at each commit to a target of the oldest run.

    If that run ends no lower than it starts, the work of whole runs counts.
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


def _why(one: Commit, keys: Sequence[Key]) -> str:
    """Return why a commit has no value."""
    runs = (one.runs[key] for key in keys if key in one.runs)
    failed = next((f"seed {run.seed}: {run_pairs.failure(run)}" for run in runs if run.failed), "")
    otherwise = "it does not have the cell, or another metric"
    return one.failed or failed or why_absent(one.absent, keys[0]) or otherwise


def _steps(keys: Sequence[Key], commits: Sequence[Commit]) -> Iterator[Step]:
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
                seeds = f", {len(changed)} of {plural(len(both), 'seed')}" * (len(both) > 1)
                change = ways.pop() if len(ways) == 1 else Change.MIXED
                whole = replace(worst, change=change, explanation=worst.explanation + seeds)
                yield _step(keys[0], question, ends, commits, whole)


def _size(one: Finding) -> float:
    """Return the size of a change; one without a ratio, such as a failure, is the largest."""
    return abs(math.log(one.ratio)) if 0 < one.ratio < math.inf else math.inf


def _step(
    key: Key, question: Question, ends: tuple[int, int], commits: Sequence[Commit], finding: Finding
) -> Step:  # fmt: skip
    (since, place), (problem, solver, _) = ends, key
    said = Row(question, *key, finding).said
    said = said.replace("HEAD", "this commit").replace("BASE", "the one before")
    commit = commits[place]
    return {
        "place": place, "since": since, "gap": place - since - 1, "commit": commit.hash,
        "subject": clean(commit.subject), "question": question, "problem": problem,
        "solver": solver, "change": finding.change, "ratio": finding.ratio, "said": said,
    }  # fmt: skip


def _chain(
    curve: Curve, keys: Sequence[Key], ratios: Sequence[Ratio], commits: Sequence[Commit]
) -> Iterator[Step]:
    """Multiply the ratios of neighbours from the oldest commit on, and yield the steps.

    Rounds in the same processes share their addresses. So the error of a ratio is at least the
    typical distance from 1 of ratios that are no steps.
    """
    curve.time, curve.low, curve.high = ([math.nan] * len(commits) for _ in range(3))
    if not ratios:
        return
    own = {(one.since, one.place): (one, one.finding())
           for one in ratios if one.key[:2] == keys[0][:2] and one.logs}  # fmt: skip
    calm = [abs(math.log(one.ratio)) for _, one in own.values() if one.change not in CHANGED]
    noise = 1.4826 * float(np.median(calm)) if calm else 0.0
    there = [i for i, value in enumerate(curve.result) if math.isfinite(value)]
    log, variance = 0.0, 0.0
    for ends in zip([*there[:1], *there], there, strict=False):
        old, new = (commits[i].content for i in ends)
        if found := own.get(ends):
            ratio, finding = found
            log += math.log(finding.ratio)
            variance += max(ratio.spread(), noise) ** 2
            if finding.change in CHANGED:
                yield _step(ratio.key, Question.TIME, ends, commits, finding)
        elif any(old.get(key) != new.get(key) for key in keys):
            log = math.nan  # the chain is broken here
        reach = 1.96 * math.sqrt(variance)
        curve.time[ends[1]] = math.exp(log)
        curve.low[ends[1]], curve.high[ends[1]] = math.exp(log - reach), math.exp(log + reach)


def facts(
    history: History, curves: Sequence[Curve], steps: Sequence[Step], revisions: Sequence[str]
) -> dict[str, Any]:
    """Return a history as JSON values, with None for numbers that are not finite.

    ``runs`` is the number of new runs; ``commits`` are oldest first, ``steps`` newest first.
    """
    commits = [
        {"commit": one.hash, "date": one.date, "subject": clean(one.subject),
         "cells": len(one.runs), "failed": one.failed}
        for one in history.commits
    ]  # fmt: skip
    timed = any(math.isfinite(value) for curve in curves for value in curve.time)
    return {
        "schema": 1, "revisions": list(revisions), "suite": history.request["name"],
        "cells": sum(len(one.runs) for one in history.commits), "runs": history.made,
        "timed": timed, "commits": commits, "curves": plain(curves), "steps": plain(steps),
    }  # fmt: skip


def lines(found: Mapping[str, Any], width: int = 80) -> Iterator[str]:
    """Yield the steps in `facts`, and the commits without results."""
    commits = found["commits"]
    yield (
        f"{plural(len(commits), 'commit')}, {_name(commits[0])} to {_name(commits[-1])}, suite "
        f"{found['suite']}: {found['runs']:,} of {plural(found['cells'], 'cell')} run now"
    )
    yield from _step_lines(found["steps"], width)
    for commit in commits:
        if commit["failed"]:
            text = f"{_name(commit)} has no results: {commit['failed']}"
            yield from textwrap.wrap(clean(text), width, subsequent_indent="  ")
    if without := sum(len(curve["reasons"]) for curve in found["curves"]):
        yield f"{plural(without, 'value')} of curves missing: the page has the reasons"


def _step_lines(steps: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    for own in grouped(steps, lambda step: step["place"]).values():
        gap = f" (or one of {own[0]['gap']} before it without results)" if own[0]["gap"] else ""
        yield f"{_name(own[0])} {own[0]['subject']}{gap}"
        for step in own:
            cell = f"{step['solver']} on {step['problem']}"
            text = clean(f"{step['question']} {step['change']}: {cell}: {step['said']}")
            yield from textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")
    if not steps:
        yield "no step"


def _name(commit: Mapping[str, Any]) -> str:
    return str(commit["commit"][:10])
