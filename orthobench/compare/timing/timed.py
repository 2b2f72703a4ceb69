"""Cells that are timed, and what their rounds say: evidence alone, no process and no clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from orthobench.compare.comparison import Answer, Change
from orthobench.stats import sequential

ROUNDS = 4
"""The least rounds that decide anything of a cell."""

PAIRS = 3
"""Pairs of processes in which a cell has been timed before it is called slower."""

REACH = 0.1
"""An observation farther from what is tested than this counts as that far: a disturbance."""

RATE = 0.01
"""Of false discoveries among the cells that are called slower."""

ENOUGH = math.log(1 / 0.05)
"""Evidence that a cell is not slower beyond the tolerance, after which it is not timed any more."""


@dataclass
class Timed:
    """A cell that is timed.

    Attributes
    ----------
    key : str
        The worker's.
    steps : tuple of int
        Of BASE's run and of HEAD's.
    units : tuple of float
        The units of work that these are.
    runs : int
        Runs in a turn of a side; 0 as long as that is not known.
    turns : int
        Turns of each side in a round; 0 as long as that is not known.
    logs : list of float
        One for each round: the logarithm of HEAD's seconds for a unit of work over BASE's.
    seconds : tuple of float
        Seconds of a run of either side, in the latest round.
    pairs : set of int
        The pairs of processes that it was timed in.
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


def answers(cells: Sequence[Timed], tolerance: float) -> dict[str, Answer]:
    """Return what the rounds say of each cell, by key.

    Parameters
    ----------
    cells : sequence of Timed
    tolerance : float
        The part of BASE's seconds by which HEAD's may be larger.
    """
    slower = _slower(cells, tolerance)
    faster = _faster(cells, tolerance)
    return {
        cell.key: _answer(cell, tolerance, worse, better)
        for cell, worse, better in zip(cells, slower, faster, strict=True)
    }


def undecided(cells: Sequence[Timed], tolerance: float) -> list[Timed]:
    """Return the cells that more rounds could decide."""
    return [
        cell
        for cell, found in zip(cells, _slower(cells, tolerance), strict=True)
        if not (found or cell.failed or _not_slower(cell, tolerance))
    ]


def evidence(logs: Sequence[float], limit: float = 0.0) -> float:
    """Return the logarithm of the evidence that the mean of observations is above a limit."""
    return sequential.log_evidence(logs, limit, REACH)


def _slower(cells: Sequence[Timed], tolerance: float) -> list[bool]:
    """Return which cells are slower for sure, and beyond the tolerance as measured.

    That a cell is slower at all has to be beyond doubt, not that it is by more than the tolerance,
    which would leave a change of twice the tolerance undecided on most machines. An e-value that
    is taken for nothing as long as the ratio is tolerated is still one.
    """
    limit = math.log1p(tolerance)
    return sequential.discoveries(
        [_evidence_beyond(cell.logs, limit) if len(cell.pairs) >= PAIRS else -math.inf
         for cell in cells],
        RATE,
    )  # fmt: skip


def _faster(cells: Sequence[Timed], tolerance: float) -> list[bool]:
    limit = math.log1p(tolerance)
    beyond = [_evidence_beyond([-x for x in cell.logs], limit) for cell in cells]
    return sequential.discoveries(beyond, RATE)


def _evidence_beyond(logs: Sequence[float], limit: float) -> float:
    """Return the evidence that the mean is above zero, where the median is above the limit."""
    return evidence(logs) if logs and median(logs) > limit else -math.inf


def _not_slower(cell: Timed, tolerance: float) -> bool:
    """Return whether it is beyond doubt that the cell is not slower beyond the tolerance."""
    limit = math.log1p(tolerance)
    enough = evidence([-x for x in cell.logs], -limit) >= ENOUGH
    return enough and len(cell.logs) >= ROUNDS


def _answer(cell: Timed, tolerance: float, worse: bool, better: bool) -> Answer:
    if cell.failed:
        return Answer(Change.NONE, said=cell.failed)
    if not cell.logs:
        return Answer(Change.UNDECIDED, said="the budget was spent before it was timed")
    low, high = (math.exp(bound) for bound in sequential.bounds(cell.logs, reach=REACH))
    ratio = math.exp(median(cell.logs))
    if worse:
        change = Change.WORSE
    elif better:
        change = Change.BETTER
    else:
        change = Change.SAME if _not_slower(cell, tolerance) else Change.UNDECIDED
    old, new = (1e3 * seconds for seconds in cell.seconds)
    said = f"{old:.3g} -> {new:.3g} ms a run, {len(cell.logs)} rounds"
    return Answer(change, ratio, low, high, said)
