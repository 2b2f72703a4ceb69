"""Runs: the outcome of each cell, as stores keep it and reports read it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orthobench.contract.parameters import values_of
from orthobench.harness.cell import Cell
from orthobench.harness.identity import Identity
from orthobench.harness.stopping import RunStatus, Target, Termination
from orthobench.harness.trace import Checkpoint, Outcome
from orthobench.results.traces import Trace
from orthobench.tools.machine import Load

UNTOLD = Identity("{}", "{}", 0, "{}")
"""The identity of runs that cannot be stored."""

NOT_RUN = Termination(RunStatus.MISSING, "not run yet")


def run_label(solver: str, problem: str, seed: int) -> str:
    """Return the label of a run."""
    return f"{solver} on {problem}, seed {seed}"


@dataclass(frozen=True)
class ProblemInfo:
    """The problem of a run.

    Attributes
    ----------
    label : str
        Its label in the suite: ``"digits k=4"``.
    name : str
        Its name in the catalogue: ``"digits"``.
    parameters : mapping
        All of its parameters.
    family : str
        ``"stochastic PCA"``.
    primary : str
        The metric of comparisons: ``"suboptimality"``.
    tuned_by : str
        The metric of tuning: ``"validation_suboptimality"``.
    levels : tuple of Target
        The levels that it is compared at.
    """

    label: str
    name: str
    parameters: Mapping[str, Any]
    family: str
    primary: str
    tuned_by: str
    levels: tuple[Target, ...] = ()


@dataclass(frozen=True)
class SolverInfo:
    """The solver of a run.

    Attributes
    ----------
    label : str
        Its label in the suite, without hyperparameters: ``"capped-msg K=9"``.
    parameters : mapping
        All of them.
    tuned : mapping
        Its hyperparameters, as ``{"step": 2.0}``.
    reruns : bool
        See `Solver.reruns`.
    name : str
        Its name in the catalogue: ``"capped-msg"``.
    """

    label: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tuned: Mapping[str, Any] = field(default_factory=dict)
    reruns: bool = False
    name: str = ""


@dataclass(frozen=True)
class Imported:
    """The facts about a run that another harness made.

    Attributes
    ----------
    source : str
        Its table, folder or archive; empty if it was made here.
    unit : str
        The unit of its costs: ``"evaluations"``.
    stops : str
        The unit in which callers can end a run earlier: its own, ``"steps"``, or none.
    digest : str
        The SHA-256 of the curve, which identifies the run.
    """

    source: str = ""
    unit: str = ""
    stops: str = ""
    digest: str = ""

    @property
    def costs(self) -> tuple[str, ...]:
        """The names of the costs that are known."""
        return tuple(dict.fromkeys(name for name in (self.unit, self.stops) if name))


IMPORTED = "imported"
"""The family of their problems."""

HERE = Imported()
"""The facts about runs made here."""


@dataclass(frozen=True)
class Run:
    """One planned cell and its outcome.

    Attributes
    ----------
    key : str
        The key of the cell.
    problem : ProblemInfo
    solver : SolverInfo
    seed : int
    stop : Termination
        How and why it ended; ``MISSING`` if it is still to run.
    trace : sequence of Checkpoint
    budget : mapping
        Its limits, as ``{"samples": 2000}``.
    target : str
        The metric of its target; empty without one.
    versions : mapping
        Versions of distributions.
    load : pair of Load, optional
        The load of the machine before and after.
    measure : str
        The quantity that was measured beside time; empty without one.
    imported : Imported
    identity : Identity
        All that the result depends on.
    session : int
        The number of its session; 0 without a store.
    checksum : str
        A digest of the result; empty without a store.
    """

    key: str
    problem: ProblemInfo
    solver: SolverInfo
    seed: int
    stop: Termination
    trace: Sequence[Checkpoint] = ()
    budget: Mapping[str, float] = field(default_factory=dict)
    target: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    load: tuple[Load, Load] | None = None
    measure: str = ""
    imported: Imported = HERE
    identity: Identity = UNTOLD
    session: int = field(default=0, compare=False)
    checksum: str = ""

    @classmethod
    def of(cls, cell: Cell, outcome: Outcome | None = None) -> Run:
        """Return the run of a cell, finished or still to come."""
        problem, solver, until = cell.problem, cell.solver, cell.until
        outcome = outcome or Outcome(NOT_RUN)
        return cls(
            cell.key,
            ProblemInfo(
                cell.problem_label, problem.name, values_of(problem), problem.family,
                problem.primary, problem.tuned_by, cell.levels,
            ),
            SolverInfo(
                cell.solver_label, values_of(solver), cell.tuned, solver.reruns, solver.name
            ),
            cell.seed, outcome.stop, outcome.trace, cell.budget.limits,
            until.metric if until else "", dict(cell.versions), outcome.load, cell.measure,
            identity=cell.identity,
        )  # fmt: skip

    @property
    def label(self) -> str:
        """Its label."""
        return run_label(self.solver.label, self.problem.label, self.seed)

    @property
    def ok(self) -> bool:
        """Whether the run counts as it is."""
        return self.stop.status.ok

    @property
    def failed(self) -> bool:
        """Whether the run counts as a failure."""
        return self.stop.status.failed

    @property
    def absent(self) -> bool:
        """Whether the solver was refused, or the run is still to come."""
        return self.stop.status.absent

    @property
    def start(self) -> float:
        """The primary metric at the first checkpoint; NaN without one."""
        if isinstance(self.trace, Trace):
            return self.trace.start  # without unpacking the trace
        return self.trace[0].metrics.get(self.problem.primary, math.nan) if self.trace else math.nan
