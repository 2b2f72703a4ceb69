"""The cells that are timed, and what their observations say; no process and no clock in here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from orthobench.compare.comparison import Answer, Change
from orthobench.stats import sequential

ROUNDS = 4
"""The fewest rounds that decide anything about a cell."""

PAIRS = 3
"""Pairs of processes in which a cell has to be timed before it is called slower."""

REACH = 0.1
"""How far from the tested value an observation counts at most; beyond, it is a disturbance."""

RATE = 0.01
"""The expected part of false discoveries among the cells that are called slower."""

ENOUGH = math.log(1 / 0.05)
"""Evidence that a cell is not slower beyond the tolerance, at which its timing ends."""


@dataclass
class TimedCell:
    """A cell that is timed.

    Attributes
    ----------
    key : str
        The worker's name for it.
    steps : tuple of int
        The steps of BASE's run and of HEAD's.
    units : tuple of float
        The units of work of these runs.
    runs : int
        Runs in a turn of a side; 0 until it is known.
    turns : int
        Turns of each side in a round; 0 until it is known.
    logs : list of float
        One for each round: the logarithm of HEAD's seconds for a unit of work over BASE's.
    seconds : tuple of float
        Seconds of a run of each side, in the latest round.
    pairs : set of int
        The pairs of processes that have timed it.
    failed : str
        Why it cannot be timed.
    """

    key: str
    steps: tuple[int, int]
    units: tuple[float, float]
    runs: int = 0
    turns: int = 0
    logs: list[float] = field(default_factory=list)
    seconds: tuple[float, float] = (math.nan, math.nan)
    pairs: set[int] = field(default_factory=set)
    failed: str = ""


def answers(cells: Sequence[TimedCell], tolerance: float) -> dict[str, Answer]:
    """Return the answer for each cell, by key.

    Parameters
    ----------
    cells : sequence of TimedCell
    tolerance : float
        The part of BASE's seconds by which HEAD's may be larger.
    """
    slower = _slower(cells, tolerance)
    faster = _faster(cells, tolerance)
    return {
        cell.key: _answer(cell, tolerance, worse, better)
        for cell, worse, better in zip(cells, slower, faster, strict=True)
    }


def undecided(cells: Sequence[TimedCell], tolerance: float) -> list[TimedCell]:
    """Return the cells that more rounds could decide."""
    return [
        cell
        for cell, found in zip(cells, _slower(cells, tolerance), strict=True)
        if not (found or cell.failed or _not_slower(cell, tolerance))
    ]


def evidence(logs: Sequence[float], limit: float = 0.0) -> float:
    """Return the logarithm of the evidence that the mean of observations is above a limit."""
    return sequential.log_evidence(logs, limit, REACH)


def _slower(cells: Sequence[TimedCell], tolerance: float) -> list[bool]:
    """Return which cells are certainly slower, and measured to be so beyond the tolerance.

    It must be certain that a cell is slower at all. That it is so by more than the tolerance need
    only be measured: to be certain of that too would leave a change of twice the tolerance
    undecided on most machines. An e-value that is ignored while the ratio is tolerated is still an
    e-value.
    """
    limit = math.log1p(tolerance)
    return sequential.discoveries(
        [_evidence_beyond(cell.logs, limit) if len(cell.pairs) >= PAIRS else -math.inf
         for cell in cells],
        RATE,
    )  # fmt: skip


def _faster(cells: Sequence[TimedCell], tolerance: float) -> list[bool]:
    limit = math.log1p(tolerance)
    beyond = [_evidence_beyond([-x for x in cell.logs], limit) for cell in cells]
    return sequential.discoveries(beyond, RATE)


def _evidence_beyond(logs: Sequence[float], limit: float) -> float:
    """Return the evidence that the mean is above zero, where the median is above the limit."""
    return evidence(logs) if logs and median(logs) > limit else -math.inf


def _not_slower(cell: TimedCell, tolerance: float) -> bool:
    """Return whether the cell is certainly not slower beyond the tolerance."""
    limit = math.log1p(tolerance)
    enough = evidence([-x for x in cell.logs], -limit) >= ENOUGH
    return enough and len(cell.logs) >= ROUNDS


def _answer(cell: TimedCell, tolerance: float, worse: bool, better: bool) -> Answer:
    if cell.failed:
        return Answer(Change.NONE, explanation=cell.failed)
    if not cell.logs:
        return Answer(Change.UNDECIDED, explanation="the budget was spent before it was timed")
    low, high = (math.exp(bound) for bound in sequential.bounds(cell.logs, reach=REACH))
    ratio = math.exp(median(cell.logs))
    if worse:
        change = Change.WORSE
    elif better:
        change = Change.BETTER
    else:
        change = Change.SAME if _not_slower(cell, tolerance) else Change.UNDECIDED
    old, new = (1e3 * seconds for seconds in cell.seconds)
    explanation = f"{old:.3g} -> {new:.3g} ms a run, {len(cell.logs)} rounds"
    return Answer(change, ratio, low, high, explanation)
