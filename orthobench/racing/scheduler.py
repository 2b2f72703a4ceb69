"""A race as a scheduler: `halving` with a clock, limits of time, and timed calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any, TypeAlias

from orthobench.decide.comparisons import compare
from orthobench.decide.rule import Comparison
from orthobench.errors import DataError
from orthobench.execute.loop import Scheduler
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Data
from orthobench.harness.stopping import Budget, RunStatus
from orthobench.harness.suite import Suite
from orthobench.harness.trace import Outcome
from orthobench.racing import wording
from orthobench.racing.halving import Halving, NextRun
from orthobench.racing.standing import Rules, measured, trial_of
from orthobench.racing.timing import time_calls
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.results.store import Store
from orthobench.stats.calls import Call, Stop
from orthobench.tools.environment import cores
from orthobench.tools.formatting import plural

RESERVE = 0.5, 0.05
"""Seconds reserved for the end of a race, and a share of its time."""

TIMING = 1.0, 0.15
"""Seconds reserved for timing calls, and a share of the time of a race."""

SLACK = 2.0
"""Minimum seconds of a run beside its clock before its process is killed."""

BEGINNING = 0.6
"""Maximum share of the time of a race for the first run beside its clock."""

LOADING = 0.15
"""Minimum share of the time of a race that a run may take to load packages, compile, build data or
start a process."""

NamedCall: TypeAlias = tuple[str, Stop]
"""The label of a solver, and a stop."""

Progress: TypeAlias = Callable[[str, bool], None]
"""Takes text for people, and whether it is the table, which the next one replaces."""


class RaceScheduler(Scheduler):
    """Runs `Halving.next` until the time is over, then times the calls that may win.

    Attributes
    ----------
    standing : Halving
    dropped : dict
        The second of the race at which each configuration was dropped.
    timed : dict
        Seconds of a call, and of the first one in a process.
    """

    def __init__(
        self, suite: Suite, rules: Rules, known: Sequence[tuple[Cell, Run]], workers: int,
        began: float, tell: Progress | None,
    ) -> None:  # fmt: skip
        self.suite, self.rules, self.workers, self.began = suite, rules, workers, began
        self.planned = [cell for cell, _ in known]
        self.standing = Halving(rules, [trial_of(run, rules.cost) for _, run in known])
        self.dropped: dict[str, float] = {}
        self.timed: dict[NamedCall, tuple[float, ...]] = {}
        self._tell = tell or (lambda *_: None)
        fixed, share = RESERVE
        if rules.cost == "seconds":
            fixed, share = fixed + TIMING[0], share + TIMING[1]
        self.deadline = began + max(rules.total * (1 - share) - fixed, rules.total / 2)
        self._cells = {(cell.solver_label, cell.seed): cell for cell in suite.cells()}
        self._running: dict[tuple[str, int], float] = {}
        self._overheads: list[float] = []
        self._loaded: set[str] = set()

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return monotonic() - self.began

    @property
    def left(self) -> float:
        """Seconds until the deadline of the last run."""
        return self.deadline - monotonic()

    def take(self, held: Data | None = None, last: bool = False) -> Cell | None:
        """Return the next cell, with its budget and the time after which it is killed."""
        del last
        if (ask := self._next()) is None:
            return None
        cell = self._cells[ask.configuration, ask.seed]
        timeout = min(ask.cap + self._slack(cell, held), max(self.left, 0.01))
        self._running[ask.configuration, ask.seed] = self.elapsed
        return replace(cell, budget=Budget(seconds=ask.cap), timeout=timeout)

    def keeps(self, cell: Cell, outcome: Outcome) -> bool:
        """Return False for a run that the end of the race cut off.

        Raises
        ------
        DataError
            If the problem cannot be built.
        """
        status, reason = outcome.stop.status, outcome.stop.reason
        if status is RunStatus.ERROR and reason.startswith(f"problem {cell.problem.name}"):
            raise DataError(reason)
        return self.left > 0 or status is not RunStatus.TIMEOUT

    def begin(self, store: Store) -> None:
        """Take the store, and print dropped solvers."""
        self._store = store
        self._tell_dropped()

    def finish(self, cell: Cell) -> None:
        """Add a stored run to the standing."""
        begun = self._running.pop((cell.solver_label, cell.seed))
        records = self._store.records(self.suite.name, cell.problem_label, cell.solver_label)
        run = next(run for run in records if run.key == cell.key)
        trials = [*self.standing.trials, trial_of(run, self.rules.cost)]
        self.standing = replace(self.standing, trials=trials)
        clock = run.trace[-1].seconds + run.trace[-1].readout_seconds if run.trace else 0.0
        self._overheads.append(self.elapsed - begun - clock)
        self._tell_dropped()

    def conclude(self) -> Mapping[str, Any]:
        """Time the calls that may be named, one after another; return them for the session."""
        # a call that was not timed may be the cheapest once the others are
        while waiting := [call for call in self._offers() if call not in self.timed]:
            took = {call: seconds for (_, call), seconds in self._timed(waiting, (0,))}
            self.timed.update(took)
            if not took:
                break
        timed = [[name, dict(stop.limits), *took] for (name, stop), took in self.timed.items()]
        cheapest = self._reaching()[: self.rules.timed_on_all]
        ends = self._timed([(name, Stop()) for name in cheapest], self.suite.seeds)
        on_all = [(name, seed, seconds) for (seed, (name, _)), (seconds, _) in ends]
        found = {"timed": timed, "dropped": self.dropped, "timed_on_all": on_all}
        return {"race": {**self._asked, **found}}

    def _timed(
        self, calls: Sequence[NamedCall], seeds: Sequence[int]
    ) -> Iterator[tuple[tuple[int, NamedCall], tuple[float, float]]]:
        """Yield seeds and calls, with their seconds and those of the first one in a process."""
        left = self.rules.total - RESERVE[0] - self.elapsed
        if not calls or left <= 0:
            return
        said = f"{plural(len(calls), 'call')} timed one after another"
        self._tell(f"{wording.at(self.elapsed)} {said}", False)
        solvers = {s.label: s.solver for s in self.suite.solvers}
        planned = [*product(seeds, calls)]
        own = [(seed, solvers[name], stop) for seed, (name, stop) in planned]
        took = time_calls(self.suite.problems[0].problem, own, left)
        yield from zip(planned, took, strict=False)

    def _reaching(self) -> list[str]:
        """Return the finalists of which all runs end within the tolerance, the cheapest first."""
        standing, seconds = self.standing, dict[str, float]()
        for name in standing.finalists:
            own = [trial for trial in standing.ran[name] if trial.seed in standing.gaps]
            if all(trial.ended and trial.end <= standing.target(trial.seed) for trial in own):
                seconds[name] = median(float(trial.seconds[-1]) for trial in own)
        return sorted(seconds, key=seconds.__getitem__)

    def repeats(self, store: Store) -> bool:
        """Return whether the last session finished the race, and take its timed calls."""
        if self._next() or self.suite.name not in store.suites():
            return False
        session = store.session(self.suite.name)
        found = session["environment"].get("race", {})
        if session["ended"] is None or not self._asked.items() <= found.items():
            return False
        timed = {(name, Stop.at(**limits)): tuple(t) for name, limits, *t in found["timed"]}
        self._store = store
        if not timed.keys() >= {*self._offers()}:
            return False  # there was no time for all
        self.timed, self.dropped = timed, found["dropped"]
        return True

    @property
    def _asked(self) -> dict[str, Any]:
        """The options that timed calls depend on."""
        return {"cost": self.rules.cost, "tolerance": self.rules.tolerance}

    @property
    def _overhead(self) -> float:
        return median(self._overheads[1:] or self._overheads or [0.0])

    def _next(self) -> NextRun | None:
        return self.standing.next(self.left, self._overhead, self._running, self.workers)

    def _slack(self, cell: Cell, held: Data | None) -> float:
        """Return the maximum seconds of a run beside its clock."""
        total = self.rules.total
        if not self._overheads:
            return BEGINNING * total
        loads = {type(cell.solver.single).__module__, *cell.solver.packages} - self._loaded
        self._loaded |= loads
        fresh = loads or held != (cell.problem, cell.seed)
        first = max(LOADING * total, 2 * self._overheads[0])
        return max(SLACK, 3 * self._overhead) + (first if fresh else 0.0)

    def tell_standing(self) -> None:
        """Print the table of the race."""
        now = next(iter(self._running), ("", 0))[0]
        self._tell(wording.standing(self.standing, now, self.elapsed, self.left), True)

    def _tell_dropped(self) -> None:
        order, dropped = self.rules.order, self.standing.dropped
        for name in [name for name in dropped if name not in self.dropped]:
            self.dropped[name] = self.elapsed
            kin = [other for other, solver in order.items() if solver == order[name]]
            if all(other in dropped for other in kin):
                self._tell(f"{wording.at(self.elapsed)} {name}: {dropped[name]}", False)

    def _offers(self) -> list[NamedCall]:
        """Return the calls that may be the cheapest and the named ones, the cheapest first."""
        found, leading = self.answered(self._store.records(self.suite.name))
        if found is None or self.rules.cost != "seconds":
            return []
        calls = ((d.solver, call) for d in found.as_good for call in (d.call, d.exact))
        offers = {(name, call.stop): call.cost for name, call in calls if call}
        if not offers and leading:
            offers = {(self.standing.leader or "", leading.stop): leading.cost}
        sure = {(d.solver, d.call.stop) for d in (found.named, found.exact) if d and d.call}
        most = 2 * cores() * min(offers.values(), default=0.0)
        own = [call for call, cost in offers.items() if cost <= most or call in sure]
        return sorted(own, key=lambda call: offers[call])

    def answered(self, runs: Sequence[Run]) -> tuple[Comparison | None, Call | None]:
        """Return the comparison of all runs, and the call of the leader, with the timed costs."""
        metric = next((measured(run) for run in runs if run.trace), "")
        entries = Results("", Path(), runs).entries
        found = compare(entries, self.rules.cost, self.rules.tolerance, metric)
        costs = {call: seconds for call, (seconds, _) in self.timed.items()}
        leader, leading = self.standing.leader or "", self.standing.leading
        if leading:
            leading = replace(leading, cost=costs.get((leader, leading.stop), leading.cost))
        return next((one.with_costs(costs) for one in found), None), leading
