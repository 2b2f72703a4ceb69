"""Short runs on small instances, with equal data, starts and streams."""

from __future__ import annotations

import copy
import dataclasses
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from unittest import mock

import numpy as np

from orthobench.contract.black_boxes import BlackBox
from orthobench.contract.parameters import parameters_of
from orthobench.contract.problem import AnyInstance, AnyProblem, Oracle, Solution
from orthobench.contract.solver import AnySolver, State, Status, Work
from orthobench.errors import OrthobenchError, UsageError
from orthobench.harness.execution import prepare_steps, ready_oracle
from orthobench.harness.identity import Streams
from orthobench.harness.run import RATIO, record
from orthobench.harness.stopping import Budget
from orthobench.harness.trace import Checkpoint
from orthobench.registry.plugins import catalogue
from orthobench.testing.check import NotCheckable, require
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import random_point
from orthobench.tools.object_graph import Snapshot

STEPS = 40
"""Maximum number of steps of a run; more than fused kernels do in a block."""

RERUN_STEPS = 6
"""The same for solvers with `reruns`."""

FEWEST = 4
"""Minimum number of steps that checks can compare."""


@dataclass
class Run:
    """A run in progress."""

    solver: AnySolver
    oracle: Oracle
    state: State

    def advance(self, count: int) -> None:
        """Do `count` steps; fewer if the solver stops."""
        while count > 0 and self.state.status is Status.RUNNING:
            steps = prepare_steps(self.oracle, self.solver.batch, count)
            if steps < 1:
                return
            self.solver.advance(self.oracle, self.state, steps)
            count -= steps

    def read(self) -> Solution:
        """Return a copy of the solution."""
        return copy.deepcopy(self.solver.solution(self.state))


class Runner:
    """A solver and an instance, which is restored before each run.

    Samples and start are those of `streams_of`, by default `solver`. `halves` are two numbers of
    steps that make a whole run, `pieces` three; the first of these is 1.
    """

    def __init__(
        self, solver: AnySolver, instance: AnyInstance, streams_of: AnySolver | None = None
    ) -> None:
        if not isinstance(instance.oracle, solver.needs):
            offered = type(instance.oracle).__name__
            raise NotCheckable(f"it needs a {solver.needs.__name__}, the instance has {offered}")
        self.solver, self.oracle, self.instance = solver, instance.oracle, instance
        self.streams = Streams.of("conformance", (streams_of or solver).name, 0)
        self._before = Snapshot(self.oracle)
        self.steps = self._count_steps()
        self.halves = self.steps // 2, self.steps - self.steps // 2
        middle = (self.steps - 1) // 3
        self.pieces = 1, middle, self.steps - 1 - middle

    def start(self, before_init: Callable[[], object] = lambda: None) -> Run:
        """Return a run after `Solver.init`, before which `before_init` is called."""
        self.rewind()
        before_init()
        state = self.solver.init(self.oracle, np.random.default_rng(self.streams.solver))
        return Run(self.solver, self.oracle, state)

    def run(self, *counts: int) -> Run:
        """Return a run after calls of `Run.advance`, by default one of all steps."""
        run = self.start()
        for count in counts or (self.steps,):
            run.advance(count)
        return run

    def recorded(self, steps: int, ratio: float = RATIO) -> list[tuple[Work, Solution]]:
        """Return work and solution at the checkpoints of a run; `ratio` is that of their steps."""
        found: list[tuple[Work, Solution]] = []

        def keep(mark: Checkpoint, solution: Solution) -> None:
            found.append((mark.work, copy.deepcopy(solution)))

        self._before.restore()
        oracle, _ = ready_oracle(self.oracle, self.solver, self.streams)
        record(oracle, self.solver, Budget(steps=steps), self.streams, keep, ratio=ratio)
        return found

    @contextmanager
    def samples_as(self, change: Callable[[Array], Array]) -> Iterator[None]:
        """Give solvers changed samples in the body."""
        take: Any = getattr(self.oracle, "take", None)
        changed = mock.patch.object(self.oracle, "take", lambda count: change(take(count)))
        with changed if take else nullcontext():
            yield

    def interrupted(self, action: Callable[[Run], object]) -> Run:
        """Return a whole run with an action in its middle."""
        first, second = self.halves
        run = self.run(first)
        action(run)
        run.advance(second)
        return run

    def rewind(self) -> None:
        """Put the oracle back to its beginning."""
        self._before.restore()
        begin(self.oracle, self.streams)

    def _count_steps(self) -> int:
        """Return the number of steps of a whole run."""
        most, batch = RERUN_STEPS if self.solver.reruns else STEPS, self.solver.batch
        if not batch:
            return most
        self.rewind()
        self.oracle.prepare(most * batch)
        steps = int(min(most, self.oracle.remaining() // batch))
        if steps < FEWEST:
            needed = f"pass at least {FEWEST * batch}, and no iterator, which is read only once"
            raise NotCheckable(f"there are samples for {steps} steps of {batch}; {needed}")
        return steps


def begin(oracle: Oracle, streams: Streams) -> None:
    """Put an oracle to its beginning, with the start of all runs."""
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(streams.start))
    oracle.start.flags.writeable = False
    oracle.rewind(np.random.default_rng(streams.samples))


def difference_of_solutions(a: Solution, b: Solution) -> str | None:
    """Return how two solutions differ in any bit, or None."""
    if type(a) is not type(b):
        return f"one is a {type(a).__name__}, the other a {type(b).__name__}"
    for field in dataclasses.fields(a):
        ours, theirs = (np.asarray(getattr(one, field.name)) for one in (a, b))
        if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
            return f"their {field.name} differ"
        if ours.tobytes() != theirs.tobytes():
            return f"their {field.name} differ by up to {float(np.abs(ours - theirs).max()):.2g}"
    return None


def require_equal(a: Run, b: Run, observed: str, remedy: str) -> None:
    """Raise unless two runs have equal status, work and bits."""
    difference = difference_of_solutions(a.read(), b.read())
    if a.state.work != b.state.work:
        difference = f"their work is {a.state.work} and {b.state.work}"
    if a.state.status is not b.state.status:
        difference = f"one is {a.state.status.value}, the other {b.state.status.value}"
    require(difference is None, f"{observed}: {difference}", remedy)


def example(solver: AnySolver, problems: Iterable[type[AnyProblem]] = ()) -> AnyInstance:
    """Return a small instance of artificial data for the checks of a solver.

    Parameters
    ----------
    solver : Solver
        Its `init` is tried on the ``EXAMPLES`` of families until it raises no `UsageError`.
    problems : iterable of types of Problem
        Tried after those.

    Raises
    ------
    UsageError
        If there is none.
    """
    reasons = []
    fitting = (p for p in problems if issubclass(p.offers, solver.needs))
    own = [p for p in fitting if not any(q.required for q in parameters_of(p))]
    makers = [*_of_families(solver.needs)]
    makers += [partial(_built, p) for p in own]
    black_box = isinstance(solver, BlackBox)
    for maker in makers:
        try:
            small = maker()
        except OrthobenchError as error:
            reasons.append(str(error))
            continue
        if not isinstance(small.oracle, solver.needs):
            continue
        try:
            run = Runner(solver, small).start()
            run.advance(1 if black_box else 0)  # which shows the families that it is for
        except Exception as error:
            if black_box or isinstance(error, UsageError):
                reasons.append(str(error))
                continue  # the checks report other errors
        return small
    reasons.append(f"no installed family or problem offers the {solver.needs.__name__} it needs")
    raise UsageError(f"there is no example for {solver.name}: {reasons[0]}; pass one of yours")


def _of_families(needs: type[Oracle]) -> Iterator[Callable[[], AnyInstance]]:
    """Yield the makers of examples of families, the nearest to an oracle first."""

    def distance(problem: type[AnyProblem]) -> int:
        kinds = problem.offers.__mro__
        return kinds.index(needs) if needs in kinds else len(kinds)

    known = (provided.item for provided in catalogue().problems.values())
    fitting = sorted((p for p in known if issubclass(p.offers, needs)), key=distance)
    modules = (sys.modules.get(base.__module__) for p in fitting for base in p.__mro__)
    for package in dict.fromkeys(module.__package__ for module in modules if module):
        if package and find_spec(f"{package}.examples"):
            yield from import_module(f"{package}.examples").EXAMPLES


def _built(problem: type[AnyProblem]) -> AnyInstance:
    made: AnyInstance = problem().build(np.random.default_rng(0))
    return made
