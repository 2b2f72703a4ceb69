"""Suites: which solvers meet which problems, under which budget, with which seeds.

A suite is data, never code: TOML, checked as a whole before anything runs. A list crosses, a
``tune`` table is chosen on validation data::

    seeds = 10
    [budget]
    samples = 5000
    [[problem]]
    name = "digits"
    k = [1, 4]                        # two problems
    [[solver]]
    name = "msg"
    step = { tune = [0.5, 1, 2, 4] }  # four trials, one of which is chosen

Where quality is bought with something else, such as sparsity, solvers are compared at equal values
of that: ``at = { density = [0.05, 0.1] }`` makes two comparisons of the same runs, in which only
those trials can be chosen whose final density is at most the level. Problems may bring levels of
their own; ``at = {}`` compares without any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orthobench._version import __version__
from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.harness.cell import Cell
from orthobench.harness.stopping import Budget, Target
from orthobench.tools.environment import version

TRIALS = 16
"""Most trials that tuning gives one solver on one problem, where the suite says nothing."""


@dataclass(frozen=True)
class Level:
    """A bound that runs are compared under: the final value of a metric is at most this.

    Attributes
    ----------
    metric : str
    most : float
    """

    metric: str
    most: float

    def __str__(self) -> str:
        return f"{self.metric.replace('_', ' ')} <= {self.most:g}"


@dataclass(frozen=True)
class PlannedProblem:
    """A problem of a suite, with its own budget and the levels it is compared at."""

    problem: AnyProblem
    label: str
    budget: Budget
    version: tuple[str, str]
    levels: tuple[Level, ...] = ()


@dataclass(frozen=True)
class PlannedSolver:
    """A solver of a suite: one trial of it, where parameters are tuned."""

    solver: AnySolver
    label: str
    tuned: Mapping[str, Any]
    version: tuple[str, str]


@dataclass(frozen=True)
class Planned:
    """A cell with what people call it in this suite."""

    cell: Cell
    problem: str
    solver: str
    tuned: Mapping[str, Any]
    levels: tuple[Level, ...] = ()


@dataclass(frozen=True)
class Suite:
    """A comparison, valid as a whole.

    Attributes
    ----------
    name : str
        The file's stem.
    text : str
        The TOML that it was read from.
    trials : int
        The tuning budget: the most grid points that any solver may have.
    """

    name: str
    problems: tuple[PlannedProblem, ...]
    solvers: tuple[PlannedSolver, ...]
    seeds: tuple[int, ...]
    description: str = ""
    text: str = ""
    threads: int = 1
    target: Target | None = None
    trials: int = TRIALS

    def plan(self) -> list[Planned]:
        """Return the cross product: by problem and seed first, so that data are built once.

        A solver that works on problems of other families of the suite only does not meet a
        problem. Within a family it does, and says why it cannot take it.

        Raises
        ------
        DataError
            Where a data file is missing or cannot be read.
        """
        solvers = [(s, _called(s.solver)) for s in self.solvers]
        at_home = {s.solver.needs: self._families(s.solver) for s in self.solvers}
        return [
            Planned(self._cell(p, data, s, called, seed), p.label, s.label, s.tuned, p.levels)
            for p, data in [(p, p.problem.checksum()) for p in self.problems]
            for seed in self.seeds
            for s, called in solvers
            if p.problem.family in at_home[s.solver.needs]
        ]

    def _families(self, solver: AnySolver) -> set[str]:
        """Return the families that a solver works on here; all of them where it does on none."""
        able = {
            p.problem.family for p in self.problems if issubclass(p.problem.offers, solver.needs)
        }
        return able or {p.problem.family for p in self.problems}

    def _cell(
        self,
        p: PlannedProblem,
        data: str,
        s: PlannedSolver,
        called: Mapping[str, str],
        seed: int,
    ) -> Cell:
        versions = {"orthobench": __version__, **called, **dict([p.version, s.version])}
        return Cell(
            p.problem, s.solver, seed, p.budget, self.target, self.threads,
            tuple(sorted(versions.items())), data,
        )  # fmt: skip


def _called(solver: AnySolver) -> dict[str, str]:
    """Return the versions of the distributions that a solver calls."""
    return {name: version(name) or "none" for name in solver.packages}
