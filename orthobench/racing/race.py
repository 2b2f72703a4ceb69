"""Races: `race` finds the call to make on a problem, within a time limit."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from orthobench.api import default_store
from orthobench.atlas.advice import advise
from orthobench.atlas.table import COSTS as COUNTED
from orthobench.contract.parameters import changed_values
from orthobench.decide.answer import answer
from orthobench.decide.code import code_of
from orthobench.decide.rule import TOLERANCE
from orthobench.errors import OrthobenchError, UsageError, unknown
from orthobench.execute.loop import execute
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Executor, Limits, Observer
from orthobench.harness.stopping import Budget, RunStatus
from orthobench.harness.suite import Suite
from orthobench.racing import wording
from orthobench.racing.entrants import Entrants, entrants_on
from orthobench.racing.scheduler import Progress, RaceScheduler
from orthobench.racing.standing import Rules
from orthobench.report.notebook_view import Results
from orthobench.results.runs import Run
from orthobench.results.schema import exists
from orthobench.results.store import Store
from orthobench.stats.calls import Stop
from orthobench.tools.collections import plain
from orthobench.tools.environment import cores
from orthobench.tools.processes import Alarm

COSTS = ("seconds", "samples", "flops", "memory", "products")
"""Costs that a race can minimise."""

TICK = 4.0
"""Seconds between two tables of a race."""

MOST_WORKERS = 4
"""Maximum number of runs at once: more would share the bandwidth of the memory."""


@dataclass(frozen=True)
class Dropped:
    """A configuration that is out of a race: its name, the second of the race, and the reason."""

    name: str
    when: float
    why: str


@dataclass(frozen=True)
class Race:
    """The answer of a race, with its evidence.

    Attributes
    ----------
    winner : str, optional
        The name of a solver in the catalogue; None if no run came to an end.
    parameters : mapping
        Its parameters that differ from the defaults.
    factor : float
        The cost of the next call that is as good over that of the winner; NaN without one.
    sentence, evidence : str
        The call with its quality and cost, and the conditions of the timing.
    decided : bool
        Whether the call is shown to be as good as the best (`orthobench.decide`).
    table : list of dict
        A row for each configuration, the call to make first: ``configuration``, ``solver``,
        ``verdict``, ``cost``, ``first_cost`` (first call in a process), ``stop``, ``reached``
        (seeds within the tolerance), ``seeds``, ``factor`` (cost over that of the first row),
        ``why``.
    dropped : tuple of Dropped
    missing : mapping
        Names of solvers without their packages, with the remedy.
    results : Results
        All runs.
    code : str
        The lines that compute the answer with `orthobench.solve`.
    stop : Stop
    exact : str, optional
        The solver with the cheapest call that ends at a known optimum on all seeds.
    seconds : float
        Duration of the race.
    problem, cost : str
    interrupted : bool
    """

    winner: str | None
    parameters: Mapping[str, Any]
    factor: float
    sentence: str
    evidence: str
    decided: bool
    table: list[dict[str, Any]]
    dropped: tuple[Dropped, ...]
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

    def facts(self) -> dict[str, Any]:
        """Return all attributes except the runs as JSON values."""
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
    tell: Progress | None = None,
) -> Race:
    """Find the cheapest solver that is good enough on a problem, within a time limit.

    All solvers that take the problem race, with the points of their grids, by the rule in
    `orthobench.racing.halving`. A problem with levels of another metric races at the first one. An
    interrupted race goes on from its store.

    Parameters
    ----------
    problem : str, Problem or Instance
        As ``"npy-pca path=X.npy k=8"``, or your data such as ``ob.stochastic_pca(X, k=8)``.
    within : float
        Maximum duration, in seconds.
    tolerance : float
        The part of the gap that counts as good enough.
    cost : str
        One of `COSTS`.
    solvers : sequence
        Specifications ``NAME key=value ...``, classes or objects; all by default.
    memory : int, optional
        Maximum memory of a solver's process, in bytes (on Linux).
    store : path, optional
        The SQLite file; by default one for each problem in ``orthobench-results``.
    tell : callable, optional
        Called with text for people, and whether it is the table, which the next one replaces.

    Raises
    ------
    UsageError, DataError
        If no solver can race, or the data are unfit.
    StoreError
        If the store cannot be used.
    """
    how = {"memory": memory, "store": store, "tell": tell}
    return races([problem], within, tolerance, cost, solvers, **how)[0]


def races(
    problems: Sequence[Any],
    within: float,
    tolerance: float,
    cost: str,
    solvers: Sequence[Any] = (),
    **how: Any,
) -> list[Race]:
    """Race on several problems in turn, with equal shares of the remaining time; see `race`."""
    began = monotonic()
    if not 0 < within < math.inf:
        raise UsageError(f"a race takes a positive number of seconds, not {within}")
    if not 0 < tolerance < 1:
        raise UsageError(f"the tolerance is a part of the gap, in (0, 1), not {tolerance}")
    if cost not in COSTS:
        raise unknown("cost", cost, COSTS)
    entries = [entrants_on(problem, cost, solvers) for problem in problems]
    found: list[Race] = []
    for i, one in enumerate(entries):
        started = monotonic() if i else began
        total = (began + within - started) / (len(entries) - i)
        rules = Rules(one.order, total, tolerance, cost, ending=one.ending, endless=one.endless)
        found.append(run(one, rules, began=started, **how))
        if found[-1].interrupted:
            break
    return found


def run(
    one: Entrants,
    rules: Rules,
    store: Path | str | None = None,
    *,
    memory: int | None = None,
    began: float | None = None,
    tell: Progress | None = None,
    executor: Executor | None = None,
) -> Race:
    """Run a race by its rules, from the runs in its store.

    Parameters
    ----------
    one : Entrants
    rules : Rules
    store, memory, tell
        As in `race`.
    began : float, optional
        The beginning of its time, by the clock; by default now.
    executor : Executor, optional
        By default one run for each core, at most `MOST_WORKERS`.
    """
    suite, began = one.suite, monotonic() if began is None else began
    path = Path(store or default_store(suite))
    workers = max(1, min(MOST_WORKERS, int(cores() // suite.threads)))
    executor = executor or Executor("local", workers, suite.threads, Limits(None, memory))
    known, _ = stored(suite, path)
    race = RaceScheduler(suite, rules, known, executor.at_once, began, tell)
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
    return _result(one, race, results, interrupted)


def stored(suite: Suite, path: Path) -> tuple[list[tuple[Cell, Run]], int]:
    """Return the stored runs of a race that would be equal today, and the number of others."""
    if not exists(path):
        return [], 0
    planned = {(c.solver_label, c.seed): c for c in suite.cells()}
    with Store(path) as store:
        runs = [r for r in store.records(suite.name) if r.stop.status is not RunStatus.MISSING]
    pairs = [(planned.get((run.solver.label, run.seed)), run) for run in runs]
    now = [(replace(c, budget=Budget(**run.budget)), run) for c, run in pairs if c]
    found = [(cell, run) for cell, run in now if cell.key == run.key]
    return found, len(runs) - len(found)


def _result(one: Entrants, race: RaceScheduler, results: Results, interrupted: bool) -> Race:
    standing, suite, rules = race.standing, one.suite, race.rules
    decided, call = race.answered(results.records)
    named, exact = (decided.named, decided.exact) if decided else (None, None)
    winner = standing.leader
    if decided and named:
        winner, call, sentence = named.solver, named.call, answer([decided]).sentence
    else:
        long = standing.is_long and not interrupted
        more = wording.too_long(rules.total, _advised(one.source, rules.cost)) if long else ""
        over = standing.next(math.inf) is None and not interrupted
        sentence = wording.provisional(standing, call, more, over)
    solver = {s.label: s.solver for s in suite.solvers}.get(winner or "")
    problem = suite.problems[0].problem if one.source is None else one.source
    firsts = {name: first for (name, _), (_, first) in race.timed.items()}
    rows = wording.rows(standing, decided, call, winner, firsts)
    others = [row["factor"] for row in rows[1:] if row["verdict"] in ("as good", "exact")]
    out, when = standing.dropped, race.dropped
    dropped = [Dropped(name, round(when.get(name, 0.0), 3), why) for name, why in out.items()]
    return Race(
        solver.name if solver else None,
        changed_values(solver) if solver else {},
        min(others, default=math.nan),
        sentence,
        wording.evidence(standing, call, bool(firsts), race.workers, decided=named is not None),
        named is not None,
        rows,
        tuple(dropped),
        one.missing,
        results,
        code_of(problem, solver, call.stop) if solver and call else "",
        call.stop if call else Stop(),
        exact.name if exact else None,
        race.elapsed,
        suite.problems[0].label,
        rules.cost,
        interrupted,
    )


def _advised(source: Any, cost: str) -> str:
    """Return the sentence of the map about a problem; empty if it has none."""
    if source is None:
        return ""
    try:
        return advise(source, cost if cost in COUNTED else "seconds").sentence
    except OrthobenchError:
        return ""
