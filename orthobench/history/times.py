"""The times of a history: neighbours timed side by side, and a test over all of them.

Seconds of different days are not comparable, but the ratios of neighbours that were timed by turns
are, and their products from the oldest commit on are a curve. A step is a ratio whose evidence
would be large enough if all pairs of commits, all cells and both directions had been tested
together: evidence above log(tests / rate) has, if nothing changed, a probability of at most `RATE`
in the whole history (Ville's inequality and Bonferroni's).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median, stdev

from orthobench.compare import timing
from orthobench.compare.comparison import Options
from orthobench.compare.environments import sides
from orthobench.compare.process import SideProcess
from orthobench.compare.sides import Side
from orthobench.errors import OrthobenchError
from orthobench.history.follow import Followed, History, Progress
from orthobench.history.record import Record
from orthobench.results.runs import Run
from orthobench.stats import sequential
from orthobench.stats.run_pairs import Change, Finding, Key
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean

RATE = 0.01
"""The probability of any false step in a history in which nothing changed."""

LOOKS = 4
"""How often a ratio is measured before it stays undecided."""


@dataclass
class Ratio:
    """The seconds for a unit of work at a commit over those at an earlier one.

    Attributes
    ----------
    key : tuple
        The cell that was timed.
    first, second : int
        The places of the two commits in the history.
    looks : list of list of float
        The logarithms of the ratio in the rounds of each measurement.
    pairs : int
        The number of pairs of processes that were timed.
    failed : str
        Why it could not be measured.
    """

    key: Key
    first: int
    second: int
    looks: list[list[float]] = field(default_factory=list)
    pairs: int = 0
    failed: str = ""

    @property
    def logs(self) -> list[float]:
        """The logarithms of all measurements."""
        return [log for look in self.looks for log in look]

    def evidence(self, sign: int) -> float:
        """Return the logarithm of the evidence of a slower (1) or faster (-1) commit.

        Each measurement begins when the one before has ended, so that their e-values multiply.
        """
        return sum(
            sequential.log_evidence([sign * log for log in look], 0.0, timing.REACH)
            for look in self.looks
        )

    def certain(self, tests: int) -> bool:
        """Return whether it is certainly not 1, if so many tests are made in the history.

        Places in memory make the same code some percent slower, so that several pairs of processes
        have to show a ratio that is not far from 1.
        """
        known = max(self.evidence(1), self.evidence(-1)) >= math.log(tests / RATE)
        return known and (self.pairs >= timing.PAIRS or abs(median(self.logs)) > timing.FAR)

    def finding(self, tests: int, tolerance: float) -> Finding:
        """Return whether it is a step, if so many tests are made in the history."""
        if not self.logs:
            return Finding(Change.NONE, explanation=self.failed or "not timed")
        middle = median(self.logs)
        low, high = (math.exp(end) for end in sequential.bounds(self.logs, RATE, timing.REACH))
        change = Change.SAME if abs(middle) <= math.log1p(tolerance) else Change.UNDECIDED
        if change is Change.UNDECIDED and self.certain(tests):
            change = Change.WORSE if middle > 0 else Change.BETTER
        return Finding(change, math.exp(middle), low, high, f"{len(self.logs)} rounds")

    def spread(self) -> float:
        """Return the standard error of the mean logarithm."""
        logs = self.logs
        return stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf


def ratios(
    folder: Path, history: History, options: Options, record: Record, progress: Progress,
    extras: Sequence[Path] = (),
) -> list[Ratio]:  # fmt: skip
    """Time each cell at all neighbours that both have it and differ in it; return their ratios.

    Parameters
    ----------
    folder : Path
        The project's.
    history : History
    options : Options
        Its budget is that of a pair of commits, in wall seconds.
    record : Record
    progress : callable
        Called with what is being done.
    extras : sequence of Path
        Folders of more projects of the repository, which are built too.
    """
    found = list(_neighbours(history.commits))
    tests = 2 * len(found)
    pairs = dict.fromkeys((one.first, one.second) for one in found)
    for number, pair in enumerate(pairs, start=1):
        both = history.commits[pair[0]], history.commits[pair[1]]
        part = [one for one in found if (one.first, one.second) == pair]
        for one in part:
            one.looks, one.pairs = record.get(*_place(one, both, options)) or ([], 0)
        if not _open(part, tests):
            continue
        progress(
            f"{both[0].commit.short} and {both[1].commit.short}, pair {number} of {len(pairs)}"
        )
        try:
            ends = both[0].commit.hash, both[1].commit.hash
            with sides(*ends, here=folder, extras=extras) as built:
                deadline = time.monotonic() + options.budget
                while left := _open(part, tests):
                    _look(left, both, built, history, options, deadline)
                    for one in left:
                        record.put((one.looks, one.pairs), *_place(one, both, options))
        except OrthobenchError as error:
            for one in part:
                one.failed = clean(str(error))
    return found


def _neighbours(commits: Sequence[Followed]) -> Iterator[Ratio]:
    """Yield what can be timed: of each solver on each problem, the commits next to each other."""
    groups = grouped((key for one in commits for key in one.runs), lambda key: key[:2])
    for keys in map(dict.fromkeys, groups.values()):
        there = [i for i, one in enumerate(commits) if any(_timeable(one, key) for key in keys)]
        for first, second in pairwise(there):
            for key in keys:
                old, new = commits[first], commits[second]
                if _timeable(old, key) and _timeable(new, key):
                    if old.content[key] != new.content[key]:
                        yield Ratio(key, first, second)
                    break


def _timeable(one: Followed, key: Key) -> bool:
    run = one.runs.get(key)
    return run is not None and not run.failed and bool(run.trace) and run.trace[-1].work.steps > 0


def _place(one: Ratio, both: Sequence[Followed], options: Options) -> tuple[str, ...]:
    """Return the place of a ratio in the record."""
    problem, solver, _ = one.key
    return ("time", options.clock, problem, solver, *(side.content[one.key] for side in both))


def _open(part: Sequence[Ratio], tests: int) -> list[Ratio]:
    """Return the ratios that have to be measured, or measured again to be certain of a step."""

    def looks(one: Ratio) -> bool:
        looks_so = max(one.evidence(1), one.evidence(-1)) >= timing.ENOUGH
        return looks_so and not one.certain(tests) and len(one.looks) < LOOKS

    return [one for one in part if not one.failed and (not one.looks or looks(one))]


def _look(
    part: Sequence[Ratio], both: Sequence[Followed], built: Sequence[Side], history: History,
    options: Options, deadline: float,
) -> None:  # fmt: skip
    """Measure ratios once more, in what is left of the budget."""
    cells = [timing.TimedCell(one.key, *_work(*(side.runs[one.key] for side in both)))
             for one in part]  # fmt: skip
    start = partial(SideProcess, options=options, request=history.request)
    left = deadline - time.monotonic()
    if left > 0:
        timing.measure(built, cells, replace(options, budget=left), start, lambda _: None)
    for one, cell in zip(part, cells, strict=True):
        one.looks += [cell.logs] if cell.logs else []
        one.pairs += len(cell.pairs)
        if cell.failed or not cell.logs:
            one.failed = cell.failed or "the budget was spent before it was timed"


def _work(old: Run, new: Run) -> tuple[tuple[int, int], tuple[float, float]]:
    """Return the steps of two runs, and their units of work: samples if both draw any, or steps."""
    ends = old.trace[-1].work, new.trace[-1].work
    steps, samples = (ends[0].steps, ends[1].steps), (ends[0].samples, ends[1].samples)
    return steps, samples if all(samples) else steps
