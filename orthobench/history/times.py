"""The times of a history: neighbours timed side by side, and a test over all of them.

Seconds of different days are not comparable, but the ratios of neighbours that were timed by turns
are, and their products from the oldest commit on are a curve. A step is a ratio whose evidence
would be large enough if all pairs of commits, all cells and both directions had been tested
together: evidence above log(tests / rate) has, if nothing changed, a probability of at most `RATE`
in the whole history (Ville's inequality and Bonferroni's).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median, stdev

from orthobench.compare import timing
from orthobench.compare.cells import Progress
from orthobench.compare.environments import sides
from orthobench.compare.process import SideProcess
from orthobench.compare.sides import Side
from orthobench.compare.timing import TimedCell, evidence
from orthobench.errors import OrthobenchError
from orthobench.history.follow import History
from orthobench.stats import sequential
from orthobench.stats.run_pairs import Change, Finding
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean

RATE = 0.01
"""The probability of any false step in a history in which nothing changed."""


@dataclass
class Ratio(TimedCell):
    """The seconds for a unit of work at a commit over those at an earlier one.

    Attributes
    ----------
    since, place : int
        The places of the two commits in the history, the earlier one first.
    """

    since: int = 0
    place: int = 0

    @property
    def evidence(self) -> float:
        """The logarithm of the evidence that it is not 1, in its likelier direction."""
        return max(evidence(self.logs), evidence([-log for log in self.logs]))

    def certain(self, tests: int) -> bool:
        """Return whether it is certainly not 1, if so many tests are made in the history.

        Places in memory make the same code some percent slower, so that several pairs of processes
        have to show a ratio that is not far from 1.
        """
        known = self.evidence >= math.log(tests / RATE)
        return known and (len(self.pairs) >= timing.PAIRS or abs(median(self.logs)) > timing.FAR)

    def finding(self, tests: int) -> Finding:
        """Return whether it is a step, if so many tests are made in the history."""
        if not self.logs:
            return Finding(Change.NONE, explanation=self.failed)
        middle = median(self.logs)
        low, high = (math.exp(end) for end in sequential.bounds(self.logs, RATE, timing.REACH))
        change = Change.SAME if abs(middle) <= self.limit else Change.UNDECIDED
        if change is Change.UNDECIDED and self.certain(tests):
            change = Change.WORSE if middle > 0 else Change.BETTER
        return Finding(change, math.exp(middle), low, high, f"{len(self.logs)} rounds")

    def spread(self) -> float:
        """Return the standard error of the mean logarithm."""
        logs = self.logs
        return stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf


def ratios(history: History, progress: Progress) -> list[Ratio]:
    """Time each cell at all neighbours that both have it and differ in it; return their ratios.

    A ratio that looks like a step is timed until it is certain, or the budget of this pair of
    commits is spent.

    Parameters
    ----------
    history : History
    progress : callable
        Called with what is being done.
    """
    found = list(_neighbours(history))
    pairs = grouped(found, lambda one: (one.since, one.place)).values()
    for number, part in enumerate(pairs, start=1):
        for one in part:
            one.logs, processes = history.record.get(*_place(one, history)) or ([], 0)
            one.pairs = {*range(processes)}
        if left := [one for one in part if not one.logs]:
            old, new = (history.commits[i].commit for i in (left[0].since, left[0].place))
            progress(f"{old.short} and {new.short}, pair {number} of {len(pairs)}")
            try:
                with sides(old.hash, new.hash, here=history.folder, extras=history.extras) as both:
                    _time(left, both, history, 2 * len(found))
            except OrthobenchError as error:
                for one in left:
                    one.failed = clean(str(error))
    return found


def _time(part: Sequence[Ratio], both: Sequence[Side], history: History, tests: int) -> None:
    """Time ratios of the same two commits, and keep them."""

    def unknown(part: Sequence[Ratio]) -> list[Ratio]:
        """Return what a comparison would time further, and likely steps that are not certain."""
        open_ = timing.undecided(part)
        return [
            one for one in part if one in open_ or (
                not one.failed and one.evidence >= timing.ENOUGH and not one.certain(tests)
                and abs(median(one.logs)) > one.limit
            )
        ]  # fmt: skip

    start = partial(SideProcess, options=history.options, request=history.request)
    timing.measure(both, part, history.options, start, lambda _: None, unknown=unknown)
    for one in part:
        if one.logs:
            history.record.put((one.logs, len(one.pairs)), *_place(one, history))
        else:
            one.failed = one.failed or "the budget was spent before it was timed"


def _place(one: Ratio, history: History) -> tuple[str, ...]:
    """Return the place of a ratio in the record."""
    ends = (history.commits[i].content[one.key] for i in (one.since, one.place))
    return ("time", history.options.clock, *one.key[:2], *ends)


def _neighbours(history: History) -> Iterator[Ratio]:
    """Yield what can be timed: of each solver on each problem, the commits next to each other."""
    commits = history.commits
    groups = grouped((key for one in commits for key in one.runs), lambda key: key[:2])
    for keys in map(dict.fromkeys, groups.values()):
        there = [one for one in enumerate(commits) if any(map(one[1].finished, keys))]
        for (first, old), (second, new) in pairwise(there):
            both = (timing.timed_cell(key, old.runs[key], new.runs[key], history.options)
                    for key in keys if key in old.runs and key in new.runs)  # fmt: skip
            cell = next(filter(None, both), None)
            if cell and old.content[cell.key] != new.content[cell.key]:
                yield Ratio(**vars(cell), since=first, place=second)
