"""Time side by side: A B B A ..., until each cell is decided.

In a round, each cell that is not decided yet is timed in turns A B B A A B .... A machine that
others share is now slow and now fast, by a fifth and for milliseconds or minutes, so that nothing
but two turns next to each other can be compared: the median of the logarithms of their ratios is
the round's one observation of the cell. Every round is served by fresh copies of the two sides'
processes, with their memory in another order, and every few rounds by fresh processes: where code
and data lie makes the same code some percent faster or slower, and a test that does not draw that
anew takes it for a change. (Curtsinger and Berger 2013, "Stabilizer: statistically sound
performance evaluation"; Kalibera and Jones 2013, "Rigorous benchmarking in reasonable time".)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from statistics import median

from orthobench.compare.comparison import Side
from orthobench.compare.timing.process import Process, SideError
from orthobench.compare.timing.timed import ROUNDS, Timed, evidence, undecided

SERVED = 2
"""The least rounds that a pair of processes serves."""

PART = 4
"""One of so many rounds is for all cells, the others for this part of them, which looks slow."""

SECONDS = 0.002
"""The least seconds of one turn of a side; a cell that is faster runs several times in a turn."""

TURNS = 12
"""Turns of each side in a round, where they are short."""

LONG = 1.0
"""Seconds of a cell in a round, after which it has fewer turns, but two of each side."""


@dataclass(frozen=True)
class Timing:
    """How to time.

    Attributes
    ----------
    tolerance : float
        The part of BASE's seconds by which HEAD's may be larger.
    budget : float
        Wall seconds for all rounds.
    clock : str
    threads : int
    patience : float
        Seconds that one request may take.
    """

    tolerance: float
    budget: float
    clock: str = "cpu"
    threads: int = 1
    patience: float = 600.0


Start = Callable[[Side], Process]
"""Starts a worker of a side, which is to reply when it has planned the cells."""


def measure(
    sides: tuple[Side, Side],
    cells: Sequence[Timed],
    timing: Timing,
    start: Start,
    tell: Callable[[str], None],
    now: Callable[[], float] = time.monotonic,
) -> int:
    """Time cells in rounds until all are decided or the budget is spent; return the rounds.

    The observations are added to the cells' ``logs``.
    """
    deadline = now() + timing.budget
    rounds = 0
    for number in count():
        if not (left := undecided(cells, timing.tolerance)) or now() > deadline:
            return rounds
        with ExitStack() as stack:
            began = now()
            pair = _started(sides, start, stack, swapped=number % 2 == 1)
            sound = _warm_up(left, pair)
            ready = now()
            # a pair is worth at least as much timing as it took to start
            for served in count():
                if not sound or (served >= SERVED and now() - ready > ready - began):
                    break
                if not (left := undecided(cells, timing.tolerance)) or now() > deadline:
                    return rounds
                tell(f"round {rounds + 1}: {len(left)} of {len(cells)} cells not decided")
                chosen = _chosen(left, rounds)
                sound = _round(chosen, pair, rounds % 2 == 1, number, lambda: now() > deadline)
                rounds += 1
    raise AssertionError("there is always another number")


def _chosen(cells: Sequence[Timed], rounds: int) -> Sequence[Timed]:
    """Return the cells of the next round: all, or those that look slow and are to be confirmed.

    Which cells are observed may depend on what was seen of them: evidence remains evidence.
    """
    if rounds % PART == 0 or min(len(cell.logs) for cell in cells) < ROUNDS:
        return cells
    by_evidence = sorted(cells, key=lambda cell: -evidence(cell.logs))
    return by_evidence[: math.ceil(len(cells) / PART)]


def _started(
    sides: tuple[Side, Side], start: Start, stack: ExitStack, swapped: bool
) -> tuple[Process, Process]:
    """Start a process of each side; `swapped` says which first."""
    first, second = (stack.enter_context(start(side)) for side in sides[:: -1 if swapped else 1])
    pair = (second, first) if swapped else (first, second)
    for process in pair:
        process.receive()
    return pair


def _warm_up(cells: Sequence[Timed], pair: tuple[Process, Process]) -> bool:
    """Compile and load in both processes what their copies will use; return whether they live."""
    for cell in cells:
        for process, steps in zip(pair, cell.steps, strict=True):
            process.send("time", key=cell.key, steps=steps, runs=1)
        seconds = [_first(process, cell) for process in pair]
        if not cell.runs and not cell.failed:
            cell.runs = math.ceil(SECONDS / max(min(seconds), 1e-6))
            cell.turns = min(TURNS, max(2, int(LONG / (cell.runs * sum(seconds)))))
    return all(process.alive for process in pair)


def _first(process: Process, cell: Timed) -> float:
    try:
        return float(process.receive()["seconds"][0])
    except SideError as error:
        cell.failed = f"cannot be timed: {error}"
        return math.nan


def _round(
    cells: Sequence[Timed],
    pair: tuple[Process, Process],
    swapped: bool,
    number: int,
    late: Callable[[], bool],
) -> bool:
    """Add an observation to each cell, in fresh copies of both processes.

    Returns whether the processes can serve another round.
    """
    for process in pair:
        process.ask("begin")
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


def _observe(cell: Timed, pair: tuple[Process, Process], swapped: bool) -> None:
    """Add the observation of turns A B B A ..., or B A A B ... in swapped rounds."""
    turns: tuple[list[float], list[float]] = ([], [])
    for turn in range(cell.turns):
        for side in (1, 0) if swapped ^ turn % 2 else (0, 1):
            reply = pair[side].ask("time", key=cell.key, steps=cell.steps[side], runs=cell.runs)
            turns[side].append(sum(reply["seconds"]) / cell.runs)
    ratios = [math.log(head / base) for base, head in zip(*turns, strict=True)]
    cell.seconds = (median(turns[0]), median(turns[1]))
    cell.logs.append(median(ratios) - _log_units(cell))


def _log_units(cell: Timed) -> float:
    base, head = cell.units
    return math.log(head / base)
