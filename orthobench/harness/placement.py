"""Runs on other devices or libraries: waiting for the device, and moving arrays."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import fields, replace
from importlib.metadata import entry_points
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.solver import AnySolver, State
from orthobench.errors import UsageError
from orthobench.harness.identity import Streams
from orthobench.harness.source_digests import CLUSTERS
from orthobench.harness.stopping import Budget
from orthobench.tools.places import Place

TRANSFER = "transfer_seconds"
"""Metric: time of moving arrays so far, off the clock."""

WARM_UP = "warm_up_seconds"
"""Metric: time of loading and compilation so far, off the clock."""

WORKER_METRICS = WORKER_SECONDS, MOVED, MEMORY, READING, WORKERS = (
    "worker_seconds", "moved_bytes", "peak_worker_bytes", "reading_seconds", "workers",
)  # fmt: skip
"""Metrics of workers: seconds in methods of the solver, and in reading if it is timed; bytes moved
between processes; peak memory of a worker in bytes, on Linux; seconds of reading and checking
blocks; number of workers. Seconds are sums over workers."""


class MeasuredPlace(Place):
    """A place that measures seconds of warm-ups (`warming`) and of other moves (`spent`)."""

    spent: list[float]
    warming: list[float]

    def __init__(self, place: Place) -> None:
        super().__init__(place.library, place.device, place.dtype)
        vars(self).update(spent=[], warming=[])

    def array(self, values: NDArray[np.generic]) -> Any:
        """Return an array on this place, after its transfer."""
        begin = time.perf_counter()
        there = super().array(values)
        self.wait([there])
        self.spent.append(time.perf_counter() - begin)
        return there

    def to_numpy(self, values: Any) -> NDArray[np.generic]:
        """Return a copy of an array on the host."""
        begin = time.perf_counter()
        host = super().to_numpy(values)
        self.spent.append(time.perf_counter() - begin)
        return host

    @contextmanager
    def warm_up(self) -> Iterator[None]:
        """Count the time of a block as a warm-up."""
        moves, begin = len(self.spent), time.perf_counter()
        try:
            yield
        finally:
            self.warming.append(time.perf_counter() - begin)
            del self.spent[moves:]


class Calls:
    """The calls of a solver that are timed.

    A call may take samples of the oracle (`streams`), or be so long that it needs the garbage
    collector (`collects`). `besides` are the seconds of the last `advance` that are off the clock.
    """

    streams: bool = True
    collects: bool = False
    besides: float = 0.0

    def __init__(self, solver: AnySolver) -> None:
        self.batch = int(solver.batch)
        self.init, self.advance, self.solution = solver.init, solver.advance, solver.solution

    def left(self, state: State) -> float:
        """Return the number of steps that the solver still does."""
        del state
        return math.inf

    def rehearse(self, oracle: Oracle, state: State, count: int) -> None:
        """Compile the code of the next call of `advance`."""

    def fetched(self, solution: Solution) -> Solution:
        """Return a solution with its arrays on the host."""
        return solution

    def extra_metrics(self) -> dict[str, float]:
        """Return what was measured so far besides the clock, by name."""
        return {}

    def close(self) -> None:
        """Release the resources of the run."""


class CallsElsewhere(Calls):
    """Calls of a solver on another device or library, which return when all is computed."""

    def __init__(self, solver: AnySolver, oracle: Oracle) -> None:
        self.batch, self._solver = int(solver.batch), solver
        # an oracle from `ready_oracle` has a measured place
        place = oracle.place
        self._place = place if isinstance(place, MeasuredPlace) else MeasuredPlace(solver.place)

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

    def rehearse(self, oracle: Oracle, state: State, count: int) -> None:
        """Do the steps on a copy if their shapes are compiled; the run itself records errors."""
        if not self._place.compiles:
            return
        with self._place.warm_up(), suppress(Exception):
            ahead = deepcopy(state)
            self._solver.advance(_twin(oracle), ahead, count)
            self._wait(self._solver.solution(ahead))

    def fetched(self, solution: Solution) -> Solution:
        """Return a solution with its arrays on the host."""
        arrays = {k: v for k, v in _values(solution).items() if hasattr(v, "shape")}
        host: dict[str, Any] = {name: self._place.to_numpy(value) for name, value in arrays.items()}
        return replace(solution, **host)

    def extra_metrics(self) -> dict[str, float]:
        """Return the seconds of moving arrays and of warming up."""
        return {TRANSFER: sum(self._place.spent), WARM_UP: sum(self._place.warming)}

    def _wait(self, item: State | Solution) -> None:
        # a restarted solver has its arrays in the state of the current start
        self._place.wait(list(_values(getattr(item, "current", item)).values()))


def calls(solver: AnySolver, oracle: Oracle, budget: Budget, streams: Streams) -> Calls:
    """Return the calls of a solver that are timed."""
    if solver.place.reduces:
        made: Calls = clusters("blocks").Reduction(solver, oracle, budget, streams)
        return made
    return CallsElsewhere(solver, oracle) if solver.place.moves else Calls(solver)


def clusters(name: str) -> Any:
    """Return the module that has blocks or Dask, which most runs do without."""
    for point in entry_points(group=CLUSTERS, name=name):
        return point.load()
    raise UsageError(f"this installation has no part for {name}: install orthobench again")


def _twin(oracle: Oracle) -> Oracle:
    """Return a copy of an oracle that shares its samples and does not consume them."""
    twin: Oracle = object.__new__(type(oracle))
    own = {k: _twin(v) if isinstance(v, Oracle) else v for k, v in vars(oracle).items()}
    vars(twin).update(own)
    return twin


def _values(item: State | Solution) -> dict[str, object]:
    return {field.name: getattr(item, field.name) for field in fields(item)}
