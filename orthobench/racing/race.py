"""Races: `race` finds the call to make on a problem, in the time that is given."""

from __future__ import annotations

import math
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orthobench.api import RESULTS
from orthobench.contract.parameters import changed_values
from orthobench.decide.answer import answer
from orthobench.decide.code import code_of
from orthobench.decide.rule import TOLERANCE
from orthobench.errors import UsageError, unknown
from orthobench.execute.loop import execute
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Executor, Limits, Observer
from orthobench.harness.stopping import Budget, RunStatus
from orthobench.harness.suite import Suite
from orthobench.racing import wording
from orthobench.racing.entrants import Entry, entry
from orthobench.racing.scheduler import Clock, RaceScheduler, Tell, compared
from orthobench.racing.standing import Rules
from orthobench.report.notebook_view import Results
from orthobench.results.runs import Run
from orthobench.results.schema import exists
from orthobench.results.store import FILE, Store
from orthobench.stats.calls import Stop
from orthobench.stats.costs import ALL_COSTS
from orthobench.tools.collections import grouped, plain
from orthobench.tools.environment import cores
from orthobench.tools.files import safe_join
from orthobench.tools.processes import Alarm

COSTS = ("seconds", "samples", "flops", "memory", "products")
"""What a race can make least."""

TICK = 4.0
"""Seconds between two standings."""

MOST_WORKERS = 4
"""The most runs at once: more share the bandwidth of the memory."""


@dataclass(frozen=True)
class Drop:
    """A configuration that is out of a race: its name, the second when it was, and why."""

    name: str
    when: float
    why: str


@dataclass(frozen=True)
class Race:
    """What a race gave.

    Attributes
    ----------
    winner : str, optional
        The name of a solver in the catalogue; None if no run came to an end.
    parameters : mapping
        Its parameters, those that are not as by default.
    factor : float
        The cost of the next call that is as good over its own; NaN without another.
    sentence : str
        What to use, how good it is and what it costs.
    evidence : str
        How it was timed, and how many configurations ran on how many seeds.
    decided : bool
        Whether it is shown to be as good as the best (`orthobench.decide`).
    table : list of dict
        A row for each configuration, that of the call to make first: ``configuration``,
        ``solver``, ``verdict``, ``cost`` of its call, ``first_cost`` of the first call in a
        process, ``stop``, ``reached`` and ``seeds`` (on how many of how many it gets to the
        tolerance), ``factor`` of cost to the first row, ``why`` it was dropped.
    dropped : tuple of Drop
    missing : mapping
        Why solvers could not take part whose packages are not installed, by name.
    results : Results
        All runs, as ordinary results.
    code : str
        The lines that compute the answer with `orthobench.solve`, as they can be pasted.
    stop : Stop
        If the call ends.
    exact : str, optional
        The solver with the cheapest call that ends at a known optimum on all seeds.
    seconds : float
        How long it took.
    problem : str
        Its label.
    cost : str
    interrupted : bool
        Whether somebody broke it off.
    """

    winner: str | None
    parameters: Mapping[str, Any]
    factor: float
    sentence: str
    evidence: str
    decided: bool
    table: list[dict[str, Any]]
    dropped: tuple[Drop, ...]
    missing: Mapping[str, str]
    results: Results
    code: str
    stop: Stop
    exact: str | None
    seconds: float
    problem: str
    cost: str
    interrupted: bool = False

    def __str__(self) -> str:
        return f"{self.sentence}\n{self.evidence}\n\n{self.code}"

    @property
    def lacking(self) -> dict[str, list[str]]:
        """The solvers that could not take part, by what to install."""
        return grouped(self.missing, lambda name: self.missing[name])

    def facts(self) -> dict[str, Any]:
        """Return all but the runs as JSON values."""
        values = {name: value for name, value in vars(self).items() if name != "results"}
        return {**plain(values), "store": str(self.results.path)}


def race(
    problem: Any,
    within: float = 120.0,
    tolerance: float = TOLERANCE,
    cost: str = "seconds",
    *,
    solvers: Sequence[Any] = (),
    memory: int | None = None,
    store: Path | str | None = None,
    tell: Tell | None = None,
) -> Race:
    """Find the cheapest solver that is good enough on a problem, in the time that is given.

    All solvers that take the problem race, and the points of the grids that they declare. Those
    that are not there in a few times the time of the leader are dropped: see
    `orthobench.racing.halving`. What is compared at levels of another metric races at the first.
    A race that was interrupted goes on from its store.

    Parameters
    ----------
    problem : str, Problem or Instance
        As ``"npy-pca path=X.npy k=8"``, or data of your own such as ``ob.stochastic_pca(X, k=8)``.
    within : float
        Seconds that it may take in all.
    tolerance : float
        The part of the gap from the start to the best value by which what is good enough may end
        above the best.
    cost : str
        What is to be least: ``"seconds"``, ``"samples"``, ``"flops"`` or ``"memory"``.
    solvers : sequence
        Specifications ``NAME key=value ...``, classes or objects; all that take the problem, and
        the grids that they declare, if none is given.
    memory : int, optional
        The most bytes that the process of a solver may take (on Linux).
    store : path, optional
        The SQLite file; one for each problem in ``orthobench-results`` if none is named.
    tell : callable, optional
        Called with text for people, and whether it is the standing, which the next one replaces:
        a table, and a line with who leads and the time left. Other text says who is dropped.

    Raises
    ------
    UsageError, DataError
        If there is nothing to race, before anything runs, or the data are unfit.
    StoreError
        If the store cannot be used.
    """
    return races(
        [problem], within, tolerance, cost, solvers=solvers, memory=memory, store=store, tell=tell
    )[0]


def races(
    problems: Sequence[Any],
    within: float,
    tolerance: float,
    cost: str,
    *,
    solvers: Sequence[Any],
    memory: int | None,
    store: Path | str | None,
    tell: Tell | None,
) -> list[Race]:
    """Race on several problems in turn, each in its share of the time that is left; see `race`."""
    began = time.monotonic()
    if not 0 < within < math.inf:
        raise UsageError(f"a race takes a positive number of seconds, not {within}")
    if not 0 < tolerance < 1:
        raise UsageError(f"the tolerance is a part of the gap, in (0, 1), not {tolerance}")
    if cost not in COSTS:
        raise unknown("cost", cost, COSTS)
    entries = [entry(problem, cost, solvers) for problem in problems]
    found: list[Race] = []
    for i, one in enumerate(entries):
        started = time.monotonic() if i else began
        total = (began + within - started) / (len(entries) - i)
        rules = Rules(one.order, total, tolerance, cost == "seconds", ending=one.ending)
        how: dict[str, Any] = {"memory": memory, "tell": tell, "source": problems[i]}
        found.append(run(one, rules, cost, store, began=started, **how))
        if found[-1].interrupted:
            break
    return found


def run(
    one: Entry,
    rules: Rules,
    cost: str = "seconds",
    store: Path | str | None = None,
    *,
    memory: int | None = None,
    began: float | None = None,
    tell: Tell | None = None,
    source: Any = None,
    executor: Executor | None = None,
    clock: Clock = time.monotonic,
) -> Race:
    """Run a race by its rules, or go on with what is stored of it.

    Parameters
    ----------
    one : Entry
    rules : Rules
    cost, store, memory, tell
        As of `race`.
    began : float, optional
        When its time began, by the clock; now if it is not given.
    source : str, Problem or Instance, optional
        The problem as the caller gave it, for the code.
    executor : Executor, optional
        By default one run for each core, `MOST_WORKERS` at most.
    clock : callable
        Returns seconds.
    """
    suite, began = one.suite, clock() if began is None else began
    path = Path(store or safe_join(Path(), RESULTS, suite.name, FILE))
    workers = max(1, min(MOST_WORKERS, int(cores() // suite.threads)))
    executor = executor or Executor("local", workers, suite.threads, Limits(None, memory))
    known, _ = stored(suite, path)
    race = RaceScheduler(
        suite, rules, cost, known, executor.at_once, began, clock, tell or (lambda *_: None)
    )
    interrupted = False

    def tick() -> None:
        race.tell_standing()
        alarm.set(TICK)

    with Store(path, write=True) as opened:
        try:
            if not race.repeats(opened):
                with Alarm(tick) as alarm:
                    alarm.set(0.0)
                    execute(race, executor, opened, Observer(), shlex.join(sys.argv))
        except KeyboardInterrupt:
            if not race.standing.trials:
                raise
            interrupted = True
        results = Results(suite.name, path, opened.records(suite.name))
    return _result(race, results, one.missing, source, executor.at_once, interrupted)


def stored(suite: Suite, path: Path) -> tuple[list[tuple[Cell, Run]], int]:
    """Return the runs of a race that are stored and would be the same today, and how many not."""
    if not exists(path):
        return [], 0
    planned = {(c.solver_label, c.seed): c for c in suite.cells()}
    with Store(path) as store:
        runs = [r for r in store.records(suite.name) if r.stop.status is not RunStatus.MISSING]
    pairs = [(planned.get((run.solver.label, run.seed)), run) for run in runs]
    now = [(replace(c, budget=Budget(**run.budget)), run) for c, run in pairs if c]
    found = [(cell, run) for cell, run in now if cell.key == run.key]
    return found, len(runs) - len(found)


def _result(
    race: RaceScheduler,
    results: Results,
    missing: Mapping[str, str],
    source: Any,
    workers: int,
    interrupted: bool,
) -> Race:
    """Return what a race gave so far."""
    standing, suite, cost = race.standing, race.suite, race.cost
    solvers = {s.label: s.solver for s in suite.solvers}
    told, leading = compared(results.records, cost, standing), wording.leading_call(standing)
    firsts = {name: first for (name, _), (_, first) in race.timed.items()}
    if told and cost == "seconds":
        costs = {call: seconds for call, (seconds, _) in race.timed.items()}
        told = told.with_costs(costs)
        if leading:
            own = costs.get((standing.leader or "", leading.stop), leading.cost)
            leading = replace(leading, cost=own)
    named, exact = (told.named, told.exact) if told else (None, None)
    call = named.call if named else leading
    winner = named.solver if named else standing.leader
    solver = solvers.get(winner or "")
    rows = wording.rows(standing, told, call, winner, firsts)
    others = [row["factor"] for row in rows[1:] if row["verdict"] in ("as good", "exact")]
    sentence = answer([told] if told else []).sentence
    return Race(
        solver.name if solver else None,
        {} if solver is None else changed_values(solver),
        min(others, default=math.nan),
        sentence if named else wording.provisional(standing, call, ALL_COSTS[cost]),
        wording.evidence(standing, call, bool(firsts), workers, decided=named is not None),
        named is not None,
        rows,
        tuple(
            Drop(name, round(race.dropped.get(name, 0.0), 3), why)
            for name, why in standing.dropped.items()
        ),
        missing,
        results,
        code_of(suite.problems[0].problem if source is None else source, solver, call.stop)
        if solver and call else "",
        call.stop if call else Stop(),
        exact.name if exact else None,
        race.elapsed,
        suite.problems[0].label,
        cost,
        interrupted,
    )  # fmt: skip
