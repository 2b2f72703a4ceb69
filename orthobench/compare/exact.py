"""Result and work, compared exactly because neither depends on a clock.

Equal solver, problem and seed give equal bits, so that any difference comes from a change of the
code. Differences as small as those from arithmetic in another order do not count, nor do those
between two runs of the same code on a GPU (`Curve.slack`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from orthobench.compare.comparison import Answer, Change
from orthobench.compare.curves import COUNTS, EXACT, Curve, Slack
from orthobench.tools.arrays import Array

SAME_DIGITS = 1e-9
"""Values that differ by a smaller part than this count as the same."""

SOLVED = 1e-12
"""Differences below this part of the value at the start do not count: the problem is solved."""

USUAL = Slack(SAME_DIGITS, SOLVED)
"""What counts as the same value on processors."""

LEFT = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Targets, as the part that is left of the way from BASE's start to the best value of BASE."""


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
    slack = _slack(base, head)
    floor = slack.solved * _scale(base)
    room = slack.digits * abs(old) + floor
    ratio = (new + floor) / (old + floor) if old + floor > 0 else np.nan
    change = _change(new - old, tolerance * abs(old), room)
    values = f"{base.primary.replace('_', ' ')} {old:.6g} -> {new:.6g}"
    return Answer(change, ratio, ratio, ratio, values)


def work(base: Curve, head: Curve, tolerance: float) -> Answer:
    """Compare the steps, samples and flops to each target, and report the largest increase.

    Targets are the values that leave a part `LEFT` of BASE's way, and the end of the run where
    both runs ended by themselves. A target that HEAD never reaches takes infinite work.

    Parameters
    ----------
    base, head : Curve
    tolerance : float
        The part of BASE's work by which HEAD's may be larger.
    """
    if base.failed or head.failed:
        return Answer(Change.NONE, explanation="a run failed")
    if unlike := _unlike(base, head):
        return unlike
    room = _slack(base, head)
    if _reproducible(base, head):
        return _work(base, head, (Slack(SAME_DIGITS), Slack(SAME_DIGITS)), tolerance)
    # where equal runs differ, HEAD is worse if it is so with all luck, better if so without any
    lucky = _work(base, head, (EXACT, room), tolerance)
    if lucky.change is not Change.BETTER:
        return lucky
    unlucky = _work(base, head, (room, EXACT), tolerance)
    return unlucky if unlucky.change is Change.BETTER else replace(unlucky, change=Change.SAME)


def _work(base: Curve, head: Curve, slack: tuple[Slack, Slack], tolerance: float) -> Answer:
    """Compare the work to each target, which either side may miss by its slack."""
    spent = [*_to_targets(base, head, slack), *_to_the_end(base, head)]
    if not spent:
        return Answer(Change.NONE, explanation="BASE reaches nothing better than its start")
    ratios = [max(_ratio(old, new)) for _, old, new in spent]
    worst = int(np.argmax(ratios))
    ratio = ratios[worst]
    if ratio <= 1.0:
        worst = int(np.argmin(ratios))
        ratio = ratios[worst]
    change = _change(ratio - 1.0, tolerance, SAME_DIGITS)
    return Answer(change, ratio, ratio, ratio, _described(*spent[worst]))


def _reproducible(base: Curve, head: Curve) -> bool:
    """Return whether equal runs give equal bits."""
    return base.slack == head.slack == EXACT


def _slack(base: Curve, head: Curve) -> Slack:
    """Return what counts as the same value: more on a GPU."""
    return max(USUAL, base.slack, head.slack, key=lambda slack: slack.digits)


def _unlike(base: Curve, head: Curve) -> Answer | None:
    """Return the answer for curves that cannot be compared, None for those that can."""
    if head.failed and base.failed:
        return Answer(Change.NONE, explanation=f"both fail; HEAD {head.failed}")
    if head.failed:
        return Answer(Change.WORSE, explanation=f"HEAD fails: {head.failed}")
    if base.failed:
        return Answer(Change.BETTER, explanation=f"BASE fails: {base.failed}")
    if base.primary != head.primary:
        metrics = f"BASE is judged by {base.primary}, HEAD by {head.primary}"
        return Answer(Change.NONE, explanation=metrics)
    if dict(base.budget) != dict(head.budget):
        budgets = f"the budgets are unequal: {_limits(base)} and {_limits(head)}"
        return Answer(Change.NONE, explanation=budgets)
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


def _to_targets(
    base: Curve, head: Curve, slack: tuple[Slack, Slack]
) -> list[tuple[str, Array, Array]]:
    start, best = float(base.values[0]), float(base.values.min())
    targets = [(f"{left:g} of the way left", best + left * (start - best)) for left in LEFT]
    if not start - best > SOLVED * _scale(base):
        return []
    return [
        (name, _reached(base, target, slack[0]), _reached(head, target, slack[1]))
        for name, target in targets
    ]


def _to_the_end(base: Curve, head: Curve) -> list[tuple[str, Array, Array]]:
    if _reproducible(base, head) and base.settled and head.settled:
        return [("to the end of the run", base.work[-1], head.work[-1])]
    return []


def _reached(curve: Curve, target: float, slack: Slack) -> Array:
    """Return the work at the first checkpoint that meets the target; infinite where none does."""
    room = slack.digits * abs(target) + slack.solved * _scale(curve)
    there = np.flatnonzero(curve.values <= target + room)
    return curve.work[there[0]] if len(there) else np.full(len(COUNTS), np.inf)


def _ratio(old: Array, new: Array) -> Array:
    """Return HEAD / BASE of each count; 1 where neither counts any."""
    return np.where(old > 0, new / np.where(old > 0, old, 1), np.where(new > 0, np.inf, 1.0))


def _described(name: str, old: Array, new: Array) -> str:
    worst = int(np.argmax(np.abs(_ratio(old, new) - 1)))
    if np.isinf(new).all():
        return f"{name}: HEAD never gets there, BASE after {old[0]:,.0f} steps"
    return f"{name}: {old[worst]:,.0f} -> {new[worst]:,.0f} {COUNTS[worst]}"
