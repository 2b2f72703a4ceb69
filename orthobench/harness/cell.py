"""A cell: one solver on one problem with one seed under one budget, and how to execute it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.errors import OrthobenchError
from orthobench.harness.code import digests
from orthobench.harness.identity import Streams, canonical, describe, digest
from orthobench.harness.judging import judged
from orthobench.harness.run import run
from orthobench.harness.stopping import Budget, Ending, Stop, Target
from orthobench.harness.trace import Journal, Outcome, Recording
from orthobench.tools.threads import blas, limited


@dataclass(frozen=True)
class Cell:
    """What is run once and never again while nothing of it changes.

    Attributes
    ----------
    problem, solver, seed, budget
        The run itself.
    until : Target, optional
        Stop once this is met.
    threads : int
        BLAS threads.
    versions : tuple of (str, str)
        Versions of the distributions that the solver, the problem and the core come from.
    data : str
        Checksum of the data that the problem refers to.
    """

    problem: AnyProblem
    solver: AnySolver
    seed: int
    budget: Budget
    until: Target | None = None
    threads: int = 1
    versions: tuple[tuple[str, str], ...] = ()
    data: str = ""

    @cached_property
    def content(self) -> Mapping[str, Any]:
        """Everything that the result depends on, in plain values."""
        return {
            "problem": describe(self.problem),
            "data": self.data,
            "solver": describe(self.solver),
            "seed": self.seed,
            "budget": self.budget.limits,
            "until": None if self.until is None else asdict(self.until),
            "threads": self.threads,
            "versions": dict(self.versions),
            "code": digests(type(self.problem), type(self.solver)),
            "blas": list(blas()),
            **({"reruns": True} if self.solver.reruns else {}),
        }

    @cached_property
    def key(self) -> str:
        """The content address: equal for equal content."""
        return digest(canonical(self.content))

    @property
    def streams(self) -> Streams:
        """The random streams of the run."""
        return Streams.of(canonical(describe(self.problem)), self.solver.name, self.seed)


def execute(cell: Cell, journal: Journal | None = None) -> Outcome:
    """Build the instance, run, judge; whatever goes wrong is recorded in the result.

    The BLAS is held to ``cell.threads`` threads. `journal` is told each point as it is recorded.
    """
    refusal = cell.solver.refuses(cell.problem)
    if refusal is not None:
        return Outcome(Stop(Ending.REFUSED, refusal))
    with limited(cell.threads):
        try:
            instance = built(cell)
        except Exception as error:
            return Outcome(_not_built(error, cell.problem))
        outcome = run(instance, cell.solver, cell.budget, cell.streams, cell.until, journal)
    return outcome.stored


def broken_off(cell: Cell, recording: Recording, stop: Stop) -> Outcome:
    """Judge what is left of a run whose process is gone: the points that its journal was told.

    Without the data to judge by, only how it ended is left.
    """
    with limited(cell.threads):
        try:
            outcome = judged(built(cell), recording, stop, cell.until)
        except Exception:
            return Outcome(stop)
    return Outcome(stop, outcome.trace)


def instance_of(problem: AnyProblem, seed: int) -> AnyInstance:
    """Build the instance of a problem for a seed: the same for every solver."""
    streams = Streams.of(canonical(describe(problem)), "", seed)
    return problem.build(np.random.default_rng(streams.data.spawn(1)[0]))


def built(cell: Cell) -> AnyInstance:
    """Return the instance of a cell; cells on the same data, one after the other, share it."""
    return _shared(cell.problem, cell.seed, cell.data)


@lru_cache(maxsize=2)
def _shared(problem: AnyProblem, seed: int, data: str) -> AnyInstance:
    del data  # a file that changed is another instance
    return instance_of(problem, seed)


def _not_built(error: Exception, problem: AnyProblem) -> Stop:
    import traceback

    if isinstance(error, MemoryError):
        return Stop(Ending.MEMORY, f"problem {problem.name} does not fit into memory")
    known = isinstance(error, OrthobenchError)
    reason = str(error) if known else f"problem {problem.name}: {error!r}"
    return Stop(Ending.ERROR, reason, "".join(traceback.format_exception(error)))
