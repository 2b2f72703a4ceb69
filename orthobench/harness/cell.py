"""A `Cell`, one solver on one problem with one seed under one budget, and how it is executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.harness.identity import (
    Identity,
    Same,
    Streams,
    canonical,
    stream_text,
    text_of,
)
from orthobench.harness.judging import stop_of
from orthobench.harness.run import run
from orthobench.harness.source_digests import digests, warn_of_libraries
from orthobench.harness.stopping import Budget, RunStatus, Target, Termination
from orthobench.harness.trace import Outcome
from orthobench.tools.environment import blas_libraries, limited


@dataclass(frozen=True)
class Cell:
    """The unit of a comparison: a run that is stored, and never repeated while nothing changes.

    Attributes
    ----------
    problem : Problem
    solver : Solver
    seed : int
        Seed of all random streams.
    budget : Budget
    until : Target, optional
        A target that ends the run.
    threads : int
        BLAS threads.
    versions : tuple of (str, str)
        Names and versions of the distributions of solver, problem and core.
    data : str
        `Problem.checksum` of the data files.
    measure : str
        What is measured beside time, which takes time: ``"memory"`` or nothing.
    problem_label, solver_label : str
        The names of problem and solver in the suite, for people. This and what follows has no part
        in the key.
    tuned : mapping
        The values of the solver's tuned parameters.
    position : int
        Its place in the suite: problems, then seeds, then solvers.
    levels : tuple of Target
        The levels that solvers are compared at on its problem.
    cut : float
        The longest limit in seconds that cut it so far; 0 if none did.
    timeout : float, optional
        The limit in seconds of this cell, in place of that of all cells.
    """

    problem: AnyProblem
    solver: AnySolver
    seed: int
    budget: Budget
    until: Target | None = None
    threads: int = 1
    versions: tuple[tuple[str, str], ...] = ()
    data: str = ""
    measure: str = ""
    problem_label: str = field(default="", compare=False)
    solver_label: str = field(default="", compare=False)
    tuned: Mapping[str, Any] = field(default_factory=dict, compare=False)
    position: int = field(default=0, compare=False)
    levels: tuple[Target, ...] = field(default=(), compare=False)
    cut: float = field(default=0.0, compare=False)
    timeout: float | None = field(default=None, compare=False)

    @property
    def label(self) -> str:
        """What people call it."""
        tuned = "".join(f" {name}={value}" for name, value in self.tuned.items())
        return f"{self.solver_label}{tuned} on {self.problem_label}, seed {self.seed}"

    @cached_property
    def identity(self) -> Identity:
        """All that the result depends on, in texts that cells share."""
        settings = _settings(
            type(self.problem), Same(self.solver), Same(self.budget), Same(self.until),
            self.threads, self.versions, self.data, self.measure,
        )  # fmt: skip
        problem, solver = text_of(Same(self.problem)), text_of(Same(self.solver))
        return Identity(problem, solver, self.seed, settings)

    @property
    def content(self) -> dict[str, Any]:
        """The same as plain values."""
        return self.identity.content

    @cached_property
    def key(self) -> str:
        """The digest of the identity: cells with equal keys give equal results."""
        return self.identity.key

    @property
    def streams(self) -> Streams:
        """The random streams of the run."""
        return Streams.of(stream_text(self.problem), self.solver.name, self.seed)


@lru_cache(maxsize=2**14)
def _settings(
    problem: type, solver: Same[AnySolver], budget: Same[Budget], until: Same[Target | None],
    threads: int, versions: tuple[tuple[str, str], ...], data: str, measure: str,
) -> str:  # fmt: skip
    """Return what the result of a cell depends on beside problem, solver and seed, in JSON."""
    place = solver.one.place
    known = not place.is_default and place.missing() is None  # otherwise the cell is refused
    return canonical(
        {
            "data": data,
            "budget": budget.one.limits,
            "until": None if until.one is None else asdict(until.one),
            "threads": threads,
            "versions": dict(versions),
            "code": digests(problem, type(solver.one.single)),
            "blas": list(blas_libraries()),
            **({"reruns": True} if solver.one.reruns else {}),
            **({"measure": measure} if measure else {}),
            **({"place": dict(place.facts())} if known else {}),
        }
    )


def execute(cell: Cell) -> Outcome:
    """Build the instance of a cell, run it here and judge it; the outcome records errors."""
    with limited(cell.threads):
        try:
            refusal = cell.solver.refuses(cell.problem)
            if refusal is not None:
                return Outcome(Termination(RunStatus.REFUSED, refusal))
            cell.solver.place.limit(cell.threads)
        except Exception as error:
            return Outcome(stop_of(error, cell.solver.name))
        try:
            instance = built(cell)
        except Exception as error:
            return Outcome(stop_of(error, f"problem {cell.problem.name}"))
        outcome = run(
            instance, cell.solver, cell.budget, cell.streams, cell.until, measure=cell.measure
        )
    warn_of_libraries(type(cell.solver.single), type(cell.problem))
    return outcome.stored


def instance_of(problem: AnyProblem, seed: int) -> AnyInstance:
    """Return a new instance of a problem for a seed, the same for every solver."""
    text = stream_text(problem)
    data = Streams.of(text, "", seed).data
    return replace(problem.build(np.random.default_rng(data.spawn(1)[0])), streams=text)


def built(cell: Cell) -> AnyInstance:
    """Return the instance of a cell; consecutive cells on the same data share it."""
    return _shared(cell.problem, cell.seed, cell.data)


@lru_cache(maxsize=2)
def _shared(problem: AnyProblem, seed: int, data: str) -> AnyInstance:
    del data  # part of the key
    return instance_of(problem, seed)
