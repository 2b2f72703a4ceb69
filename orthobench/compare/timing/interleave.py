"""Timing of both sides by turns, A B B A ..., until each cell is decided.

In a round, each cell that is not decided yet is timed in turns A B B A A B .... A shared machine is
now slow and now fast, by a fifth and for milliseconds or minutes, so that only two turns next to
each other can be compared: the median of the logarithms of their ratios is the round's one
observation of the cell. Every round runs in fresh copies of the two sides' processes, with their
memory in another order, and every few rounds in fresh processes: the place of code and data in
memory makes the same code some percent faster or slower, and a test that does not draw it anew
takes that for a change. (Curtsinger and Berger 2013, "Stabilizer: statistically sound
performance evaluation"; Kalibera and Jones 2013, "Rigorous benchmarking in reasonable time".)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import count
from statistics import median

from orthobench.compare.comparison import Side
from orthobench.compare.process import SideError, SideProcess
from orthobench.compare.timing.timed import ROUNDS, TimedCell, evidence, undecided

ROUNDS_OF_A_PAIR = 2
"""The fewest rounds for which a pair of processes is kept."""

PART = 4
"""Every fourth round is for all cells, the others for the fourth of them that looks slowest."""

SECONDS = 0.002
"""The shortest turn of a side, in seconds; a faster cell runs several times in a turn."""

TURNS = 12
"""Turns of each side in a round of a short cell."""

LONG = 1.0
"""Seconds of a cell in a round, beyond which it has fewer turns; two of each side at least."""

Start = Callable[[Side], SideProcess]
"""Starts a worker of a side, whose first reply says that it has planned the cells."""


def measure(
    sides: tuple[Side, Side],
    cells: Sequence[TimedCell],
    tolerance: float,
    budget: float,
    start: Start,
    progress: Callable[[str], None],
    now: Callable[[], float] = time.monotonic,
) -> int:
    """Time cells in rounds until all are decided or the budget is spent; return the rounds.

    Parameters
    ----------
    sides : tuple of Side
        BASE and HEAD.
    cells : sequence of TimedCell
        The observations are added to their ``logs``.
    tolerance : float
        The part of BASE's seconds by which HEAD's may be larger.
    budget : float
        Wall seconds.
    start : callable
        Starts a worker of a side.
    progress : callable
        Called with what is being done.
    now : callable
        Reads the clock of the budget, in seconds.
    """
    deadline = now() + budget
    rounds = 0
    for number in count():
        if not (left := undecided(cells, tolerance)) or now() > deadline:
            return rounds
        with ExitStack() as stack:
            begin = now()
            pair = _started(sides, start, stack, swapped=number % 2 == 1)
            alive = _warm_up(left, pair)
            ready = now()
            # a pair is used for at least as long as it took to start
            for done in count():
                if not alive or (done >= ROUNDS_OF_A_PAIR and now() - ready > ready - begin):
                    break
                if not (left := undecided(cells, tolerance)) or now() > deadline:
                    return rounds
                progress(f"round {rounds + 1}: {len(left)} of {len(cells)} cells not decided")
                chosen = _chosen(left, rounds)
                alive = _round(chosen, pair, rounds % 2 == 1, number, lambda: now() > deadline)
                rounds += 1
    raise AssertionError("there is always another number")


def _chosen(cells: Sequence[TimedCell], rounds: int) -> Sequence[TimedCell]:
    """Return the cells of the next round: all, or those that look slow and have to be confirmed.

    The choice may depend on earlier observations: the evidence stays valid.
    """
    if rounds % PART == 0 or min(len(cell.logs) for cell in cells) < ROUNDS:
        return cells
    by_evidence = sorted(cells, key=lambda cell: -evidence(cell.logs))
    return by_evidence[: math.ceil(len(cells) / PART)]


def _started(
    sides: tuple[Side, Side], start: Start, stack: ExitStack, swapped: bool
) -> tuple[SideProcess, SideProcess]:
    """Start a process of each side; HEAD's first where `swapped`."""
    first, second = (stack.enter_context(start(side)) for side in sides[:: -1 if swapped else 1])
    pair = (second, first) if swapped else (first, second)
    for process in pair:
        process.reply()
    return pair


def _warm_up(cells: Sequence[TimedCell], pair: tuple[SideProcess, SideProcess]) -> bool:
    """Compile and load in both processes what their copies will use.

    Return False as soon as one of them has died.
    """
    for cell in cells:
        for process, steps in zip(pair, cell.steps, strict=True):
            process.request("time", key=cell.key, steps=steps, runs=1)
        seconds = [_first(process, cell) for process in pair]
        if not cell.runs and not cell.failed:
            cell.runs = math.ceil(SECONDS / max(min(seconds), 1e-6))
            cell.turns = min(TURNS, max(2, int(LONG / (cell.runs * sum(seconds)))))
        if not all(process.alive for process in pair):
            return False
    return True


def _first(process: SideProcess, cell: TimedCell) -> float:
    try:
        return float(process.reply()["seconds"][0])
    except SideError as error:
        cell.failed = f"cannot be timed: {error}"
        return math.nan


def _round(
    cells: Sequence[TimedCell],
    pair: tuple[SideProcess, SideProcess],
    swapped: bool,
    number: int,
    late: Callable[[], bool],
) -> bool:
    """Add an observation to each cell, in fresh copies of both processes.

    Return whether the processes can serve another round.
    """
    for process in pair:
        process.begin()
    for cell in cells:
        if late():
            break
        try:
            _observe(cell, pair, swapped)
        except SideError as error:
            cell.failed = f"cannot be timed: {error}"
            return False
        cell.pairs.add(number)
    for process in pair:
        process.ask("end")
    return True


def _observe(cell: TimedCell, pair: tuple[SideProcess, SideProcess], swapped: bool) -> None:
    """Add the observation of turns A B B A ..., or B A A B ... in swapped rounds."""
    turns: tuple[list[float], list[float]] = ([], [])
    for turn in range(cell.turns):
        for side in (1, 0) if swapped ^ turn % 2 else (0, 1):
            reply = pair[side].ask("time", key=cell.key, steps=cell.steps[side], runs=cell.runs)
            turns[side].append(sum(reply["seconds"]) / cell.runs)
    ratios = [math.log(head / base) for base, head in zip(*turns, strict=True)]
    cell.seconds = (median(turns[0]), median(turns[1]))
    cell.logs.append(median(ratios) - _log_units(cell))


def _log_units(cell: TimedCell) -> float:
    base, head = cell.units
    return math.log(head / base)
