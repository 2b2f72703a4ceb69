"""Result and work: what does not depend on a clock is compared exactly.

Equal solver, problem and seed give equal bits, so that any difference comes from a change of the
code. What arithmetic in another order can do is no difference.
"""

from __future__ import annotations

import numpy as np

from orthobench.compare.comparison import Answer, Change
from orthobench.compare.curves import COUNTS, Curve
from orthobench.tools.arrays import Array

SAME_DIGITS = 1e-9
"""Values that differ by less than this part of themselves are the same."""

SOLVED = 1e-12
"""So are values below this part of the value at the start: nothing is left to improve."""

LEFT = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Targets: the part that is left of the way from BASE's start to the best that BASE reached."""


def result(base: Curve, head: Curve, tolerance: float) -> Answer:
    """Compare the last values of the primary metric.

    Parameters
    ----------
    base, head : Curve
    tolerance : float
        The part of BASE's value by which HEAD's may be larger.
    """
    if unlike := _unlike(base, head):
        return unlike
    old, new = float(base.values[-1]), float(head.values[-1])
    floor = SOLVED * _scale(base)
    room = SAME_DIGITS * abs(old) + floor
    ratio = (new + floor) / (old + floor) if old + floor > 0 else np.nan
    change = _change(new - old, tolerance * abs(old), room)
    said = f"{base.primary.replace('_', ' ')} {old:.6g} -> {new:.6g}"
    return Answer(change, ratio, ratio, ratio, said)


def work(base: Curve, head: Curve, tolerance: float) -> Answer:
    """Compare the steps, samples and flops to each target, and report the largest increase.

    Targets are values that leave a part `LEFT` of the way that BASE came, and the end of runs
    that came to an end of their own. A target that HEAD never reaches takes infinite work.

    Parameters
    ----------
    base, head : Curve
    tolerance : float
        The part of BASE's work by which HEAD's may be larger.
    """
    if base.failed or head.failed:
        return Answer(Change.NONE, said="a run failed")
    if unlike := _unlike(base, head):
        return unlike
    spent = [*_to_targets(base, head), *_to_the_end(base, head)]
    if not spent:
        return Answer(Change.NONE, said="BASE reaches nothing better than its start")
    ratios = [max(_ratio(old, new)) for _, old, new in spent]
    worst = int(np.argmax(ratios))
    ratio = ratios[worst]
    if ratio <= 1.0:
        worst = int(np.argmin(ratios))
        ratio = ratios[worst]
    change = _change(ratio - 1.0, tolerance, SAME_DIGITS)
    return Answer(change, ratio, ratio, ratio, _told(*spent[worst]))


def _unlike(base: Curve, head: Curve) -> Answer | None:
    """Return the answer where there are no two values to compare."""
    if head.failed and base.failed:
        return Answer(Change.NONE, said=f"both fail; HEAD {head.failed}")
    if head.failed:
        return Answer(Change.WORSE, said=f"HEAD fails: {head.failed}")
    if base.failed:
        return Answer(Change.BETTER, said=f"BASE fails: {base.failed}")
    if base.primary != head.primary:
        said = f"BASE is judged by {base.primary}, HEAD by {head.primary}"
        return Answer(Change.NONE, said=said)
    if dict(base.budget) != dict(head.budget):
        said = f"the budgets are unequal: {_limits(base)} and {_limits(head)}"
        return Answer(Change.NONE, said=said)
    return None


def _limits(curve: Curve) -> str:
    return ", ".join(f"{limit:g} {name}" for name, limit in curve.budget.items()) or "none"


def _change(excess: float, tolerated: float, room: float) -> Change:
    if excess > tolerated + room:
        return Change.WORSE
    if excess < -(tolerated + room):
        return Change.BETTER
    return Change.SAME


def _scale(curve: Curve) -> float:
    return abs(float(curve.values[0]))


def _to_targets(base: Curve, head: Curve) -> list[tuple[str, Array, Array]]:
    start, best = float(base.values[0]), float(base.values.min())
    targets = [(f"{left:g} of the way left", best + left * (start - best)) for left in LEFT]
    if not start - best > SOLVED * _scale(base):
        return []
    return [(name, _reached(base, target), _reached(head, target)) for name, target in targets]


def _to_the_end(base: Curve, head: Curve) -> list[tuple[str, Array, Array]]:
    if base.settled and head.settled:
        return [("to the end of the run", base.work[-1], head.work[-1])]
    return []


def _reached(curve: Curve, target: float) -> Array:
    """Return the work at the first checkpoint that is at the target; infinite without one."""
    there = np.flatnonzero(curve.values <= target * (1 + np.copysign(SAME_DIGITS, target)))
    return curve.work[there[0]] if len(there) else np.full(len(COUNTS), np.inf)


def _ratio(old: Array, new: Array) -> Array:
    """Return HEAD / BASE of each count; 1 where neither counts any."""
    return np.where(old > 0, new / np.where(old > 0, old, 1), np.where(new > 0, np.inf, 1.0))


def _told(name: str, old: Array, new: Array) -> str:
    worst = int(np.argmax(np.abs(_ratio(old, new) - 1)))
    if np.isinf(new).all():
        return f"{name}: HEAD never gets there, BASE after {old[0]:,.0f} steps"
    return f"{name}: {old[worst]:,.0f} -> {new[worst]:,.0f} {COUNTS[worst]}"
