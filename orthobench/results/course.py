"""The course of a run: the cells left, the choice of trials on the way, and the tables finished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TypeAlias

from orthobench.errors import UsageError, quoted
from orthobench.harness.cell import Cell
from orthobench.harness.identity import canonical
from orthobench.harness.stopping import RunStatus
from orthobench.harness.suite import Suite
from orthobench.results.runs import Run
from orthobench.results.store import Store
from orthobench.results.tuning import choose

Pair: TypeAlias = tuple[str, str]
"""The labels of a problem and a solver."""


class RemainingCells:
    """What is left of a run, as its cells finish.

    Trials on the tuning seeds come first. When those of a solver on a problem are finished, one is
    chosen, and the rest of its cells are planned.

    Parameters
    ----------
    suite : Suite
    store : Store
        Has the plan of the suite, and every finished cell before `finish` is told.
    planned : sequence of Cell
        `Suite.cells`.
    asked : sequence of Cell
        Those of them that run.

    Attributes
    ----------
    stored : int
        How many cells were in the store already.
    """

    def __init__(
        self, suite: Suite, store: Store, planned: Sequence[Cell], asked: Sequence[Cell]
    ) -> None:
        self._suite, self._store = suite, store
        self._asked = {pair_of(p) for p in asked}
        self._unfinished = list(dict.fromkeys(p.problem_label for p in asked))
        self._undecided = undecided(suite, planned)
        self._left: dict[str, list[Cell]] = {}
        self._of_pair: Counter[Pair] = Counter()
        self._of_problem = Counter(problem for problem, _ in self._undecided)
        self.stored = 0
        self._add(planned)
        for pair in list(self._undecided):
            self._decide(pair)

    def __len__(self) -> int:
        """Return how many cells are left, one trial for each choice that is still to be made."""
        rest = len(self._suite.seeds) - len(self._suite.tuning_seeds)
        return len(self._left) + rest * len(self._undecided)

    @property
    def cells(self) -> list[Cell]:
        """The cells that can run now."""
        return [planned[0] for planned in self._left.values()]

    def finish(self, cell: Cell) -> list[Cell]:
        """Take a cell off those left; return the cells that follow from it."""
        pairs = [pair_of(p) for p in self._left.pop(cell.key)]
        for pair in pairs:
            self._of_pair[pair] -= 1
            self._of_problem[pair[0]] -= 1
        return [p for pair in pairs for p in self._decide(pair)]

    def tables(self) -> Iterator[str]:
        """Yield the problems all of whose cells are finished, each once, in the suite's order."""
        while self._unfinished and not self._of_problem[self._unfinished[0]]:
            yield self._unfinished.pop(0)

    def _decide(self, pair: Pair) -> list[Cell]:
        """Choose a trial where all are finished; return the rest of its cells that is left."""
        if self._of_pair[pair] or pair not in self._undecided:
            return []
        rest = rest_of(self._suite, self._store, self._undecided.pop(pair)) or []
        self._of_problem[pair[0]] -= 1
        self._store.plan(self._suite.name, rest)
        return self._add(rest)

    def _add(self, planned: Sequence[Cell]) -> list[Cell]:
        """Add cells that run to those left; return these, without what is stored or left."""
        planned = [p for p in planned if pair_of(p) in self._asked]
        done = self._store.known(p.key for p in planned)
        open_ = [p for p in planned if p.key not in done]
        self.stored += len(planned) - len(open_)
        for p in open_:
            self._left.setdefault(p.key, []).append(p)
            self._of_pair[pair_of(p)] += 1
            self._of_problem[p.problem_label] += 1
        return [p for p in open_ if self._left[p.key][0] is p]


def pair_of(planned: Cell) -> Pair:
    """Return the labels of a cell's problem and solver."""
    return planned.problem_label, planned.solver_label


def matching(planned: Iterable[Cell], pattern: str | None) -> list[Cell]:
    """Return the cells of a plan whose problem and solver match a pattern.

    Parameters
    ----------
    planned : iterable of Cell
    pattern : str, optional
        With ``*``, ``?`` and ``[...]`` as of file names, of ``PROBLEM SOLVER``; None matches all.

    Raises
    ------
    UsageError
        Where nothing matches; names the nearest.
    """
    if pattern is None:
        return list(planned)
    names = [(" ".join(pair_of(p)), p) for p in planned]
    matches = [p for name, p in names if fnmatchcase(name, pattern)]
    if not matches:
        near = get_close_matches(pattern, dict(names), n=3, cutoff=0)
        raise UsageError(
            f"no cell matches {quoted(pattern)}: cells are called PROBLEM SOLVER, such as "
            f"{' or '.join(map(repr, near))}, and * stands for anything"
        )
    return matches


def complete(store: Store, suite: Suite, planned: Iterable[Cell]) -> Sequence[Run]:
    """Return the records of a suite where its last session left nothing to do; empty otherwise.

    Parameters
    ----------
    store : Store
    suite : Suite
    planned : iterable of Cell
        `Suite.cells`.
    """
    if store.suites()[-1:] != [suite.name]:
        return ()
    session = store.session(suite.name)
    if session["ended"] is None or session["text"] != suite.text:
        return ()
    records = store.records(suite.name)
    if any(record.stop.status is RunStatus.MISSING for record in records):
        return ()
    cells = list(planned)
    for trials in undecided(suite, cells).values():
        cells += rest_of(suite, store, trials) or []
    wanted = [
        (p.key, p.problem_label, p.solver_label, canonical(p.tuned), p.levels)
        for p in sorted(cells, key=lambda p: p.position)
    ]
    there = [
        (r.key, r.problem.label, r.solver.label, canonical(r.solver.tuned), r.problem.levels)
        for r in records
    ]
    return records if there == wanted else ()


def undecided(suite: Suite, planned: Iterable[Cell]) -> dict[Pair, list[Cell]]:
    """Return the trials of each solver on each problem of which one is chosen and runs on."""
    if not suite.tuning_seeds:
        return {}
    trials: dict[Pair, list[Cell]] = {}
    for p in planned:
        trials.setdefault(pair_of(p), []).append(p)
    return {
        pair: of_pair
        for pair, of_pair in trials.items()
        if len({canonical(p.tuned) for p in of_pair}) > 1
    }


def rest_of(suite: Suite, store: Store, trials: Sequence[Cell]) -> list[Cell] | None:
    """Return the cells that the choice of a trial adds; None where not all trials are finished.

    Parameters
    ----------
    suite : Suite
    store : Store
    trials : sequence of Cell
        Those of one solver on one problem. At several levels more than one may be chosen.
    """
    keys = {p.key for p in trials}
    records = [
        record
        for record in store.records(suite.name, trials[0].problem_label, trials[0].solver_label)
        if record.key in keys and record.stop.status is not RunStatus.MISSING
    ]
    if {record.key for record in records} != keys:
        return None
    chosen = {canonical(entry.best_parameters) for entry in choose(records, score=suite.score)}
    first = trials[0].seed
    return [
        planned
        for p in trials
        if p.seed == first and canonical(p.tuned) in chosen
        for planned in suite.rest(p)
    ]
