"""A solver that begins again from other starts, and keeps the best of the points it ended at."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from orthobench.contract.parameters import ParameterError, parameter
from orthobench.contract.problem import AnyProblem, Oracle, Solution
from orthobench.contract.solver import AnySolver, Solver, State, Status, Work
from orthobench.errors import UsageError

TAKEN_OVER = ("name", "needs", "source", "reruns", "packages", "files", "place", "batch")
"""What a restarted solver has from the one that it restarts."""


@dataclass(slots=True, kw_only=True)
class RestartState(State):
    """The start under way, and the best of those that ended.

    Attributes
    ----------
    first : array
        `Oracle.start` of the first start.
    rng : numpy.random.Generator
        Of the first start.
    number : int
        Of the start under way, from 1.
    current : State
        The solver's, of the start under way.
    done : Work
        The work of all starts that ended.
    best : Solution, optional
        The best point that one ended at.
    lowest : float
        Its objective.
    """

    first: object
    rng: np.random.Generator
    current: State
    number: int = 1
    done: Work
    best: Solution | None = None
    lowest: float = inf


@dataclass(frozen=True)
class Restarted(Solver[Oracle, RestartState]):
    """A solver from several starts, one after the other, all on the clock.

    The first start is that of the run, the others are drawn (`Oracle.start_again`). The next begins
    where one has converged. The solution is the best point that one ended at, by
    `Oracle.objective`, which is on the clock too; before the first has ended it is the iterate.

    Parameters
    ----------
    solver : Solver
        It must take no samples.
    restarts : int
        The number of starts.
    """

    solver: AnySolver
    restarts: int = parameter(help="starts")

    def __post_init__(self) -> None:
        if self.solver.batch or self.solver.place.reduces:
            message = (
                f"solver {self.solver.name} takes samples as they come, and cannot start again"
            )
            raise ParameterError("restarts", message)
        for attribute in TAKEN_OVER:
            object.__setattr__(self, attribute, getattr(self.solver, attribute))

    @property
    def single(self) -> AnySolver:
        """The solver that it restarts."""
        return self.solver

    @property
    def converges(self) -> bool:  # type: ignore[override]
        """Whether each start ends by itself."""
        return self.solver.converges

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why the solver cannot take a problem, or why its ends cannot be compared."""
        return self.solver.refuses(problem) or _incomparable(problem.offers)

    def init(self, oracle: Oracle, rng: np.random.Generator) -> RestartState:
        """Begin the first start."""
        if refusal := _incomparable(type(oracle)):
            raise UsageError(f"solver {self.name}: {refusal}")
        state = self._begun(oracle, oracle.start, rng)
        self._proceed(oracle, state)
        return state

    def advance(self, oracle: Oracle, state: RestartState, count: int) -> None:
        """Do `count` steps, or fewer where the last start ends; with reruns from the beginning."""
        if self.reruns:
            count += state.work.steps
            oracle.start = state.first  # type: ignore[assignment]
            again = self._begun(oracle, state.first, state.rng)
            for name in ("current", "number", "done", "best", "lowest", "work"):
                setattr(state, name, getattr(again, name))
            self._proceed(oracle, state)
        end = state.work.steps + count
        while state.work.steps < end and state.status is Status.RUNNING:
            current, before = state.current, state.current.work.steps
            self.solver.advance(oracle, current, end - state.work.steps)
            if current.work.steps == before and current.status is Status.RUNNING:
                return
            self._proceed(oracle, state)

    def solution(self, state: RestartState) -> Solution:
        """Return the best point that a start ended at, before the first the iterate."""
        return self.solver.solution(state.current) if state.best is None else state.best

    def _begun(self, oracle: Oracle, first: object, rng: np.random.Generator) -> RestartState:
        current = self.solver.init(oracle, deepcopy(rng))
        return RestartState(first=first, rng=rng, current=current, done=Work())

    def _proceed(self, oracle: Oracle, state: RestartState) -> None:
        """Count the work; where the start has ended, compare, and begin the next."""
        while state.current.status is not Status.RUNNING and state.number < self.restarts:
            self._compare(oracle, state)
            rng = np.random.default_rng([state.number, int(deepcopy(state.rng).integers(2**62))])
            oracle.start_again(state.number, rng)
            state.number += 1
            state.current = self.solver.init(oracle, rng)
        if state.current.status is not Status.RUNNING:
            self._compare(oracle, state)
            ended = state.best is None
            state.status = Status.FAILED if ended else Status.CONVERGED
            state.reason = state.current.reason if ended else ""
            state.work = replace(state.done)
            return
        state.work = _sum(state.done, state.current.work)
        state.reason = self._under_way(oracle, state.number)

    def _compare(self, oracle: Oracle, state: RestartState) -> None:
        """Keep the point that a start ended at, where it is the best so far."""
        state.done = _sum(state.done, state.current.work)
        solution = self.solver.solution(state.current)
        if state.current.status is Status.FAILED:
            return
        value, work = oracle.objective(solution)
        state.done = _sum(state.done, work)
        if state.best is None or value < state.lowest:
            state.best, state.lowest = solution, value

    def _under_way(self, oracle: Oracle, number: int) -> str:
        untried = number < oracle.components
        which = ": the other component was not tried" if untried else ""
        return f"in start {number} of {self.restarts}{which}"


def restarted(solver: AnySolver, restarts: object) -> Restarted:
    """Return a solver that begins from so many starts.

    Raises
    ------
    ParameterError
        Where the number is none, or the solver does not end by itself or takes samples.
    """
    if isinstance(restarts, bool) or not isinstance(restarts, int) or restarts < 1:
        raise ParameterError("restarts", f"restarts must be an integer >= 1, not {restarts!r}")
    found = Restarted(solver, restarts)
    if not solver.converges:
        message = f"solver {solver.name} does not end by itself, and never starts again"
        raise ParameterError("restarts", message)
    return found


def on_all_components(solver: AnySolver, oracle: Oracle) -> AnySolver:
    """Return a solver that starts on each component of the constraint set that the oracle names."""
    if solver.batch or getattr(solver, "restarts", 1) >= oracle.components:
        return solver
    return Restarted(solver.single, oracle.components)


def _incomparable(oracle: type[Oracle]) -> str | None:
    if oracle.objective is Oracle.objective:
        return f"{oracle.__name__} has no objective to compare starts by; leave out restarts"
    return None


def _sum(a: Work, b: Work) -> Work:
    return Work(a.steps + b.steps, a.samples + b.samples, a.flops + b.flops)
