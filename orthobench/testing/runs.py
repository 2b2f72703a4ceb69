"""Runs of a solver that checks compare: the same problem, streams and steps each time."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, Oracle
from orthobench.contract.solution import Solution
from orthobench.contract.solver import AnySolver, State, Status
from orthobench.harness.identity import Streams
from orthobench.testing.findings import NotCheckable
from orthobench.testing.reaching import Snapshot
from orthobench.tools.geometry import random_point

STEPS = 40
"""Steps of a run, or as many as there are samples for: more than the blocks of fused kernels."""

RERUN_STEPS = 6
"""Steps of solvers with `reruns`: no block spans them, and each call does all of them."""

FEWEST = 4
"""Steps that a check needs samples for."""


@dataclass
class Run:
    """A run under way."""

    solver: AnySolver
    oracle: Oracle
    state: State

    def advance(self, count: int) -> None:
        """Do `count` steps as the harness has them done, or fewer where the solver stops."""
        batch = self.solver.batch
        most = max(1, self.oracle.window // batch) if batch else count
        while count > 0 and self.state.status is Status.RUNNING:
            piece = min(count, most)
            if batch:
                self.oracle.prepare(piece * batch)
            self.solver.advance(self.oracle, self.state, piece)
            count -= piece

    def read(self) -> Solution:
        """Return a copy of the solution, which nothing shares memory with."""
        return copy.deepcopy(self.solver.solution(self.state))


class Bench:
    """Where a solver is run on an instance, which each run finds as the first one did.

    Parameters
    ----------
    solver : Solver
    instance : Instance
    streams_of : Solver, optional
        Whose random streams, and so samples and start, it is given; by default its own.
    """

    def __init__(
        self, solver: AnySolver, instance: AnyInstance, streams_of: AnySolver | None = None
    ) -> None:
        if not isinstance(instance.oracle, solver.needs):
            offered, needed = type(instance.oracle).__name__, solver.needs.__name__
            raise NotCheckable(
                f"{solver.name} needs a {needed}, the instance offers {offered}; pass another"
            )
        self.solver, self.oracle = solver, instance.oracle
        self.streams = Streams.of("conformance", (streams_of or solver).name, 0)
        self._untouched = Snapshot(self.oracle)
        self.steps = self._room()

    def begin(self, before_init: Callable[[], None] | None = None) -> Run:
        """Return a run after `Solver.init`, before which something may happen to the oracle."""
        self._rewind()
        if before_init is not None:
            before_init()
        state = self.solver.init(self.oracle, np.random.default_rng(self.streams.solver))
        return Run(self.solver, self.oracle, state)

    def halves(self) -> tuple[int, int]:
        """Return two counts of steps that make `steps`."""
        return self.steps // 2, self.steps - self.steps // 2

    def pieces(self) -> tuple[int, ...]:
        """Return uneven counts of steps that make `steps`, a single one first."""
        middle = (self.steps - 1) // 3
        return 1, middle, self.steps - 1 - middle

    def _rewind(self) -> None:
        self._untouched.restore()
        rng = np.random.default_rng(self.streams.start)
        self.oracle.start = random_point(self.oracle.n, self.oracle.k, rng)
        self.oracle.start.flags.writeable = False
        self.oracle.rewind(np.random.default_rng(self.streams.samples))

    def _room(self) -> int:
        """Return how many steps a run has, unless the samples are fewer."""
        most = RERUN_STEPS if self.solver.reruns else STEPS
        if not self.solver.batch:
            return most
        self._rewind()
        self.oracle.prepare(most * self.solver.batch)
        room = int(min(most, self.oracle.remaining() // self.solver.batch))
        if room < FEWEST:
            raise NotCheckable(
                f"the instance has samples for {room} steps of {self.solver.batch}; pass one with "
                f"at least {FEWEST * self.solver.batch} samples, {most * self.solver.batch} if "
                "you can, in an array or from a sampler: an iterator can be read once only"
            )
        return room


def difference(a: Solution, b: Solution) -> str | None:
    """Return where two solutions differ in any bit and by how much, or None."""
    if type(a) is not type(b):
        return f"one is a {type(a).__name__}, the other a {type(b).__name__}"
    for field in dataclasses.fields(a):
        ours, theirs = getattr(a, field.name), getattr(b, field.name)
        if not _equal(ours, theirs):
            return f"their {field.name} differ{_by(ours, theirs)}"
    return None


def unequal(a: Run, b: Run) -> str | None:
    """Return how two runs differ, in the bits of their solutions, in work or status, or None."""
    if a.state.status is not b.state.status:
        return f"one is {a.state.status.value}, the other {b.state.status.value}"
    if a.state.work != b.state.work:
        return f"their work is {a.state.work} and {b.state.work}"
    return difference(a.read(), b.read())


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        same: bool = a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
        return same
    return repr(a) == repr(b)


def _by(a: Any, b: Any) -> str:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape:
        return f" by up to {float(np.abs(a - b).max()):.2g}"
    return ""
