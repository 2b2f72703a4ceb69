"""Timing of both sides by turns, A B B A ..., until each cell is decided.

The speed of a shared machine varies, so only neighbouring turns are compared: the median logarithm
of their ratios is the one observation of a cell in a round. Addresses alone make code some percent
faster or slower. So each round runs in fresh copies of both processes with other addresses, and
every few rounds in fresh processes.

Curtsinger and Berger 2013, "Stabilizer: statistically sound performance evaluation"; Kalibera and
Jones 2013, "Rigorous benchmarking in reasonable time".
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any, TypeAlias

from orthobench.compare.cells import SideError, SideProcess
from orthobench.compare.options import TOLERANCE, Options, Question
from orthobench.compare.sides import Side
from orthobench.results.runs import Run
from orthobench.stats import sequential
from orthobench.stats.run_pairs import Change, Finding, Key
from orthobench.tools.formatting import duration, percent, plural
from orthobench.tools.machine import readable

ROUNDS_OF_A_PAIR = 2  # minimum number of rounds of a pair of processes
PART = 4  # every fourth round is for all cells, the others for the fourth that looks slowest
SECONDS = 0.002  # minimum time of a turn; a faster cell runs several times in a turn
TURNS = 12  # of each side in a round of a short cell
LONG = 1.0  # seconds of a cell in a round, beyond which it has fewer turns
ROUNDS = 4  # minimum number of rounds to decide anything about a cell
PAIRS = 3  # minimum number of pairs of processes to call a cell slower
REACH = 0.1  # maximum distance of an observation from the tested value; beyond, it is cut off
RATE = 0.01  # the expected part of false discoveries among the cells that are called slower
ENOUGH = math.log(1 / 0.05)  # the evidence that a cell is not slower, at which its timing ends
FAR = math.log(1.25)  # no address makes code slower by this, so that one pair is enough
FEW = 3  # minimum number of rounds for that
# minimum number of observations of quantities that are observed few times
FEWEST = {Question.MEMORY: 3, Question.IMPORT: 5, Question.FIRST: 5}
# tolerated differences in any case, in bytes and seconds
FLOORS = {Question.MEMORY: 4.0 * 2**20, Question.IMPORT: 0.1, Question.FIRST: 0.2}
PATIENCE = 30  # maximum time of a run that is timed, in times of its first run
SHORTEST = 10.0  # but at least this, in seconds

Pair: TypeAlias = tuple[float, float]
"""An observation of BASE and of HEAD."""


@dataclass
class TimedCell:
    """A cell that is timed.

    Attributes
    ----------
    key : tuple
    steps, units : tuple
        Steps and units of work of both runs.
    runs, turns : int
        Runs in a turn, and turns of each side in a round; 0 if unknown.
    logs : list of float
        For each round, the logarithm of the ratio of seconds for a unit of work.
    seconds, steady : float, tuple of float
        Seconds of a run in the latest round: BASE's; both, without waiting for a processor.
    pairs : set of int
        Pairs of processes that timed it.
    failed : str
        The reason if it cannot be timed.
    first, peaks : list of tuple
        Seconds of first runs in a process, and bytes at the peaks of runs.
    patience : float
        Maximum seconds of a run.
    alone : bool
        Whether copies of a process cannot time it.
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
    tolerance: Mapping[str, float] = field(default_factory=lambda: TOLERANCE)
    steady: Pair = (math.nan, math.nan)
    first: list[Pair] = field(default_factory=list)
    peaks: list[Pair] = field(default_factory=list)
    patience: float = SHORTEST
    alone: bool = False

    @property
    def limit(self) -> float:
        """The logarithm of the maximum ratio that is tolerated."""
        return math.log1p(self.tolerance[Question.TIME])

    @property
    def evidence(self) -> float:
        """The logarithm of the evidence of a change; the largest is timed first."""
        return evidence(self.logs)


def timed_cell(key: Key, base: Run, head: Run, options: Options) -> TimedCell | None:
    """Return the cell with two runs; None if one failed or took no step."""
    if base.failed or head.failed or not (base.trace and head.trace):
        return None
    old, new = base.trace[-1].work, head.trace[-1].work
    steps, samples = (old.steps, new.steps), (old.samples, new.samples)
    units = samples if all(samples) else steps
    tolerance = options.tolerated(*key[:2])
    return TimedCell(key, steps, units, tolerance=tolerance) if all(steps) else None


def undecided(cells: Sequence[TimedCell], options: Options, prolonged: bool) -> list[TimedCell]:
    """Return the cells that more rounds could decide; if prolonged, those that no gate passes."""
    left = [
        cell for cell, change in zip(cells, _decide(cells), strict=True) if not cell.failed
        and Change.UNDECIDED in {change, *(answer.change for answer in _few(cell).values())}
    ]  # fmt: skip
    if prolonged:
        known = findings(cells)
        left = [x for x in left if not all(map(options.settled, known[x.key].values()))]
    return left


def measure(
    sides: Sequence[Side], cells: Sequence[TimedCell], options: Options,
    plan: Mapping[str, Any], progress: Callable[[str], None],
    now: Callable[[], float] = time.monotonic,
    choose: Callable[[bool], Sequence[TimedCell]] | None = None,
) -> int:  # fmt: skip
    """Time cells in rounds until all are decided or the budget, doubled once, is spent.

    The budget begins with the first round, and again if it is doubled.

    Parameters
    ----------
    cells : sequence of TimedCell
        The observations are added to them.
    plan : mapping
        Arguments of the request ``plan``.
    now : callable
        The clock of the budget, in seconds.
    choose : callable, optional
        Returns the cells of the next round; with true, of a doubled budget [default: `undecided`].

    Returns
    -------
    int
        The number of rounds.
    """
    choose = choose or partial(undecided, cells, options)
    rounds = number = 0
    for prolonged in (False, True):
        deadline = math.inf if options.budget else -math.inf
        while now() <= deadline and (left := choose(prolonged)):
            with ExitStack() as stack:
                begin = now()
                order = (1, 0) if number % 2 else (0, 1)
                started = [stack.enter_context(SideProcess(sides[i], options, plan)) for i in order]
                pair = [started[i] for i in order]  # an order is its own inverse
                for process in pair:
                    process.reply()
                alive = _warm_up(left, pair, order)
                # without copies, rounds of one pair would share their places in memory
                copies = not any(cell.alone for cell in left)
                ready, done = now(), 0
                # a busy machine starts processes slowly
                deadline = min(deadline, ready + options.budget)
                while alive and now() <= deadline and (left := choose(prolonged)):
                    # a pair is used for at least as long as it took to start
                    if done >= ROUNDS_OF_A_PAIR and now() - ready > ready - begin:
                        break
                    progress(f"round {rounds + 1}: {len(left)} of {len(cells)} cells not decided")
                    timely = (cell for cell in _next_cells(left, rounds) if now() <= deadline)
                    alive = _round(timely, pair, rounds % 2 == 1, number, copies)
                    rounds, done = rounds + 1, done + 1
            number += 1
    return rounds


def _next_cells(cells: Sequence[TimedCell], rounds: int) -> Sequence[TimedCell]:
    """Return all cells or those that look slow; evidence stays valid with such a choice."""
    if rounds % PART == 0 or min(len(cell.logs) for cell in cells) < ROUNDS:
        return cells
    by_evidence = sorted(cells, key=lambda cell: -cell.evidence)
    return by_evidence[: math.ceil(len(cells) / PART)]


def _warm_up(cells: Sequence[TimedCell], pair: Sequence[SideProcess], order: Sequence[int]) -> bool:
    """Run each cell once on both sides, observe first run and memory; return whether both live."""
    for cell in cells:
        begin = time.monotonic()
        try:
            base, head = _both(cell, pair, order, "time", runs=1)
            cell.patience = max(SHORTEST, PATIENCE * (time.monotonic() - begin))
            cell.alone = cell.alone or not (base["copies"] and head["copies"])
            cell.first.append((base["awake"], head["awake"]))
            seconds = base["seconds"] + head["seconds"]
            cell.runs = cell.runs or math.ceil(SECONDS / max(min(seconds), 1e-6))
            # an even number, so that each side is as often the first of a round
            pairs = int(LONG / (2 * cell.runs * sum(seconds)))
            cell.turns = cell.turns or min(TURNS, max(2, 2 * pairs))
            if len(cell.peaks) < FEWEST[Question.MEMORY]:
                base, head = _both(cell, pair, order, "peak")
                if None not in (base["bytes"], head["bytes"]):
                    cell.peaks.append((base["bytes"], head["bytes"]))
        except SideError as error:
            cell.failed = f"cannot be timed: {error}"
        if not all(process.alive for process in pair):
            return False
    return True


def _both(
    cell: TimedCell, pair: Sequence[SideProcess], order: Sequence[int], do: str,
    patience: float | None = None, **arguments: Any,
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """Ask both processes one after the other, and return their replies."""
    replies = {}
    for side in order:
        try:
            pair[side].request(do, key=cell.key, steps=cell.steps[side], **arguments)
            replies[side] = pair[side].reply(patience or pair[side].limit)
        except SideError as error:
            raise SideError(f"{('BASE', 'HEAD')[side]}: {error}") from None
    return replies[0], replies[1]


def _round(
    cells: Iterable[TimedCell], pair: Sequence[SideProcess], swapped: bool, number: int,
    copies: bool,
) -> bool:  # fmt: skip
    """Add an observation to each cell; return whether the processes can serve another round.

    A cell that fails in a copy of a process is timed without copies from then on.
    """
    for process in pair if copies else ():
        process.ask("begin")
    for cell in cells:
        try:
            _observe(cell, pair, swapped)
        except SideError as error:
            cell.alone, cell.failed = True, "" if copies else f"cannot be timed: {error}"
            return False
        cell.pairs.add(number)
    for process in pair if copies else ():
        process.ask("end")
    return copies


def _observe(cell: TimedCell, pair: Sequence[SideProcess], swapped: bool) -> None:
    """Add the observation of turns A B B A ..., or B A A B ... if swapped."""
    orders = [(1, 0) if swapped ^ turn % 2 else (0, 1) for turn in range(cell.turns)]
    replies = [_both(cell, pair, order, "time", cell.patience * cell.runs, runs=cell.runs)
               for order in orders]  # fmt: skip
    base, head = zip(*replies, strict=True)
    cell.seconds = median(sum(one["seconds"]) for one in base) / cell.runs
    old, new = (median(one["awake"] for one in side) / cell.runs for side in (base, head))
    cell.steady = old, new
    ratios = (math.log(sum(b["seconds"]) / sum(a["seconds"])) for a, b in replies)
    cell.logs.append(median(ratios) - math.log(cell.units[1] / cell.units[0]))


def findings(cells: Sequence[TimedCell]) -> dict[Key, dict[Question, Finding]]:
    """Return the answers about time, memory and first call, by cell."""
    return {
        cell.key: {Question.TIME: Finding(Change.NONE, explanation=cell.failed)} if cell.failed
        else {Question.TIME: _time_finding(cell, change), **_few(cell)}
        for cell, change in zip(cells, _decide(cells), strict=True)
    }  # fmt: skip


def _few(cell: TimedCell) -> dict[Question, Finding]:
    """Return the answers about a cell's memory and first call, if they were observed."""
    first = [(max(base - cell.steady[0], 0.0), max(head - cell.steady[1], 0.0))
             for base, head in cell.first if cell.logs]  # fmt: skip
    seen = {Question.MEMORY: cell.peaks, Question.FIRST: first}
    return {asked: few(asked, pairs, cell.tolerance) for asked, pairs in seen.items() if pairs}


def _time_finding(cell: TimedCell, change: Change) -> Finding:
    if not cell.logs:
        why = "the budget was spent before it was timed"
        return Finding(Change.UNDECIDED, low=0.0, high=math.inf, explanation=why)
    low, high = (math.exp(bound) for bound in sequential.bounds(cell.logs, reach=REACH))
    beyond = change is Change.UNDECIDED and low > 1 + cell.tolerance[Question.TIME]
    answer = Change.PROBABLE if beyond else change
    # no seconds of HEAD: medians of ratios and ratios of medians may contradict each other
    said = f"{1e3 * cell.seconds:.3g} ms a run in BASE, {plural(len(cell.logs), 'round')}"
    if answer is Change.UNDECIDED:
        said += f"; more than {percent(high)} is excluded" if high < math.inf else ", too few"
    return Finding(answer, math.exp(median(cell.logs)), low, high, said)


def few(question: Question, seen: Sequence[Pair], tolerance: Mapping[str, float]) -> Finding:
    """Return the answer to a question from few observations.

    HEAD is worse if it exceeds BASE by more than tolerance and floor in each of at least `FEWEST`
    observations, in bytes or seconds; with fewer, it is undecided.
    """

    def exceeds(one: float, other: float) -> bool:
        return other - one > max(tolerance[question] * one, FLOORS[question])

    base, head = (median(side) for side in zip(*seen, strict=True))
    worse, better = all(exceeds(*pair) for pair in seen), all(exceeds(b, a) for a, b in seen)
    change, enough = Change.SAME, len(seen) >= FEWEST[question]
    if worse:
        change = Change.WORSE if enough else Change.UNDECIDED
    elif better and enough:
        change = Change.BETTER
    said = [readable(round(x)) if question is Question.MEMORY else duration(x)
            for x in (base, head)]  # fmt: skip
    ratio = head / base if base > 0 else math.nan
    high = math.inf if change is Change.UNDECIDED else ratio
    return Finding(change, ratio, ratio, high, " -> ".join(said))


def importing(
    project: str, modules: Sequence[Sequence[str]], sides: Sequence[Side], options: Options
) -> Finding:
    """Return whether importing a project takes longer, each time in a fresh process.

    `modules` are those that each side imports.
    """
    seen: list[Pair] = []
    try:
        while len(seen) < FEWEST[Question.IMPORT]:
            seconds = {}
            for i in (1, 0) if len(seen) % 2 else (0, 1):
                with SideProcess(sides[i], options) as process:
                    seconds[i] = float(process.ask("imported", modules=modules[i])["seconds"])
            seen.append((seconds[0], seconds[1]))
            answer = few(Question.IMPORT, seen, options.tolerated("", project))
            if answer.change is not Change.UNDECIDED and answer.ratio > 0.5:
                break
    except SideError as error:
        return Finding(Change.NONE, explanation=f"cannot be imported: {error}")
    return answer


def evidence(logs: Sequence[float], limit: float = 0.0) -> float:
    """Return the logarithm of the evidence that a mean is above a limit."""
    return sequential.log_evidence(logs, limit, REACH)


def _decide(cells: Sequence[TimedCell]) -> list[Change]:
    """Return which cells are slower, faster, or not slower beyond the tolerance.

    The test is of a ratio above 1, and the median ratio has to exceed the tolerance. A test of a
    ratio above the tolerance would leave twice the tolerance undecided.
    """

    def beyond(logs: Sequence[float], limit: float, null: float = 0.0) -> float:
        return evidence(logs, null) if logs and median(logs) > limit else -math.inf

    slower, faster, far, same = [], [], [], []
    for cell in cells:
        turned = [-log for log in cell.logs]
        slower.append(beyond(cell.logs if len(cell.pairs) >= PAIRS else [], cell.limit))
        faster.append(beyond(turned, cell.limit))
        far.append(beyond(cell.logs if len(cell.logs) >= FEW else [], max(FAR, cell.limit), FAR))
        same.append(len(turned) >= ROUNDS and evidence(turned, -cell.limit) >= ENOUGH)
    found = (sequential.discoveries(values, RATE) for values in (slower, faster, far))
    return [
        Change.WORSE if worse or much else Change.BETTER if better else Change.SAME if equal
        else Change.UNDECIDED
        for worse, better, much, equal in zip(*found, same, strict=True)
    ]  # fmt: skip
