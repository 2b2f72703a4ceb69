"""Short runs of a solver that checks compare: each with the same data, start and random streams."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from orthobench.contract.problem import AnyInstance, Oracle, Solution
from orthobench.contract.solver import AnySolver, State, Status
from orthobench.harness.execution import prepare_steps
from orthobench.harness.identity import Streams
from orthobench.testing.check import NotCheckable, require
from orthobench.testing.object_graph import Snapshot
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import random_point

STEPS = 40
"""Steps of a run, or as many as there are samples for; more than fused kernels do in a block."""

RERUN_STEPS = 6
"""Steps of solvers with `reruns`: each call of ``advance`` does all of them."""

FEWEST = 4
"""The fewest steps that checks can compare."""


@dataclass
class Run:
    """A run in progress."""

    solver: AnySolver
    oracle: Oracle
    state: State

    def advance(self, count: int) -> None:
        """Do `count` steps as the harness does, or fewer where the solver stops."""
        while count > 0 and self.state.status is Status.RUNNING:
            steps = prepare_steps(self.oracle, self.solver.batch, count)
            if steps < 1:
                return
            self.solver.advance(self.oracle, self.state, steps)
            count -= steps

    def read(self) -> Solution:
        """Return a copy of the solution, which shares memory with nothing."""
        return copy.deepcopy(self.solver.solution(self.state))


class Runner:
    """A solver and an instance, which is restored before each run.

    Parameters
    ----------
    solver : Solver
    instance : Instance
    streams_of : Solver, optional
        The solver whose random streams, and so samples and start, are used; by default `solver`.

    Attributes
    ----------
    steps : int
        The steps of a whole run.
    """

    def __init__(
        self, solver: AnySolver, instance: AnyInstance, streams_of: AnySolver | None = None
    ) -> None:
        if not isinstance(instance.oracle, solver.needs):
            offered, needed = type(instance.oracle).__name__, solver.needs.__name__
            raise NotCheckable(
                f"{solver.name} needs a {needed}, the instance offers {offered}; pass another"
            )
        self.solver, self.oracle, self.instance = solver, instance.oracle, instance
        self.streams = Streams.of("conformance", (streams_of or solver).name, 0)
        self._before = Snapshot(self.oracle)
        self.steps = self._count_steps()

    def start(self, before_init: Callable[[], None] | None = None) -> Run:
        """Return a run after `Solver.init`; `before_init` is called just before that."""
        self._rewind()
        if before_init is not None:
            before_init()
        state = self.solver.init(self.oracle, np.random.default_rng(self.streams.solver))
        return Run(self.solver, self.oracle, state)

    def start_point(self) -> Array:
        """Return where runs start."""
        self._rewind()
        return self.oracle.start

    def run(self, *counts: int) -> Run:
        """Return a run after several calls of `Run.advance`; by default after one of all steps."""
        run = self.start()
        for count in counts or (self.steps,):
            run.advance(count)
        return run

    def interrupted(self, action: Callable[[Run], object]) -> Run:
        """Return a whole run that an action is done to after half of its steps."""
        first, second = self.halves()
        run = self.run(first)
        action(run)
        run.advance(second)
        return run

    def halves(self) -> tuple[int, int]:
        """Return two counts of steps that make a whole run."""
        return self.steps // 2, self.steps - self.steps // 2

    def pieces(self) -> tuple[int, ...]:
        """Return three unequal counts of steps that make a whole run; the first is 1."""
        middle = (self.steps - 1) // 3
        return 1, middle, self.steps - 1 - middle

    def _rewind(self) -> None:
        self._before.restore()
        rng = np.random.default_rng(self.streams.start)
        self.oracle.start = random_point(self.oracle.n, self.oracle.k, rng)
        self.oracle.start.flags.writeable = False
        self.oracle.rewind(np.random.default_rng(self.streams.samples))

    def _count_steps(self) -> int:
        """Return the steps of a whole run: as many as there are samples for, up to a limit."""
        most, batch = RERUN_STEPS if self.solver.reruns else STEPS, self.solver.batch
        if not batch:
            return most
        self._rewind()
        self.oracle.prepare(most * batch)
        steps = int(min(most, self.oracle.remaining() // batch))
        if steps < FEWEST:
            raise NotCheckable(
                f"the instance has samples for {steps} steps of {batch}; pass one with at least "
                f"{FEWEST * batch} samples, {most * batch} if you can, in an array or from a "
                "sampler: an iterator can be read only once"
            )
        return steps


def difference_of_solutions(a: Solution, b: Solution) -> str | None:
    """Return how two solutions differ, where they differ in any bit, or None."""
    if type(a) is not type(b):
        return f"one is a {type(a).__name__}, the other a {type(b).__name__}"
    for field in dataclasses.fields(a):
        ours, theirs = getattr(a, field.name), getattr(b, field.name)
        if not (isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray)):
            equal = repr(ours) == repr(theirs)
        elif equal := ours.shape == theirs.shape and ours.dtype == theirs.dtype:
            equal = ours.tobytes() == theirs.tobytes()
            if not equal:
                return (
                    f"their {field.name} differ by up to {float(np.abs(ours - theirs).max()):.2g}"
                )
        if not equal:
            return f"their {field.name} differ"
    return None


def require_equal(a: Run, b: Run, observed: str, remedy: str) -> None:
    """Raise `NotConforming` where two runs differ: in status, work, or a bit of their solutions."""
    if a.state.status is not b.state.status:
        one, other = a.state.status.value, b.state.status.value
        difference: str | None = f"one is {one}, the other {other}"
    elif a.state.work != b.state.work:
        difference = f"their work is {a.state.work} and {b.state.work}"
    else:
        difference = difference_of_solutions(a.read(), b.read())
    require(difference is None, f"{observed}: {difference}", remedy)
