"""A history as JSON, and as text for a terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from orthobench.history.curves import Curve, Step
from orthobench.history.follow import History
from orthobench.tools.collections import grouped, plain
from orthobench.tools.formatting import clean, number, plural, si

COLOURS = {"worse": "red", "better": "green", "mixed": "yellow"}

STEPS = 30
"""Maximum number of steps that a terminal shows."""


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
    """Yield the first and last values of each curve in `facts`, the steps, and the gaps."""
    commits = found["commits"]
    yield (
        f"{plural(len(commits), 'commit')}, {_name(commits[0])} to {_name(commits[-1])}, suite "
        f"{found['suite']}: {found['runs']:,} of {plural(found['cells'], 'cell')} run now"
    )
    for problem, curves in grouped(found["curves"], lambda curve: curve["problem"]).items():
        metric = clean(curves[0]["metric"].replace("_", " "))
        yield f"\n{click.style(clean(problem), bold=True)}  {metric}"
        for curve in curves:
            result, work = _ends(curve["result"], number), _ends(curve["work"], si)
            yield f"  {clean(curve['solver'])}: {result}; work {work} {curve['unit']}{_time(curve)}"
    yield ""
    yield from _step_lines(found["steps"], width)
    for commit in commits:
        if commit["failed"]:
            text = f"{_name(commit)} has no results: {commit['failed']}"
            yield from textwrap.wrap(clean(text), width, subsequent_indent="  ")
    if without := sum(len(curve["reasons"]) for curve in found["curves"]):
        yield f"{plural(without, 'value')} of curves missing: the page has the reasons"


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


def _name(commit: Mapping[str, Any]) -> str:
    return str(commit["commit"][:10])


def _ends(values: Sequence[float | None], text: Any) -> str:
    """Return the first and the last value as text: ``0.12 -> 0.14``."""
    known = [value for value in values if value is not None]
    return " -> ".join(map(text, dict.fromkeys([*known[:1], *known[-1:]]))) or "no value"


def _time(curve: Mapping[str, Any]) -> str:
    """Return the time at the newest commit, relative to the oldest one."""
    known = [one for one in zip(curve["time"], curve["low"], curve["high"], strict=True)
             if one[0] is not None]  # fmt: skip
    if not known:
        return ""
    return "; time x {:.3f} [{:.3f}, {:.3f}] of the oldest".format(*known[-1])
