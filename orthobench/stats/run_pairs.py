"""Comparison of paired runs, for ``compare``, ``verify`` and their reports.

Equal code, cell and seed give equal bits on a processor, so that any difference comes from the
code. All tolerances of values are here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from orthobench.errors import UsageError
from orthobench.harness.stopping import RunStatus
from orthobench.results.runs import Run
from orthobench.results.traces import COUNTS, read
from orthobench.tools.arrays import Array
from orthobench.tools.places import place_of

Key: TypeAlias = "tuple[str, str, int]"
"""Problem, solver with its hyperparameters, and seed."""

LEFT = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Targets, as parts of the way from the first run's start to its end that are left."""

SMOOTH = 5
"""Number of checkpoints to either side in the running median of a curve."""


@dataclass(frozen=True)
class ToleranceRule:
    """The difference up to which two values count as the same.

    `rtol` times the larger value, plus `atol_of_start` times the value at the start, plus `atol`.
    """

    rtol: float = 0.0
    atol_of_start: float = 0.0
    atol: float = 0.0

    def same(self, a: float | None, b: float | None, start: float = 0.0) -> bool:
        """Return whether two values count as the same; None is no value."""
        if a is None or b is None:
            return a is b
        if a == b or (math.isnan(a) and math.isnan(b)):
            return True
        if not (math.isfinite(a) and math.isfinite(b)):
            return False
        scale = abs(start) if math.isfinite(start) else 0.0
        room = self.rtol * max(abs(a), abs(b)) + self.atol_of_start * scale + self.atol
        return abs(a - b) <= room


EXACT = ToleranceRule()
"""For two runs of the same code on a processor."""

REORDERED = ToleranceRule(1e-9, 1e-12)
"""For two versions of the code: the same arithmetic in another order is no change."""

PLATFORMS: Mapping[str, ToleranceRule] = {
    "float64": ToleranceRule(1e-6, 1e-9, 1e-12),
    "float32": ToleranceRule(1e-2, 1e-4, 1e-5),
}
"""For two platforms, by precision."""

OF_START = 1e-3
"""`atol_of_start` of a device, as a fraction of its tolerance."""


class Change(StrEnum):
    """The outcome of a comparison."""

    WORSE = "worse"
    """A regression beyond the tolerance."""
    MIXED = "mixed"
    """Worse in some and better in other parts, beyond the tolerance."""
    PROBABLE = "probably slower"
    """Its interval is beyond the tolerance; the test has not confirmed it yet."""
    BETTER = "better"
    """An improvement beyond the tolerance."""
    SAME = "same"
    """No change beyond the tolerance."""
    UNDECIDED = "undecided"
    """The budget was spent before the test decided."""
    NONE = "not compared"
    """It could not be compared; the explanation has the reason."""
    NEW = "new"
    """The first run does not exist."""


@dataclass(frozen=True)
class Finding:
    """The result of a comparison of two runs.

    Attributes
    ----------
    change : Change
    ratio, low, high : float
        Second / first, above 1 if the second is worse, and for time the bounds that hold at 95 %
        whenever the measuring stops; NaN without one.
    explanation : str
        The two values, ``"suboptimality 0.012 -> 0.014"``, or the reason without any.
    """

    change: Change
    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan
    explanation: str = ""


def device_rule(run: Run) -> ToleranceRule:
    """Return the rule for two runs of the same code on the device of a run."""
    try:
        tolerance = place_of(str(run.solver.parameters.get("on", "numpy"))).tolerance
    except UsageError:  # of a newer version
        return EXACT
    return ToleranceRule(tolerance, OF_START * tolerance)


def repeats(one: Run, other: Run) -> bool:
    """Return whether two runs of the same code are the same, by `device_rule`."""
    rule = device_rule(one)
    a, b = values(one), values(other)
    return (
        np.array_equal(work_table(one), work_table(other))
        and failure(one) == failure(other)
        and all(rule.same(x, y, one.start) for x, y in zip(a, b, strict=True))
    )


def failure(run: Run) -> str:
    """Return the status and reason of a failed run; empty if it did not fail."""
    return f"{run.stop.status.value}: {run.stop.reason}" if run.failed else ""


def values(run: Run) -> Array:
    """Return the primary metric at the checkpoints."""
    return np.array([mark.metrics[run.problem.primary] for mark in run.trace], dtype=np.float64)


def work_table(run: Run) -> Array:
    """Return a row of steps, samples and flops for each checkpoint."""
    return np.column_stack([read(run.trace, attrgetter(f"work.{name}")) for name in COUNTS])


def compare_results(base: Run, head: Run, tolerance: float) -> Finding:
    """Compare the last values of the primary metric; HEAD's may be larger by a part of BASE's."""
    if unlike := _unlike(base, head):
        return unlike
    rule = _rule(base, head)
    old, new = float(values(base)[-1]), float(values(head)[-1])
    floor = rule.atol_of_start * abs(base.start)
    change = _change(new - old, tolerance * abs(old), rule.rtol * abs(old) + floor)
    ratio = (new + floor) / (old + floor) if old + floor > 0 else math.nan
    compared = f"{base.problem.primary.replace('_', ' ')} {old:.6g} -> {new:.6g}"
    return Finding(change, ratio, ratio, ratio, compared)


def compare_work(base: Run, head: Run, tolerance: float) -> Finding:
    """Compare the steps, samples and flops to each target; report the largest change each way.

    Targets leave a part `LEFT` of the way from BASE's start to its end. The running median of a
    curve has to reach them, so that no lucky checkpoint counts. The whole run is a target too if
    both runs ended by themselves or took the same number of steps. A target that HEAD does not
    reach takes infinite work. HEAD's work may be larger by the tolerance, a part of BASE's.
    """
    if base.failed or head.failed:
        return Finding(Change.NONE, explanation="a run failed")
    if unlike := _unlike(base, head):
        return unlike
    if is_reproducible(base, head):
        rule = ToleranceRule(REORDERED.rtol)
        return _work(base, head, (rule, rule), tolerance)
    # if equal runs differ: HEAD is worse if it is so with all luck, better if so without any
    rule = _rule(base, head)
    lucky = _work(base, head, (EXACT, rule), tolerance)
    unlucky = _work(base, head, (rule, EXACT), tolerance)
    if lucky.change is Change.WORSE or lucky.change is unlucky.change:
        return lucky
    return unlucky if unlucky.change is Change.BETTER else replace(lucky, change=Change.SAME)


def is_reproducible(base: Run, head: Run) -> bool:
    """Return whether equal runs give equal bits: not on a GPU."""
    return device_rule(base) == device_rule(head) == EXACT


def differences(
    old: Mapping[str, float], new: Mapping[str, float], start: Mapping[str, float],
    rule: ToleranceRule, ignored: Iterable[str] = (),
) -> Iterator[tuple[str, Any, Any]]:  # fmt: skip
    """Yield the metrics of two checkpoints that are not the same, with both values."""
    for name in dict.fromkeys([*old, *new]):
        a, b = old.get(name), new.get(name)
        if name not in ignored and not rule.same(a, b, start.get(name, 0.0)):
            yield name, a, b


def _rule(base: Run, head: Run) -> ToleranceRule:
    return max(REORDERED, device_rule(base), device_rule(head), key=lambda rule: rule.rtol)


def _unlike(base: Run, head: Run) -> Finding | None:
    change = Change.NONE
    if head.failed and base.failed:
        why = f"both fail; HEAD {failure(head)}"
    elif head.failed:
        change, why = Change.WORSE, f"HEAD fails: {failure(head)}"
    elif base.failed:
        change, why = Change.BETTER, f"BASE fails: {failure(base)}"
    elif base.problem.primary != head.problem.primary:
        why = f"BASE is judged by {base.problem.primary}, HEAD by {head.problem.primary}"
    elif "seconds" in base.budget:
        why = "its budget is in seconds, so that its results depend on the machine"
    elif dict(base.budget) != dict(head.budget):
        limits = (", ".join(f"{limit:g} {name}" for name, limit in run.budget.items()) or "none"
                  for run in (base, head))  # fmt: skip
        why = f"the budgets are unequal: {' and '.join(limits)}"
    else:
        return None
    return Finding(change, explanation=why)


def _change(excess: float, tolerated: float, room: float) -> Change:
    if excess > tolerated + room:
        return Change.WORSE
    return Change.BETTER if excess < -(tolerated + room) else Change.SAME


def _work(
    base: Run, head: Run, rules: tuple[ToleranceRule, ToleranceRule], tolerance: float
) -> Finding:
    start, end = float(values(base)[0]), float(values(base)[-1])
    ends = work_table(base)[-1], work_table(head)[-1]
    spent: list[tuple[str, Array, Array]] = []
    if start - end > REORDERED.atol_of_start * abs(start):
        for left in LEFT:
            target = end + left * (start - end)
            old, new = (_reached(*each, target) for each in zip((base, head), rules, strict=True))
            spent.append((f"{left:g} of the way left", old, new))
    by_itself = {base.stop.status, head.stop.status} <= {RunStatus.DONE, RunStatus.TARGET}
    if ends[0][0] == ends[1][0] or (by_itself and is_reproducible(base, head)):
        spent.append(("to the end of the run", *ends))
    if not spent:
        return Finding(Change.NONE, explanation="BASE ends no better than it starts")
    ratios = np.array([_ratios(old, new) for _, old, new in spent])

    def described(at: tuple[Any, ...]) -> str:
        name, old, new = spent[at[0]]
        if np.isinf(new).all():
            return f"{name}: HEAD never gets there, BASE after {old[0]:,.0f} steps"
        return f"{name}: {old[at[1]]:,.0f} -> {new[at[1]]:,.0f} {COUNTS[at[1]]}"

    worst, best = (np.unravel_index(pick(ratios), ratios.shape) for pick in (np.argmax, np.argmin))
    worse, better = (_change(ratios[at] - 1.0, tolerance, REORDERED.rtol) for at in (worst, best))
    at, change = (best, better) if better is Change.BETTER else (worst, worse)
    text = described(at)
    if (worse, better) == (Change.WORSE, Change.BETTER):
        at, change = worst, Change.MIXED
        text = "; ".join(f"{described(at)} ({ratios[at] - 1:+.1%})" for at in (worst, best))
    ratio = float(ratios[at])
    return Finding(change, ratio, ratio, ratio, text)


def smoothed(curve: Array) -> Array:
    """Return the running median of a curve, shape (n,), over fewer points towards its ends."""
    n = len(curve)
    widths = (min(i, n - 1 - i, SMOOTH) for i in range(n))
    return np.array([np.median(curve[i - w : i + w + 1]) for i, w in enumerate(widths)])


def _reached(run: Run, rule: ToleranceRule, target: float) -> Array:
    room = rule.rtol * abs(target) + rule.atol_of_start * abs(run.start)
    there = np.flatnonzero(smoothed(values(run)) <= target + room)
    return work_table(run)[there[0]] if len(there) else np.full(len(COUNTS), np.inf)


def _ratios(old: Array, new: Array) -> Array:
    return np.where(old > 0, new / np.where(old > 0, old, 1), np.where(new > 0, np.inf, 1.0))
