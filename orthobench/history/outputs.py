"""A history as JSON, and as text for a terminal."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from orthobench.history.curves import Curve, Step
from orthobench.history.follow import History
from orthobench.tools.collections import grouped, plain
from orthobench.tools.formatting import clean, number, plural, si

COLOURS = {"worse": "red", "better": "green", "mixed": "yellow"}

BLOCKS = "▁▂▃▄▅▆▇█"

STEPS = 30
"""Maximum number of steps that a terminal shows."""


def facts(
    history: History, curves: Sequence[Curve], steps: Sequence[Step], revisions: Sequence[str]
) -> dict[str, Any]:
    """Return a history as JSON values, with None for numbers that are not finite.

    Returns
    -------
    dict
        ``schema``, ``revisions`` (the user's words), ``suite``, and the numbers of ``cells`` and of
        new ``runs``. ``commits`` are oldest first, with the reason ``failed`` if one has no cells;
        ``curves`` have a value for each commit, and ``steps`` are newest first.
    """
    commits = [
        {"commit": one.commit.hash, "date": one.commit.date, "subject": clean(one.commit.subject),
         "cells": len(one.runs), "failed": one.failed}
        for one in history.commits
    ]  # fmt: skip
    return {
        "schema": 1, "revisions": list(revisions), "suite": history.request["name"],
        "cells": sum(len(one.runs) for one in history.commits), "runs": history.made,
        "commits": commits, "curves": plain(curves), "steps": plain(steps),
    }  # fmt: skip


def lines(found: Mapping[str, Any], width: int = 80) -> Iterator[str]:
    """Yield a curve for each solver on each problem, the steps by commit, and the gaps.

    Parameters
    ----------
    found : mapping
        The `facts`.
    width : int
        Columns of the terminal.
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
            yield from _curve_lines(curve, found)
    yield ""
    yield from _step_lines(found["steps"], width)
    for text in _gaps(found):
        yield from textwrap.wrap(clean(text), width, subsequent_indent="  ")


def _curve_lines(curve: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    wide = min(32, max(len(one["solver"]) for one in found["curves"]))
    name, cell = clean(curve["solver"]), (curve["problem"], curve["solver"])
    own = Counter(step["question"] for step in found["steps"]
                  if (step["problem"], step["solver"]) == cell)  # fmt: skip
    for question in ("result", "work"):
        steps = f"  {plural(own[question], 'step')}" if own[question] else ""
        spark, ends = _spark(curve[question]), _ends(question, curve)
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
        reasons = Counter(why for at, why in curve["reasons"].items()
                          if not commits[int(at)]["failed"])  # fmt: skip
        for why, count in reasons.items():
            name = f"{curve['solver']} on {curve['problem']}"
            yield f"{name} has no value at {plural(count, 'commit')}: {why}"


def _name(commit: Mapping[str, Any]) -> str:
    return str(commit["commit"][:10])


def _ends(question: str, curve: Mapping[str, Any]) -> str:
    """Return the first and the last value as text: ``0.12 -> 0.14``."""
    there = [value for value in curve[question] if value is not None]
    if not there:
        return "no value"
    text, unit = (si, f" {curve['unit']}") if question == "work" else (number, "")
    ends = dict.fromkeys([there[0], there[-1]])
    return f"{' -> '.join(map(text, ends))}{unit}"


def _spark(values: Sequence[float | None]) -> str:
    """Return a character for each commit, blank if it has no value."""
    there = [value for value in values if value is not None]
    low, high = min(there, default=0.0), max(there, default=0.0)
    scale = (len(BLOCKS) - 1e-9) / (high - low) if high > low else 0.0
    return "".join(" " if v is None else BLOCKS[int(scale * (v - low))] for v in values)
