"""A `Cell`: one solver on one problem with one seed under one budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.harness.identity import Identity, Same, Streams, canonical, stream_text, text_of
from orthobench.harness.judging import stop_of
from orthobench.harness.run import run
from orthobench.harness.source_digests import digests
from orthobench.harness.stopping import Budget, RunStatus, Target, Termination
from orthobench.harness.trace import Outcome
from orthobench.tools.environment import blas_libraries, limited


@dataclass(frozen=True)
class Cell:
    """The unit of a comparison: a run that is stored, and repeated only if something changes.

    Attributes
    ----------
    problem : Problem
    solver : Solver
    seed : int
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
        ``"memory"`` if peak memory is measured, else empty.
    problem_label, solver_label : str
        Names in the suite; these and the following ones are not part of the key.
    tuned : mapping
        Values of the solver's tuned parameters.
    position : int
        Place in the suite.
    levels : tuple of Target
        Levels that solvers are compared at.
    cut, timeout : float
        Longest limit that cut the cell so far, and a limit of this cell, in seconds.
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
        """Name for people."""
        tuned = "".join(f" {name}={value}" for name, value in self.tuned.items())
        return f"{self.solver_label}{tuned} on {self.problem_label}, seed {self.seed}"

    @cached_property
    def identity(self) -> Identity:
        """All that the result depends on."""
        settings = _settings(
            type(self.problem), Same(self.solver), Same(self.budget), Same(self.until),
            self.threads, self.versions, self.data, self.measure,
        )  # fmt: skip
        problem, solver = text_of(Same(self.problem)), text_of(Same(self.solver))
        return Identity(problem, solver, self.seed, settings)

    @property
    def content(self) -> dict[str, Any]:
        """The identity as plain values."""
        return self.identity.content

    @cached_property
    def key(self) -> str:
        """Digest of the identity: cells with equal keys have equal results."""
        return self.identity.key

    @property
    def streams(self) -> Streams:
        """Random streams of the run."""
        return Streams.of(stream_text(self.problem), self.solver.name, self.seed)


@lru_cache(maxsize=2**14)
def _settings(
    problem: type, solver: Same[AnySolver], budget: Same[Budget], until: Same[Target | None],
    threads: int, versions: tuple[tuple[str, str], ...], data: str, measure: str,
) -> str:  # fmt: skip
    place = solver.one.place
    known = not place.is_default and place.missing() is None
    content = {
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
    return canonical(content)


def execute(cell: Cell) -> Outcome:
    """Build the instance of a cell, run the solver in this process, and judge; never raises."""
    culprit = cell.solver.name
    with limited(cell.threads):
        try:
            refusal = cell.solver.refuses(cell.problem)
            if refusal is not None:
                return Outcome(Termination(RunStatus.REFUSED, refusal))
            cell.solver.place.limit(cell.threads)
            culprit = f"problem {cell.problem.name}"
            instance = built(cell)
        except Exception as error:
            return Outcome(stop_of(error, culprit))
        outcome = run(
            instance, cell.solver, cell.budget, cell.streams, cell.until, measure=cell.measure
        )
    return outcome.stored


def instance_of(problem: AnyProblem, seed: int) -> AnyInstance:
    """Return a new instance of a problem for a seed."""
    text = stream_text(problem)
    data = Streams.of(text, "", seed).data
    return replace(problem.build(np.random.default_rng(data.spawn(1)[0])), streams=text)


def built(cell: Cell) -> AnyInstance:
    """Return the instance of a cell; the last two instances are cached."""
    return _shared(cell.problem, cell.seed, cell.data)


@lru_cache(maxsize=2)
def _shared(problem: AnyProblem, seed: int, _data: str) -> AnyInstance:
    return instance_of(problem, seed)
