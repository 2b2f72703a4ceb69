"""Runs elsewhere than in NumPy: waiting for the device, and bringing solutions back."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.solver import AnySolver, State
from orthobench.harness.identity import Streams
from orthobench.harness.stopping import Budget
from orthobench.tools.places import Place

TRANSFER = "transfer_seconds"
"""The metric that the harness adds: the seconds that moving arrays took so far, on no clock."""

WARM_UP = "warm_up_seconds"
"""The metric that the harness adds: the seconds of loading, compilation and first touch so far.

They are on no clock. What a process has loaded for an earlier run costs nothing."""


class MeasuredPlace(Place):
    """A place that measures how long moving arrays takes, there and back, and warming up.

    Attributes
    ----------
    spent : list of float
        The seconds of each move.
    warming : list of float
        The seconds of each warm-up; moves during one are part of it, and not in `spent`.
    """

    spent: list[float]
    warming: list[float]

    def __init__(self, place: Place) -> None:
        super().__init__(place.library, place.device, place.dtype)
        vars(self).update(spent=[], warming=[])

    def array(self, values: NDArray[np.generic]) -> Any:
        """Return an array of this place, once it is there."""
        begin = time.perf_counter()
        there = super().array(values)
        self.wait([there])
        self.spent.append(time.perf_counter() - begin)
        return there

    def to_numpy(self, values: Any) -> NDArray[np.generic]:
        """Return a copy of one of its arrays on the host."""
        begin = time.perf_counter()
        host = super().to_numpy(values)
        self.spent.append(time.perf_counter() - begin)
        return host

    @contextmanager
    def warm_up(self) -> Iterator[None]:
        """Count what happens meanwhile as a warm-up."""
        moves, begin = len(self.spent), time.perf_counter()
        try:
            yield
        finally:
            self.warming.append(time.perf_counter() - begin)
            del self.spent[moves:]

    def touch(self) -> None:
        """Load the library, and have the device ready."""
        with self.warm_up():
            self.array(np.zeros(1))


class Calls:
    """The calls of a solver that the clock is on.

    Parameters
    ----------
    solver : Solver

    Attributes
    ----------
    batch : int
        The most samples of a step.
    waits : bool
        Whether a call ends with a wait for another device.
    streams : bool
        Whether the samples of a step come from the oracle.
    collects : bool
        Whether the garbage collector stays on, as a call needs that takes hours.
    besides : float
        Seconds of the last `advance` that are not on the clock.
    """

    waits: bool = False
    streams: bool = True
    collects: bool = False
    besides: float = 0.0

    def __init__(self, solver: AnySolver) -> None:
        self.batch = int(solver.batch)
        self.init, self.advance, self.solution = solver.init, solver.advance, solver.solution

    def left(self, state: State) -> float:
        """Return how many steps are left, as far as the solver knows."""
        del state
        return math.inf

    def idle(self) -> None:
        """Do nothing, but wait for the device as each call does."""

    def rehearse(self, oracle: Oracle, state: State, count: int) -> None:
        """Prepare the code of the next call of `advance`."""

    def fetched(self, solution: Solution) -> Solution:
        """Return a solution with its arrays on the host."""
        return solution

    def extra_metrics(self, oracle: Oracle) -> dict[str, float]:
        """Return what was measured of a run so far beside its clock, by name."""
        del oracle
        return {}

    def close(self) -> None:
        """Give back what the run needed."""


class CallsElsewhere(Calls):
    """Calls that return when all is computed: a clock would stop before otherwise.

    Parameters
    ----------
    solver : Solver
        One that computes on another device, or with another library.
    """

    def __init__(self, solver: AnySolver) -> None:
        self.batch = int(solver.batch)
        self._solver, self._place = solver, MeasuredPlace(solver.place)
        self.waits = self._place.device != "cpu"

    def init(self, oracle: Oracle, rng: np.random.Generator) -> State:
        """Return the state before the first step."""
        state: State = self._solver.init(oracle, rng)
        self._wait(state)
        return state

    def advance(self, oracle: Oracle, state: State, count: int) -> None:
        """Do `count` steps."""
        self._solver.advance(oracle, state, count)
        self._wait(state)

    def solution(self, state: State) -> Solution:
        """Return the solution."""
        solution = self._solver.solution(state)
        self._wait(solution)
        return solution

    def idle(self) -> None:
        """Wait for a number to arrive."""
        self._place.wait([self._solver.place.array(np.zeros(1))])

    def rehearse(self, oracle: Oracle, state: State, count: int) -> None:
        """Do the steps, read the solution, and forget them, where their shapes are compiled for.

        The clock is then on shapes that are compiled. An error here comes again in the run, where
        it is recorded.
        """
        if not self._place.compiles:
            return
        with _place_of(oracle).warm_up(), suppress(Exception):
            ahead = deepcopy(state)
            self._solver.advance(_twin(oracle), ahead, count)
            self._wait(self._solver.solution(ahead))

    def fetched(self, solution: Solution) -> Solution:
        """Return a solution with its arrays on the host."""
        arrays = {k: v for k, v in _values(solution).items() if hasattr(v, "shape")}
        host: dict[str, Any] = {name: self._place.to_numpy(value) for name, value in arrays.items()}
        return replace(solution, **host)

    def extra_metrics(self, oracle: Oracle) -> dict[str, float]:
        """Return the seconds of moving arrays and of warming up."""
        there = _place_of(oracle)
        moves = sum(there.spent) + sum(self._place.spent)
        return {TRANSFER: moves, WARM_UP: sum(there.warming)}

    def _wait(self, item: State | Solution) -> None:
        # of a solver that starts again and again the arrays are in the state of one start
        self._place.wait(list(_values(getattr(item, "current", item)).values()))


def calls(solver: AnySolver, oracle: Oracle, budget: Budget, streams: Streams) -> Calls:
    """Return the calls of a solver that the clock is on."""
    if solver.place.reduces:
        from orthobench.harness.reducing.reduction import Reduction

        summarizing: Any = solver  # no other is at such a place
        return Reduction(summarizing, oracle, budget, streams)
    return CallsElsewhere(solver) if solver.place.moves else Calls(solver)


def _place_of(oracle: Oracle) -> MeasuredPlace:
    """Return the place of an oracle, which is from `ready_oracle`; a new one of any other's."""
    place = oracle.place
    return place if isinstance(place, MeasuredPlace) else MeasuredPlace(place)


def _twin(oracle: Oracle) -> Oracle:
    """Return an oracle that hands out the same samples, and leaves them with the first."""
    twin: Oracle = object.__new__(type(oracle))
    own = {k: _twin(v) if isinstance(v, Oracle) else v for k, v in vars(oracle).items()}
    vars(twin).update(own)
    return twin


def _values(item: State | Solution) -> dict[str, object]:
    return {field.name: getattr(item, field.name) for field in fields(item)}
