"""The times of a history: neighbouring commits timed side by side, and a test over all of them.

Seconds of different days are not comparable, but ratios of neighbours that were timed by turns are,
and their products are a curve. A step needs evidence above log(tests / `RATE`), with a test for
each pair of commits, each cell and both directions. If nothing changed, the probability of any step
is at most `RATE` (inequalities of Ville and Bonferroni).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, stdev

from orthobench.compare import timing
from orthobench.compare.cells import Progress
from orthobench.compare.sides import Side, sides
from orthobench.compare.timing import TimedCell, evidence
from orthobench.errors import OrthobenchError
from orthobench.history.follow import History
from orthobench.stats import sequential
from orthobench.stats.run_pairs import Change, Finding
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean, plural

RATE = 0.01
"""The probability of any false step in a history in which nothing changed."""

LEAST_PAIRS = 2
"""The minimum number of pairs of processes, of which each side starts the first in one."""


@dataclass
class Ratio(TimedCell):
    """The seconds for a unit of work at a commit over those at an earlier one.

    Attributes
    ----------
    since, place : int
        Both commits' places in the history.
    tests : int
        Their number in the history.
    """

    since: int = 0
    place: int = 0
    tests: int = 1

    @property
    def evidence(self) -> float:
        """The logarithm of the evidence that it is not 1."""
        return max(evidence(self.logs), evidence([-log for log in self.logs]))

    @property
    def certain(self) -> bool:
        """Whether it is certainly not 1: a small change needs several pairs of processes."""
        known = self.evidence >= math.log(self.tests / RATE)
        return known and (len(self.pairs) >= timing.PAIRS or abs(median(self.logs)) > timing.FAR)

    @property
    def settled(self) -> bool:
        """Whether it is timed no further: it is certain, or within the tolerance on both sides.

        The rule is the same for the inverse. If the timing ended as soon as a commit is not slower,
        ratios without a change would be below 1 on average, and their chain would fall.
        """
        logs, least = self.logs, timing.ENOUGH
        within = len(logs) >= timing.ROUNDS and len(self.pairs) >= LEAST_PAIRS and (
            min(evidence(logs, -self.limit), evidence([-x for x in logs], -self.limit)) >= least
        )  # fmt: skip
        return within or (bool(logs) and self.certain)

    def finding(self) -> Finding:
        """Return whether it is a step."""
        middle = median(self.logs)
        low, high = (math.exp(end) for end in sequential.bounds(self.logs, RATE, timing.REACH))
        change = Change.SAME if abs(middle) <= self.limit else Change.UNDECIDED
        if change is Change.UNDECIDED and self.certain:
            change = Change.WORSE if middle > 0 else Change.BETTER
        return Finding(change, math.exp(middle), low, high, plural(len(self.logs), "round"))

    def spread(self) -> float:
        """Return the standard error of the mean logarithm."""
        logs = self.logs
        return stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf


def ratios(history: History, progress: Progress) -> list[Ratio]:
    """Time each cell at all neighbours that have it and differ in it; return their ratios.

    A ratio is timed until it is settled, or the budget of both commits is spent. Finished ones are
    in the record of the history. One that failed has no observations.
    """
    found = list(_neighbours(history))
    pairs = grouped(found, lambda one: (one.since, one.place)).values()
    for number, part in enumerate(pairs, start=1):
        for one in part:
            one.logs, processes = history.record.get(_digest(one, history)) or ([], 0)
            one.pairs, one.tests = {*range(processes)}, 2 * len(found)
        if left := [one for one in part if not one.logs]:
            old, new = (history.commits[i] for i in (left[0].since, left[0].place))
            progress(f"{old.short} and {new.short}, pair {number} of {len(pairs)}")
            try:
                with sides(old.hash, new.hash, here=history.folder, extras=history.extras) as both:
                    _measure(both, left, history)
            except OrthobenchError as error:
                progress(f"{old.short} and {new.short} cannot be timed: {clean(str(error))}")
                for one in left:
                    one.failed = str(error)
            for one in left:
                if one.failed:
                    one.logs.clear()
                elif one.logs:
                    history.record.put(_digest(one, history), (one.logs, len(one.pairs)))
    return found


def _measure(both: Sequence[Side], left: Sequence[Ratio], history: History) -> None:
    def choose(prolonged: bool) -> list[Ratio]:
        return [one for one in left if not (prolonged or one.failed or one.settled)]

    plan, options = history.request, history.options
    timing.measure(both, left, options, plan, lambda _: None, choose=choose)


def _digest(one: Ratio, history: History) -> str:
    """Return the key of a ratio in the record."""
    ends = [history.commits[i].content[one.key] for i in (one.since, one.place)]
    return json.dumps(["time", history.options.clock, *one.key[:2], *ends])


def _neighbours(history: History) -> Iterator[Ratio]:
    """Yield what can be timed: of each solver on each problem, neighbours with finished runs."""
    commits = history.commits
    groups = grouped((key for one in commits for key in one.runs), lambda key: key[:2])
    for keys in map(dict.fromkeys, groups.values()):
        there = [i for i, one in enumerate(commits) if any(map(one.finished, keys))]
        for since, place in pairwise(there):
            old, new = commits[since], commits[place]
            both = (timing.timed_cell(key, old.runs[key], new.runs[key], history.options)
                    for key in keys if key in old.runs and key in new.runs)  # fmt: skip
            cell = next(filter(None, both), None)
            if cell and old.content[cell.key] != new.content[cell.key]:
                yield Ratio(**vars(cell), since=since, place=place)
