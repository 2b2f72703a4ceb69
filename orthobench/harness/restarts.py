"""A solver that runs from several starts and returns the best of its ends."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np

from orthobench.contract.parameters import ParameterError, parameter
from orthobench.contract.problem import AnyProblem, Oracle, Solution
from orthobench.contract.solver import AnySolver, Solver, State, Status, Work
from orthobench.errors import UsageError

TAKEN_OVER = (
    "name", "needs", "source", "reruns", "converges", "packages", "files", "place", "batch",
)  # fmt: skip
"""Attributes that a restarted solver takes from the original."""


@dataclass(slots=True, kw_only=True)
class RestartState(State):
    """The current start, its number from 1, and the best of those that ended.

    `done` is the work of all starts that ended; `best` has the objective of its end, and the end.
    """

    first: object
    rng: np.random.Generator
    current: State = field(default_factory=State)
    number: int = 1
    done: Work = field(default_factory=Work)
    best: tuple[float, Solution] | None = None


@dataclass(frozen=True)
class Restarted(Solver[Oracle, RestartState]):
    """A solver without samples from several starts, one after the other, all on the clock.

    The first start is that of the run, `Oracle.start_again` draws the others. The solution is the
    best end by `Oracle.objective`; before the first end it is the iterate.
    """

    solver: AnySolver
    restarts: int = parameter(help="starts")

    def __post_init__(self) -> None:
        if self.solver.batch or self.solver.place.reduces:
            message = f"solver {self.solver.name} takes samples as they come, and cannot restart"
            raise ParameterError("restarts", message)
        for attribute in TAKEN_OVER:
            object.__setattr__(self, attribute, getattr(self.solver, attribute))

    @property
    def single(self) -> AnySolver:
        """The original solver."""
        return self.solver

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why the problem cannot be solved with restarts, or None."""
        return self.solver.refuses(problem) or _incomparable(problem.offers)

    def init(self, oracle: Oracle, rng: np.random.Generator) -> RestartState:
        """Return the state at the first start."""
        if refusal := _incomparable(type(oracle)):
            raise UsageError(f"solver {self.name}: {refusal}")
        state = RestartState(first=oracle.start, rng=rng)
        self._begin(oracle, state)
        return state

    def advance(self, oracle: Oracle, state: RestartState, count: int) -> None:
        """Do `count` steps, fewer if the last start ends; with reruns all steps from the start."""
        if self.reruns:
            count += state.work.steps
            oracle.start = state.first  # type: ignore[assignment]
            self._begin(oracle, state)
        end = state.work.steps + count
        while state.work.steps < end and state.status is Status.RUNNING:
            current, before = state.current, state.current.work.steps
            self.solver.advance(oracle, current, end - state.work.steps)
            if current.work.steps == before and current.status is Status.RUNNING:
                return
            self._proceed(oracle, state)

    def solution(self, state: RestartState) -> Solution:
        """Return the best end so far, or the iterate before the first end."""
        return self.solver.solution(state.current) if state.best is None else state.best[1]

    def _begin(self, oracle: Oracle, state: RestartState) -> None:
        state.number, state.done, state.best = 1, Work(), None
        state.current = self.solver.init(oracle, deepcopy(state.rng))
        self._proceed(oracle, state)

    def _proceed(self, oracle: Oracle, state: RestartState) -> None:
        while state.current.status is not Status.RUNNING:
            self._compare(oracle, state)
            if state.number == self.restarts:
                failed = state.best is None
                state.status = Status.FAILED if failed else Status.CONVERGED
                state.reason = state.current.reason if failed else ""
                state.work = replace(state.done)
                return
            rng = np.random.default_rng([state.number, int(deepcopy(state.rng).integers(2**62))])
            oracle.start_again(state.number, rng)
            state.number += 1
            state.current = self.solver.init(oracle, rng)
        state.work = _sum(state.done, state.current.work)
        state.reason = f"in start {state.number} of {self.restarts}"

    def _compare(self, oracle: Oracle, state: RestartState) -> None:
        state.done = _sum(state.done, state.current.work)
        solution = self.solver.solution(state.current)
        if state.current.status is Status.FAILED:
            return
        value, work = oracle.objective(solution)
        state.done = _sum(state.done, work)
        if state.best is None or value < state.best[0]:
            state.best = value, solution


def restarted(solver: AnySolver, restarts: object) -> Restarted:
    """Return a solver with restarts.

    Raises
    ------
    ParameterError
        If the number is not positive, or the solver takes samples or has no test of its own.
    """
    if isinstance(restarts, bool) or not isinstance(restarts, int) or restarts < 1:
        raise ParameterError("restarts", f"restarts must be an integer >= 1, not {restarts!r}")
    found = Restarted(solver, restarts)
    if not solver.converges:
        message = f"solver {solver.name} does not end by itself, and never starts again"
        raise ParameterError("restarts", message)
    return found


def on_all_components(solver: AnySolver, oracle: Oracle) -> AnySolver:
    """Return a solver that starts on each component of the constraint set."""
    if solver.batch or getattr(solver, "restarts", 1) >= oracle.components:
        return solver
    return Restarted(solver.single, oracle.components)


def _incomparable(oracle: type[Oracle]) -> str | None:
    if oracle.objective is Oracle.objective:
        return f"{oracle.__name__} has no objective to compare starts by; leave out restarts"
    return None


def _sum(a: Work, b: Work) -> Work:
    return Work(a.steps + b.steps, a.samples + b.samples, a.flops + b.flops)
