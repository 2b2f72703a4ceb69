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
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median

from orthobench.compare.process import SideError, SideProcess
from orthobench.compare.sides import Side
from orthobench.stats import sequential
from orthobench.stats.run_pairs import Change, Finding, Key

ROUNDS_OF_A_PAIR = 2  # the fewest rounds for which a pair of processes is kept
PART = 4  # every fourth round is for all cells, the others for the fourth that looks slowest
SECONDS = 0.002  # the shortest turn of a side; a faster cell runs several times in a turn
TURNS = 12  # of each side in a round of a short cell
LONG = 1.0  # seconds of a cell in a round, beyond which it has fewer turns; two at least
ROUNDS = 4  # the fewest rounds that decide anything about a cell
PAIRS = 3  # of processes in which a cell has to be timed before it is called slower
REACH = 0.1  # how far from the tested value an observation counts; beyond, it is a disturbance
RATE = 0.01  # the expected part of false discoveries among the cells that are called slower
ENOUGH = math.log(1 / 0.05)  # evidence that a cell is not slower, at which its timing ends


@dataclass
class TimedCell:
    """A cell that is timed.

    Attributes
    ----------
    key : tuple
        Problem, solver and seed.
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
    seconds : float
        Seconds of a run of BASE, in the latest round.
    pairs : set of int
        The pairs of processes that have timed it.
    failed : str
        Why it cannot be timed.
    """

    key: Key
    steps: tuple[int, int]
    units: tuple[float, float]
    runs: int = 0
    turns: int = 0
    logs: list[float] = field(default_factory=list)
    seconds: float = math.nan
    pairs: set[int] = field(default_factory=set)
    failed: str = ""


def measure(
    sides: Sequence[Side], cells: Sequence[TimedCell], tolerance: float, budget: float,
    start: Callable[[Side], SideProcess], progress: Callable[[str], None],
    now: Callable[[], float] = time.monotonic,
) -> int:  # fmt: skip
    """Time cells in rounds until all are decided or the budget is spent; return the rounds.

    Parameters
    ----------
    sides : sequence of Side
        BASE and HEAD.
    cells : sequence of TimedCell
        The observations are added to their ``logs``.
    tolerance : float
        The part of BASE's seconds by which HEAD's may be larger.
    budget : float
        Wall seconds.
    start : callable
        Starts a worker of a side, whose first reply says that it has planned the cells.
    progress : callable
        Called with what is being done.
    now : callable
        Reads the clock of the budget, in seconds.
    """
    deadline, rounds, number = now() + budget, 0, 0
    while (left := undecided(cells, tolerance)) and now() <= deadline:
        with ExitStack() as stack:
            begin = now()
            order = (1, 0) if number % 2 else (0, 1)
            started = {i: stack.enter_context(start(sides[i])) for i in order}
            pair = [started[0], started[1]]
            for process in pair:
                process.reply()
            alive = _warm_up(left, pair)
            ready, done = now(), 0
            while alive and (left := undecided(cells, tolerance)) and now() <= deadline:
                # a pair is used for at least as long as it took to start
                if done >= ROUNDS_OF_A_PAIR and now() - ready > ready - begin:
                    break
                progress(f"round {rounds + 1}: {len(left)} of {len(cells)} cells not decided")
                timely = (cell for cell in _next_cells(left, rounds) if now() <= deadline)
                alive = _round(timely, pair, rounds % 2 == 1, number)
                rounds, done = rounds + 1, done + 1
        number += 1
    return rounds


def _next_cells(cells: Sequence[TimedCell], rounds: int) -> Sequence[TimedCell]:
    """Return the cells of the next round: all, or those that look slow and have to be confirmed.

    The choice may depend on earlier observations: the evidence stays valid.
    """
    if rounds % PART == 0 or min(len(cell.logs) for cell in cells) < ROUNDS:
        return cells
    by_evidence = sorted(cells, key=lambda cell: -evidence(cell.logs))
    return by_evidence[: math.ceil(len(cells) / PART)]


def _warm_up(cells: Sequence[TimedCell], pair: Sequence[SideProcess]) -> bool:
    """Compile and load in both processes what their copies will use.

    Return False as soon as one of them has died.
    """
    for cell in cells:
        for process, steps in zip(pair, cell.steps, strict=True):
            process.request("time", key=cell.key, steps=steps, runs=1)
        seconds = []
        for process in pair:
            try:
                seconds += process.reply()["seconds"]
            except SideError as error:
                cell.failed = f"cannot be timed: {error}"
        if not cell.runs and not cell.failed:
            cell.runs = math.ceil(SECONDS / max(min(seconds), 1e-6))
            cell.turns = min(TURNS, max(2, int(LONG / (cell.runs * sum(seconds)))))
        if not all(process.alive for process in pair):
            return False
    return True


def _round(
    cells: Iterable[TimedCell], pair: Sequence[SideProcess], swapped: bool, number: int
) -> bool:
    """Add an observation to each cell, in fresh copies of both processes.

    Return whether the processes can serve another round.
    """
    for process in pair:
        process.begin()
    for cell in cells:
        try:
            _observe(cell, pair, swapped)
        except SideError as error:
            cell.failed = f"cannot be timed: {error}"
            return False
        cell.pairs.add(number)
    for process in pair:
        process.ask("end")
    return True


def _observe(cell: TimedCell, pair: Sequence[SideProcess], swapped: bool) -> None:
    """Add the observation of turns A B B A ..., or B A A B ... in swapped rounds."""
    turns: tuple[list[float], list[float]] = ([], [])
    for turn in range(cell.turns):
        for side in (1, 0) if swapped ^ turn % 2 else (0, 1):
            reply = pair[side].ask("time", key=cell.key, steps=cell.steps[side], runs=cell.runs)
            turns[side].append(sum(reply["seconds"]) / cell.runs)
    ratios = [math.log(head / base) for base, head in zip(*turns, strict=True)]
    cell.seconds = median(turns[0])
    cell.logs.append(median(ratios) - math.log(cell.units[1] / cell.units[0]))


def findings(cells: Sequence[TimedCell], tolerance: float) -> dict[Key, Finding]:
    """Return the answer for each cell.

    Parameters
    ----------
    cells : sequence of TimedCell
    tolerance : float
        The part of BASE's seconds by which HEAD's may be larger.
    """
    answers = {}
    for cell, change in zip(cells, _decide(cells, tolerance), strict=True):
        if cell.failed:
            answers[cell.key] = Finding(Change.NONE, explanation=cell.failed)
        elif not cell.logs:
            why = "the budget was spent before it was timed"
            answers[cell.key] = Finding(Change.UNDECIDED, explanation=why)
        else:
            low, high = (math.exp(bound) for bound in sequential.bounds(cell.logs, reach=REACH))
            beyond = change is Change.UNDECIDED and low > 1 + tolerance
            answer = Change.PROBABLE if beyond else change
            # no seconds of HEAD: medians of ratios and ratios of medians may contradict each other
            said = f"{1e3 * cell.seconds:.3g} ms a run in BASE, {len(cell.logs)} rounds"
            answers[cell.key] = Finding(answer, math.exp(median(cell.logs)), low, high, said)
    return answers


def undecided(cells: Sequence[TimedCell], tolerance: float) -> list[TimedCell]:
    """Return the cells that more rounds could decide."""
    changes = zip(cells, _decide(cells, tolerance), strict=True)
    return [cell for cell, change in changes if change is Change.UNDECIDED and not cell.failed]


def evidence(logs: Sequence[float], limit: float = 0.0) -> float:
    """Return the logarithm of the evidence that the mean of observations is above a limit."""
    return sequential.log_evidence(logs, limit, REACH)


def _decide(cells: Sequence[TimedCell], tolerance: float) -> list[Change]:
    """Return which cells are certainly slower, faster, or not slower beyond the tolerance.

    It must be certain that a cell is slower at all. That it is so by more than the tolerance need
    only be measured: to be certain of that too would leave a change of twice the tolerance
    undecided on most machines. An e-value that is ignored while the ratio is tolerated is still an
    e-value.
    """
    limit = math.log1p(tolerance)

    def beyond(logs: Sequence[float]) -> float:
        return evidence(logs) if logs and median(logs) > limit else -math.inf

    logs, turned = [cell.logs for cell in cells], [[-x for x in cell.logs] for cell in cells]
    seen = [x if len(cell.pairs) >= PAIRS else [] for cell, x in zip(cells, logs, strict=True)]
    slower = sequential.discoveries([*map(beyond, seen)], RATE)
    faster = sequential.discoveries([*map(beyond, turned)], RATE)
    same = [len(x) >= ROUNDS and evidence(x, -limit) >= ENOUGH for x in turned]
    return [
        Change.WORSE if worse else Change.BETTER if better else Change.SAME if equal
        else Change.UNDECIDED for worse, better, equal in zip(slower, faster, same, strict=True)
    ]  # fmt: skip
