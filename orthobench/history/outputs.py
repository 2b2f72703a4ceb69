"""A history as plain values, and as lines of text for a terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
import numpy as np

from orthobench.compare.comparison import Question, Row
from orthobench.history.curves import Curve
from orthobench.history.follow import History
from orthobench.report.terminal.sparkline import ASCII_BLOCKS, BLOCKS
from orthobench.tools.arrays import Array
from orthobench.tools.collections import finite_or_none, grouped
from orthobench.tools.formatting import clean, number, plural, si

COLOURS = {"worse": "red", "better": "green", "mixed": "yellow"}

EXACT_QUESTIONS = ("result", "work")

STEPS = 30
"""The maximum number of steps that a terminal shows."""


def facts(history: History, curves: Sequence[Curve], revisions: Sequence[str]) -> dict[str, Any]:
    """Return a history as plain values; None stands for a number that is not finite.

    Parameters
    ----------
    history : History
    curves : sequence of Curve
    revisions : sequence of str
        The user's words.

    Returns
    -------
    dict
        ``schema``, ``revisions``, ``suite``, the numbers of ``cells`` and of ``runs`` made now;
        ``commits`` (oldest first; ``failed`` says why one has no cells), ``curves`` (a value for
        each commit, or None, and the ``reasons`` by place), ``steps``, newest first.
    """
    commits = [
        {"commit": one.commit.hash, "date": one.commit.date, "subject": clean(one.commit.subject),
         "cells": len(one.runs), "failed": one.failed}
        for one in history.commits
    ]  # fmt: skip
    steps = [_step(curve, step, commits) for curve in curves for step in curve.steps]
    timed = any(np.isfinite(curve.values[Question.TIME]).any() for curve in curves)
    return {
        "schema": 1, "revisions": list(revisions), "suite": history.request["name"],
        "cells": sum(len(one.runs) for one in history.commits), "runs": history.made,
        "timed": timed, "commits": commits, "curves": [_curve(curve) for curve in curves],
        "steps": sorted(steps, key=lambda step: -step["place"]),
    }  # fmt: skip


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "problem": curve.problem, "solver": curve.solver, "metric": curve.metric,
        "unit": curve.unit,
        **{asked.value: _plain(values) for asked, values in curve.values.items()},
        "low": _plain(curve.low), "high": _plain(curve.high), "reasons": curve.reasons,
    }  # fmt: skip


def _plain(values: Array) -> list[float | None]:
    return [finite_or_none(value) for value in values.tolist()]


def _step(curve: Curve, step: Any, commits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    row = Row(step.question, curve.problem, curve.solver, 0, step.finding)
    said = row.said.replace("HEAD", "this commit").replace("BASE", "the one before")
    some = f", {step.seeds[0]} of {plural(step.seeds[1], 'seed')}" if step.seeds[1] > 1 else ""
    return {
        "place": step.second, "since": step.first, "commit": commits[step.second]["commit"],
        "subject": commits[step.second]["subject"], "question": step.question.value,
        "problem": curve.problem, "solver": curve.solver, "change": step.change,
        "ratio": finite_or_none(step.finding.ratio), "said": said + some,
        "gap": step.second - step.first - 1,
    }  # fmt: skip


def lines(found: Mapping[str, Any], width: int = 80, ascii_only: bool = False) -> Iterator[str]:
    """Yield a curve for each solver on each problem, the steps with their commits, and the gaps.

    Parameters
    ----------
    found : mapping
        The `facts`.
    width : int
        Columns of the terminal.
    ascii_only : bool
        Whether the terminal has no block characters.
    """
    commits = found["commits"]
    yield (
        f"{plural(len(commits), 'commit')}, {_name(commits[0])} to {_name(commits[-1])}, suite "
        f"{found['suite']}: {found['runs']:,} of {plural(found['cells'], 'cell')} run now"
    )
    for problem, curves in grouped(found["curves"], lambda curve: curve["problem"]).items():
        metric = clean(curves[0]["metric"].replace("_", " "))
        yield f"\n{click.style(clean(problem), bold=True)}  {metric}"
        for curve in curves:
            yield from _curve_lines(curve, found, ASCII_BLOCKS if ascii_only else BLOCKS)
    yield ""
    yield from _step_lines(found["steps"], width)
    for text in _gaps(found):
        yield from textwrap.wrap(clean(text), width, subsequent_indent="  ")


def _curve_lines(curve: Mapping[str, Any], found: Mapping[str, Any], blocks: str) -> Iterator[str]:
    wide = min(32, max(len(one["solver"]) for one in found["curves"]))
    name = clean(curve["solver"])
    for question in (*EXACT_QUESTIONS, *(["time"] if found["timed"] else [])):
        own = sum(
            (step["problem"], step["solver"], step["question"])
            == (curve["problem"], curve["solver"], question)
            for step in found["steps"]
        )
        ends = _ends(question, curve)
        steps = f"  {plural(own, 'step')}" if own else ""
        spark = _spark(curve[question], blocks)
        yield f"  {name:<{wide}.{wide}}  {question:<6} {spark}  {ends}{steps}"
        name = ""


def _step_lines(steps: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    for own in grouped(steps[:STEPS], lambda step: step["place"]).values():
        gap = f" (or one of {own[0]['gap']} before it without results)" if own[0]["gap"] else ""
        yield f"{_name(own[0])} {own[0]['subject']}{gap}"
        for step in own:
            name = click.style(step["change"], fg=COLOURS[step["change"]])
            cell = clean(f"{step['solver']} on {step['problem']}: {step['said']}")
            text = f"{step['question']} {name}: {cell}"
            yield from textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")
    if (more := len(steps) - STEPS) > 0:
        yield f"and {plural(more, 'earlier step')}: the page has all"
    if not steps:
        yield "no step"


def _gaps(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield why commits and cells have no results."""
    commits = found["commits"]
    for commit in commits:
        if commit["failed"]:
            yield f"{_name(commit)} has no results: {commit['failed']}"
    for curve in found["curves"]:
        reasons = [why for at, why in curve["reasons"].items() if not commits[int(at)]["failed"]]
        for why in dict.fromkeys(reasons):
            number_of = plural(reasons.count(why), "commit")
            yield f"{curve['solver']} on {curve['problem']} has no value at {number_of}: {why}"


def _name(commit: Mapping[str, Any]) -> str:
    return str(commit["commit"][:10])


def _ends(question: str, curve: Mapping[str, Any]) -> str:
    """Return the first and the last value as text: ``0.12 -> 0.14``."""
    values, unit = curve[question], curve["unit"]
    there = [value for value in values if value is not None]
    if not there:
        return "no value"
    if question == Question.TIME.value:
        low, high = ([x for x in curve[end] if x is not None][-1] for end in ("low", "high"))
        return f"x {there[-1]:.3f} [{low:.3f}, {high:.3f}] of the oldest"
    first, last = ((si(v) if question == Question.WORK.value else number(v))
                   for v in (there[0], there[-1]))  # fmt: skip
    name = f" {unit}" if question == Question.WORK.value else ""
    return f"{last}{name}" if there[0] == there[-1] else f"{first} -> {last}{name}"


def _spark(values: Sequence[float | None], blocks: str) -> str:
    """Return a character for each commit, blank if it has no value."""
    there = [value for value in values if value is not None]
    low, high = min(there, default=0.0), max(there, default=0.0)

    def block(value: float | None) -> str:
        if value is None or math.isnan(value):
            return " "
        part = (value - low) / (high - low) if high > low else 0.0
        return blocks[min(int(part * len(blocks)), len(blocks) - 1)]

    return "".join(map(block, values))
