"""Races run: `race`, which asks the rule what comes next, runs it as a cell, and stores it."""

from __future__ import annotations

import math
import shlex
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from typing import Any, TypeAlias

import numpy as np

from orthobench.api import RESULTS
from orthobench.contract.parameters import changed_values
from orthobench.contract.solver import AnySolver
from orthobench.decide.answer import answer
from orthobench.decide.code import code_of
from orthobench.decide.comparisons import compare
from orthobench.decide.rule import TOLERANCE, Decision
from orthobench.errors import DataError, UsageError, unknown
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Limits
from orthobench.harness.executors.cell_queue import kernels_of
from orthobench.harness.executors.local import Worker, next_events
from orthobench.harness.stopping import Budget, RunStatus, Termination
from orthobench.harness.suite import Suite
from orthobench.harness.trace import Outcome
from orthobench.racing import wording
from orthobench.racing.entrants import Entry, entry
from orthobench.racing.halving import Field, Rules, Trial
from orthobench.racing.timing import Caller
from orthobench.report.notebook_view import Results
from orthobench.results.runs import Run
from orthobench.results.schema import exists
from orthobench.results.store import FILE, Store
from orthobench.stats.calls import Call, Stop, ratio_of
from orthobench.stats.cost_curve import cost_curve
from orthobench.stats.costs import ALL_COSTS
from orthobench.tools import environment
from orthobench.tools.collections import plain
from orthobench.tools.environment import cores, limited
from orthobench.tools.files import hide_home, safe_join
from orthobench.tools.processes import Replies

COSTS = ("seconds", "samples", "flops", "memory", "products")
"""What a race can make least."""

RESERVE = 0.5, 0.05
"""Seconds kept for the end of a race, and the share of its time."""

TIMING = 1.0, 0.15
"""Seconds kept for timing the calls that are as good, and the share of the time of a race."""

SLACK = 2.0
"""The least seconds beside its clock that a run may take before its process is killed."""

BEGINNING = 0.6
"""The share of the time of a race that its first run may take beside its clock."""

LOADING = 0.15
"""The least share of the time of a race that packages may take to load, kernels to compile, data to
be built, or a process to start."""

TICK = 4.0
"""Seconds between two standings."""

FRESH = RunStatus.TIMEOUT, RunStatus.NOTHING_DONE
"""How runs end that had too little time, which is no failure in a race."""

MOST_WORKERS = 4
"""The most runs at once: more share the bandwidth of the memory."""

Tell: TypeAlias = Callable[[str, bool], None]
"""Takes text for people, and whether it is the standing, which the next one replaces."""

At: TypeAlias = tuple[str, int]
"""A configuration and a seed."""


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
        The name of a solver in the catalogue; None where no run came to an end.
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
        Where the call ends.
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
        return {
            why: [name for name, reason in self.missing.items() if reason == why]
            for why in self.missing.values()
        }

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
        the grids that they declare, where none is given.
    memory : int, optional
        The most bytes that the process of a solver may take (on Linux).
    store : path, optional
        The SQLite file; one for each problem in ``orthobench-results`` where none is named.
    tell : callable, optional
        Called with text for people, and whether it is the standing, which the next one replaces:
        a table, and a line with who leads and the time left. Other text says who is dropped.

    Raises
    ------
    UsageError, DataError
        Where there is nothing to race, before anything runs, or the data are unfit.
    StoreError
        Where the store cannot be used.
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
    _check(within, tolerance, cost)
    limits = Limits(None, memory)
    entries = [entry(problem, cost, solvers) for problem in problems]
    found: list[Race] = []
    for i, one in enumerate(entries):
        spent = time.monotonic() - began
        rules = Rules(
            one.order,
            (within - spent) / (len(entries) - i) if i else within / len(entries),
            tolerance,
            cost == "seconds",
            ending=one.ending,
        )
        started = time.monotonic() if i else began
        found.append(run(one, rules, cost, store, limits, started, tell, problems[i]))
        if found[-1].interrupted:
            break
    return found


def run(
    one: Entry,
    rules: Rules,
    cost: str = "seconds",
    store: Path | str | None = None,
    limits: Limits | None = None,
    began: float | None = None,
    tell: Tell | None = None,
    source: Any = None,
) -> Race:
    """Run a race by its rules, or go on with what is stored of it.

    Parameters
    ----------
    one : Entry
    rules : Rules
    cost, store, tell
        As of `race`.
    limits : Limits, optional
    began : float, optional
        When its time began, by `time.monotonic`; now if it is not given.
    source : str, Problem or Instance, optional
        The problem as the caller gave it, for the code.
    """
    path = Path(store or safe_join(Path(), RESULTS, one.suite.name, FILE))
    started = time.monotonic() if began is None else began
    course = _Course(
        one.suite, rules, cost, path, limits or Limits(), started, tell or (lambda *_: None)
    )
    try:
        course.run()
    except KeyboardInterrupt:
        if not course.trials:
            raise
        return _result(course, one.missing, source, interrupted=True)
    return _result(course, one.missing, source, interrupted=False)


def _check(within: float, tolerance: float, cost: str) -> None:
    if not 0 < within < math.inf:
        raise UsageError(f"a race takes a positive number of seconds, not {within}")
    if not 0 < tolerance < 1:
        raise UsageError(f"the tolerance is a part of the gap, in (0, 1), not {tolerance}")
    if cost not in COSTS:
        raise unknown("cost", cost, COSTS)


@dataclass
class _Course:
    """A race under way."""

    suite: Suite
    rules: Rules
    cost: str
    path: Path
    limits: Limits
    began: float
    tell: Tell
    trials: list[Trial] = field(default_factory=list)
    cells: dict[At, Cell] = field(default_factory=dict)
    dropped: dict[str, float] = field(default_factory=dict)
    overheads: list[float] = field(default_factory=list)
    loaded: set[str] = field(default_factory=set)
    running: dict[At, float] = field(default_factory=dict)

    @property
    def workers(self) -> int:
        """How many runs go on at once."""
        return max(1, min(MOST_WORKERS, int(cores() // self.suite.threads)))

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.began

    @property
    def overhead(self) -> float:
        """Seconds that a run usually takes beside those on its clock."""
        return median(self.overheads[1:] or self.overheads or [0.0])

    @property
    def left(self) -> float:
        """Seconds until the last run has to be over."""
        return self.end - self.elapsed

    @property
    def end(self) -> float:
        """Seconds from the beginning to when the last run has to be over."""
        fixed, share = RESERVE
        if self.cost == "seconds":
            fixed, share = fixed + TIMING[0], share + TIMING[1]
        return max(self.rules.total * (1 - share) - fixed, self.rules.total / 2)

    @property
    def standing(self) -> Field:
        """The race as it stands."""
        return Field(self.rules, tuple(self.trials))

    def run(self) -> None:
        """Run what the rule asks for, until nothing is left to ask or the time is over."""
        planned = {(c.solver_label, c.seed): c for c in self.suite.cells()}
        with ExitStack() as stack:
            known, _ = stored(self.suite, self.path)
            self.cells = {(run.solver.label, run.seed): cell for cell, run in known}
            store = stack.enter_context(Store(self.path, write=True))
            session = self._begin(store)
            self.trials += [trial_of(run, self.cost) for _, run in known]
            stack.callback(self._ticking().set)
            self._announce()
            replies: Replies = SimpleQueue()
            crew = [
                Worker(str(i + 1), self.suite.threads, self.limits, replies)
                for i in range(self.workers)
            ]
            for worker in crew:
                stack.callback(worker.close)
            while self._assign(crew, planned):
                for event in next_events(crew, replies, self.began + self.end):
                    if event.outcome is not None:
                        self._keep(event.cell, event.outcome, store, session)
                if self.left <= 0:
                    break
            store.end(session)

    def _assign(self, crew: Sequence[Worker], planned: Mapping[At, Cell]) -> bool:
        """Give idle workers what the rule asks for; return whether any is at work."""
        for worker in crew:
            if worker.cell is not None:
                continue
            left = self.left * len(crew)
            ask = self.standing.next(left, self.overhead, self.running.keys())
            if ask is None:
                break
            at = ask.configuration, ask.seed
            cell = replace(planned[at], budget=Budget(seconds=ask.cap))
            timeout = min(ask.cap + self._slack(cell, worker), max(self.left, 0.01))
            worker.limits = replace(self.limits, timeout=timeout)
            self.running[at] = self.elapsed
            worker.begin(cell)
        return bool(self.running)

    def _slack(self, cell: Cell, worker: Worker) -> float:
        """Return the seconds beside its clock that a run may take before its process is killed."""
        if not self.overheads:
            return BEGINNING * self.rules.total
        loads = {*kernels_of(cell), *cell.solver.packages} - self.loaded
        self.loaded |= loads
        fresh = loads or worker.process is None or worker.held != (cell.problem, cell.seed)
        first = max(LOADING * self.rules.total, 2 * self.overheads[0])
        return max(SLACK, 3 * self.overhead) + (first if fresh else 0.0)

    def _begin(self, store: Store) -> int:
        with limited(self.suite.threads):
            ran_on = environment.snapshot()
        facts = {**ran_on, "run": {"executor": "local", "workers": self.workers}}
        command = hide_home(shlex.join(sys.argv))
        return store.begin(self.suite, list(self.cells.values()), command, facts)

    def _keep(self, cell: Cell, outcome: Outcome, store: Store, session: int) -> None:
        """Store a run, unless the end of the race cut it off."""
        at = cell.solver_label, cell.seed
        begun = self.running.pop(at)
        if self.left <= 0 and outcome.stop.status is RunStatus.TIMEOUT:
            return
        _refuse_unfit(cell, outcome.stop)
        store.add(session, [(cell, outcome)])
        if at in self.cells:
            store.replan(self.suite.name, [*({**self.cells, at: cell}.values())])
        else:
            store.plan(self.suite.name, [cell])
        self.cells[at] = cell
        records = store.records(self.suite.name, cell.problem_label, cell.solver_label)
        trial = trial_of(next(run for run in records if run.key == cell.key), self.cost)
        self.trials.append(trial)
        clock = float(trial.seconds[-1]) if len(trial.seconds) else 0.0
        self.overheads.append(self.elapsed - begun - clock)
        self._announce()

    def _announce(self) -> None:
        """Tell who is out since the last time."""
        field_ = self.standing
        for name, why in field_.dropped.items():
            if name not in self.dropped:
                self.dropped[name] = self.elapsed
                own = [n for n, kin in self.rules.order.items() if kin == self.rules.order[name]]
                if all(n in field_.dropped for n in own):
                    self.tell(f"{wording.at(self.elapsed)} {name}: {why}", False)

    def _ticking(self) -> threading.Event:
        """Tell the standing now and again and again, until the event that is returned is set."""
        over = threading.Event()

        def tick() -> None:
            while not over.is_set():
                now = next(iter(self.running), ("", 0))[0]
                self.tell(
                    wording.standing(self.standing, self.cost, now, self.elapsed, self.left), True
                )
                over.wait(TICK)

        threading.Thread(target=tick, daemon=True).start()
        return over


def stored(suite: Suite, path: Path) -> tuple[list[tuple[Cell, Run]], int]:
    """Return the runs of a race that are stored and would be the same today, and how many not."""
    if not exists(path):
        return [], 0
    planned = {(c.solver_label, c.seed): c for c in suite.cells()}
    with Store(path) as store:
        records = store.records(suite.name)
    found, stale = [], 0
    for run in records:
        cell = planned.get((run.solver.label, run.seed))
        if run.stop.status is RunStatus.MISSING:
            continue
        if cell and (own := replace(cell, budget=Budget(**run.budget))).key == run.key:
            found.append((own, run))
        else:
            stale += 1
    return found, stale


def trial_of(run: Run, cost: str) -> Trial:
    """Return what a stored run says in a race."""
    stop, cap = run.stop, run.budget.get("seconds", math.inf)
    counted = run
    if stop.status in FRESH:
        counted = replace(run, stop=Termination(RunStatus.BUDGET, stop.reason))
    level = run.problem.levels[0] if run.problem.levels else None
    path = cost_curve(counted, level, measured(run))
    nothing = np.zeros(0)
    if path is None:
        failed = "" if stop.status in FRESH else stop.reason
        return Trial(run.solver.label, run.seed, cap, nothing, nothing, nothing, False, failed)
    values, seconds = path.values, path.spent("seconds")
    if level and run.trace[-1].metrics.get(level.metric, math.inf) > level.value:
        values = np.full_like(values, math.inf)
    ended = stop.status in (RunStatus.DONE, RunStatus.NOT_STATIONARY)
    return Trial(
        run.solver.label, run.seed, cap, values, seconds, path.spent(cost), ended,
        start=path.start,
        steps=path.steps,
        certified=measured(run) == run.problem.primary,
        ratio=ratio_of(run),
    )  # fmt: skip


def measured(run: Run) -> str:
    """Return the metric that a race is about: the primary one of the problem, where it is known.

    A function of one's own has no known optimum, so its value is compared.
    """
    known = run.trace[0].metrics if run.trace else {}
    primary, other = run.problem.primary, run.problem.tuned_by
    return other if primary not in known and other in known else primary


def _refuse_unfit(cell: Cell, stop: Termination) -> None:
    """Refuse a problem that cannot be built, which the first run finds."""
    if stop.status is RunStatus.ERROR and stop.reason.startswith(f"problem {cell.problem.name}"):
        raise DataError(stop.reason)


def _result(course: _Course, missing: Mapping[str, str], source: Any, interrupted: bool) -> Race:
    """Return what a race gave so far."""
    standing, suite = course.standing, course.suite
    with Store(course.path) as store:
        results = Results(suite.name, course.path, store.records(suite.name))
    metric = next((measured(run) for run in results.records if run.trace), "")
    solvers = {s.label: s.solver for s in suite.solvers}
    compared = compare(results.entries, course.cost, course.rules.tolerance, metric)
    leading = wording.leading_call(standing)
    firsts: dict[str, float] = {}
    if compared and course.cost == "seconds" and not interrupted:
        offers = [(d.solver, call) for d in compared[0].as_good for call in _calls(d)]
        if not offers and standing.leader and leading:
            offers = [(standing.leader, leading)]
        told = (compared[0].named, compared[0].exact)
        sure = [(d.solver, d.call) for d in told if d and d.call]
        costs, firsts = _timed(course, offers, sure, solvers)
        compared[0] = compared[0].with_costs(costs)
        if leading:
            own = costs.get((standing.leader or "", leading.stop), leading.cost)
            leading = replace(leading, cost=own)
    found = answer(compared)
    named = compared[0].named if compared else None
    call = named.call if named else leading
    winner = named.solver if named else standing.leader
    solver = solvers.get(winner or "")
    rows = wording.final_rows(standing, compared[0] if compared else None, call, winner, firsts)
    others = [row["factor"] for row in rows[1:] if row["verdict"] in ("as good", "exact")]
    exact = compared[0].exact if compared else None
    cost = ALL_COSTS[course.cost]
    sentence = found.sentence if named else wording.provisional(standing, call, cost)
    return Race(
        solver.name if solver else None,
        {} if solver is None else changed_values(solver),
        min(others, default=math.nan),
        sentence,
        wording.race_evidence(standing, call, bool(firsts), course.workers),
        named is not None,
        rows,
        tuple(
            Drop(name, round(course.dropped.get(name, 0.0), 3), why)
            for name, why in standing.dropped.items()
        ),
        missing,
        results,
        code_of(suite.problems[0].problem if source is None else source, solver, call.stop)
        if solver and call else "",
        call.stop if call else Stop(),
        exact.name if exact else None,
        course.elapsed,
        suite.problems[0].label,
        course.cost,
        interrupted,
    )  # fmt: skip


def _timed(
    course: _Course,
    calls: Sequence[tuple[str, Call]],
    sure: Sequence[tuple[str, Call]],
    solvers: Mapping[str, AnySolver],
) -> tuple[dict[tuple[str, Stop], float], dict[str, float]]:
    """Time the calls that may be the cheapest, and some others for sure, one after another.

    Returns
    -------
    costs : dict
        Seconds of a call, by solver and stop.
    firsts : dict
        Seconds of the first call in a process, by solver.
    """
    costs, firsts = dict[tuple[str, Stop], float](), dict[str, float]()
    most = 2 * cores() * min((call.cost for _, call in calls), default=0.0)
    own = [one for one in calls if one[1].cost <= most or one in sure]
    own.sort(key=lambda one: one[1].cost)
    end = course.rules.total - RESERVE[0]
    if not own or end <= course.elapsed:
        return costs, firsts
    course.tell(wording.timing_line(course.elapsed, len(own)), False)
    with Caller(course.suite.problems[0].problem) as caller:
        for i, (label, call) in enumerate(own):
            left = (end - course.elapsed) / (1 + (i < len(own) - 1))
            if (times := caller.times(solvers[label], call.stop, left)) is None:
                break
            costs[label, call.stop], firsts[label] = times.seconds, times.first
    return costs, firsts


def _calls(decision: Decision) -> list[Call]:
    """Return the different calls that a solver offers."""
    found = [call for call in (decision.call, decision.exact) if call is not None]
    return found[:1] if decision.call is decision.exact else found
