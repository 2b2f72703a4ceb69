"""The cells of a suite, and the choice of trials."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TypeAlias

from orthobench.errors import UsageError, quoted
from orthobench.execute.loop import Scheduler
from orthobench.harness.cell import Cell
from orthobench.harness.executors import CellQueue, Data
from orthobench.harness.identity import canonical
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.suite import Suite
from orthobench.results.runs import Run
from orthobench.results.store import Store
from orthobench.results.tuning import choose
from orthobench.tools.collections import grouped

Pair: TypeAlias = tuple[str, str]
"""Labels of a problem and a solver."""


class SuiteCells(Scheduler):
    """The cells of a suite that are not stored yet: trials first, then those of the chosen trial.

    Parameters
    ----------
    suite : Suite
    planned, asked : sequence of Cell
        `Suite.cells`, and those that run.
    again : mapping
        The ends of stored runs that are repeated, by key.
    more : callable, optional
        Returns more cells, given those so far, when all are finished.
    """

    def __init__(
        self,
        suite: Suite,
        planned: Sequence[Cell],
        asked: Sequence[Cell],
        again: Mapping[str, Termination] = MappingProxyType({}),
        more: Callable[[Sequence[Cell]], list[Cell]] | None = None,
    ) -> None:
        self.suite, self.planned = suite, planned
        self._again, self._more = again, more
        self._asked = {pair_of(cell) for cell in asked}
        self._undecided = undecided(suite, planned)
        self._queue = CellQueue()
        self._left: dict[str, list[Cell]] = {}
        self._of_pair: Counter[Pair] = Counter()

    def __len__(self) -> int:
        """Return the number of cells left, with one chosen trial for each open choice."""
        rest = len(self.suite.seeds) - len(self.suite.tuning_seeds)
        return len(self._left) + rest * len(self._undecided)

    def begin(self, store: Store) -> None:
        """Take the cells that the store does not have."""
        self._store = store
        self._add(self.planned)
        for pair in list(self._undecided):
            self._decide(pair)

    def take(self, held: Data | None = None, last: bool = False) -> Cell | None:
        """Return the next cell, in the order of a `CellQueue`."""
        self._look_again()
        return self._queue.take(held, last)

    def finish(self, cell: Cell) -> None:
        """Take note of a stored cell, and add those that follow."""
        pairs = [pair_of(p) for p in self._left.pop(cell.key)]
        self._of_pair.subtract(pairs)
        for pair in pairs:
            self._decide(pair)

    def _decide(self, pair: Pair) -> None:
        """Choose a trial when all are finished, and add the rest of its cells."""
        if self._of_pair[pair] or pair not in self._undecided:
            return
        rest = rest_of(self.suite, self._store, self._undecided.pop(pair)) or []
        self._store.plan(self.suite.name, rest)
        self._add(rest)

    def _look_again(self) -> None:
        """Add more cells if none is left."""
        while self._more and not self._left:
            if not (more := self._more(self.planned)):
                self._more = None
                return
            self._store.plan(self.suite.name, more)
            self.planned = [*self.planned, *more]
            self._asked |= {pair_of(cell) for cell in more}
            self._add(more)

    def _add(self, planned: Sequence[Cell]) -> None:
        asked = [cell for cell in planned if pair_of(cell) in self._asked]
        done = self._store.known(cell.key for cell in asked)
        left = [cell for cell in asked if cell.key not in done]
        self.stored += len(asked) - len(left)
        self._of_pair.update(map(pair_of, left))
        for cell in left:
            if cell.key not in self._left:
                cut = self._again[cell.key].limit if cell.key in self._again else 0.0
                self._queue.add([replace(cell, cut=cut)])
            self._left.setdefault(cell.key, []).append(cell)


def repeated(
    suite: Suite, store: Store, asked: Iterable[Cell], timeout: float | None, retry: bool
) -> dict[str, Termination]:
    """Return the ends of stored runs that run again, by key.

    A limit shorter than `timeout` cut them, or they failed and `retry` is set.
    """
    pairs, longest = {pair_of(cell) for cell in asked}, timeout or math.inf
    return {
        run.key: run.stop
        for run in store.records(suite.name)
        if (run.problem.label, run.solver.label) in pairs
        and run.stop.status is not RunStatus.MISSING
        and (0 < run.stop.limit < longest or (retry and not run.ok))
    }


def pair_of(planned: Cell) -> Pair:
    """Return the labels of a cell's problem and solver."""
    return planned.problem_label, planned.solver_label


def matching(planned: Iterable[Cell], pattern: str | None) -> list[Cell]:
    """Return the cells whose ``PROBLEM SOLVER`` matches a glob, or all.

    Raises
    ------
    UsageError
        If nothing matches; names the nearest.
    """
    if pattern is None:
        return list(planned)
    names = [(" ".join(pair_of(p)), p) for p in planned]
    matches = [p for name, p in names if fnmatchcase(name, pattern)]
    if not matches:
        near = get_close_matches(pattern, dict(names), n=3, cutoff=0)
        called = f"cells are called PROBLEM SOLVER, such as {' or '.join(map(repr, near))}"
        why = f"no cell matches {quoted(pattern)}: {called}, and * stands for anything"
        raise UsageError(why)
    return matches


def complete(store: Store, suite: Suite, planned: Iterable[Cell]) -> Sequence[Run]:
    """Return the runs of a suite if its last session left nothing to do, else none."""
    if store.suites()[-1:] != [suite.name]:
        return ()
    session = store.session(suite.name)
    if session["ended"] is None or session["text"] != suite.text:
        return ()
    runs = store.records(suite.name)
    if any(run.stop.status is RunStatus.MISSING for run in runs):
        return ()
    cells = list(planned)
    for trials in undecided(suite, cells).values():
        cells += rest_of(suite, store, trials) or []
    cells.sort(key=lambda cell: cell.position)
    wanted = [(c.key, *pair_of(c), canonical(c.tuned), c.levels) for c in cells]
    there = [
        (r.key, r.problem.label, r.solver.label, canonical(r.solver.tuned), r.problem.levels)
        for r in runs
    ]  # the text of a suite that is a table in Python does not have its labels
    return runs if there == wanted else ()


def undecided(suite: Suite, planned: Iterable[Cell]) -> dict[Pair, list[Cell]]:
    """Return the trials of each solver on each problem, if one is to be chosen."""
    if not suite.tuning_seeds:
        return {}
    return {
        pair: trials
        for pair, trials in grouped(planned, pair_of).items()
        if len({canonical(p.tuned) for p in trials}) > 1
    }


def rest_of(suite: Suite, store: Store, trials: Sequence[Cell]) -> list[Cell] | None:
    """Return the cells that follow from choosing among trials of one solver on one problem.

    None if a trial is unfinished. At several levels more than one trial may be chosen.
    """
    keys = {p.key for p in trials}
    runs = [
        run
        for run in store.records(suite.name, trials[0].problem_label, trials[0].solver_label)
        if run.key in keys and run.stop.status is not RunStatus.MISSING
    ]
    if {run.key for run in runs} != keys:
        return None
    chosen = {canonical(entry.best_parameters) for entry in choose(runs, score=suite.score)}
    first = trials[0].seed
    return [
        planned
        for p in trials
        if p.seed == first and canonical(p.tuned) in chosen
        for planned in suite.rest(p)
    ]
