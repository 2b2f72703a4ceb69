"""Suites: which solvers run on which problems, with which seeds, under which budget.

A suite is written in TOML. A list of values makes a problem or a solver for each value; from the
values in a ``tune`` table, one is chosen on validation data::

    seeds = 10
    [budget]
    samples = 5000
    [[problem]]
    name = "digits"
    k = [1, 4]                        # two problems
    [[solver]]
    name = "msg"
    step = { tune = [0.5, 1, 2, 4] }  # four trials, one of which is chosen

A table ``{ full = 40, quick = 10, smoke = 2 }`` has a value for each size. With
``levels = { density = [0.05, 0.1] }`` solvers are compared once for each level: only trials whose
final density is at most the level can be chosen.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from orthobench._version import __version__
from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.harness.cell import Cell
from orthobench.harness.stopping import Budget, Target, ending
from orthobench.tools.environment import version

END, AVERAGE = SCORES = ("end", "average")
"""Scores for tuning: the validation metric at the end, or its average."""

FULL, QUICK, SMOKE = SIZES = ("full", "quick", "smoke")
"""Sizes of an experiment: as in its paper, some minutes, some seconds (no verdicts)."""

COMMAND_LINE, PYTHON = "command-line", "python"
"""Names of suites from the command line and from Python."""

TRIALS = 16
"""Default of the maximum number of trials."""


@dataclass(frozen=True)
class SuiteProblem:
    """A problem of a suite, its label, and the name and version of its distribution."""

    problem: AnyProblem
    label: str
    budget: Budget
    version: tuple[str, str]
    levels: tuple[Target, ...] = ()


@dataclass(frozen=True)
class SuiteSolver:
    """A solver of a suite, or a trial of it; all trials have the same label."""

    solver: AnySolver
    label: str
    tuned: Mapping[str, Any]
    version: tuple[str, str]


@dataclass(frozen=True)
class Suite:
    """A comparison that has been checked.

    Attributes
    ----------
    name : str
        Stem of its file.
    problems : tuple of SuiteProblem
    solvers : tuple of SuiteSolver
    seeds : tuple of int
    description : str
    text : str
        The TOML that it was read from.
    threads : int
        BLAS threads of a run.
    target : Target, optional
        A target that ends each run.
    trials : int
        Maximum number of trials of a solver.
    tuning_seeds : tuple of int
        The first seeds, on which all trials run, if only the chosen trial runs on all seeds.
    score : str
        One of `SCORES`.
    measure : str
        One of `orthobench.harness.execution.MEASURES`, or empty.
    tolerance : float, optional
        Part of the gap by which a solver that is as good may be worse.
    """

    name: str
    problems: tuple[SuiteProblem, ...]
    solvers: tuple[SuiteSolver, ...]
    seeds: tuple[int, ...]
    description: str = ""
    text: str = ""
    threads: int = 1
    target: Target | None = None
    trials: int = TRIALS
    tuning_seeds: tuple[int, ...] = ()
    score: str = END
    measure: str = ""
    tolerance: float | None = None

    def cells(self) -> list[Cell]:
        """Return problems times seeds times solvers; trials only on `tuning_seeds`, if any.

        A solver has cells in the families that it can take. Raises a `DataError` on a bad data
        file.
        """
        families = {s.solver.needs: self._families(s.solver) for s in self.solvers}
        trials = Counter((s.label, s.solver.needs) for s in self.solvers)
        seeds = self.tuning_seeds or self.seeds
        data = [(p, p.problem.checksum()) for p in self.problems]
        return [
            Cell(
                p.problem, s.solver, seed, self._budget(p, s.solver), self.target, self.threads,
                _versions(p, s), checksum, self.measure, p.label, s.label, s.tuned, place, p.levels,
            )
            for place, ((p, checksum), seed, s) in enumerate(
                itertools.product(data, self.seeds, self.solvers)
            )
            if p.problem.family in families[s.solver.needs]
            and (trials[s.label, s.solver.needs] == 1 or seed in seeds)
        ]  # fmt: skip

    def rest(self, trial: Cell) -> list[Cell]:
        """Return the cells of a trial on the seeds beyond `tuning_seeds`."""
        here = self.seeds.index(trial.seed)
        tried = self.tuning_seeds or self.seeds
        return [
            replace(trial, seed=seed, position=trial.position + (i - here) * len(self.solvers))
            for i, seed in enumerate(self.seeds)
            if seed not in tried
        ]

    def _budget(self, p: SuiteProblem, solver: AnySolver) -> Budget:
        """Return the budget of a solver on a problem; a race ends runs itself."""
        free = self.target is not None or not p.budget.limits
        return p.budget if free else ending(solver, p.budget)

    def _families(self, solver: AnySolver) -> set[str]:
        """Return the families that a solver can take; all if none."""
        problems = [p.problem for p in self.problems]
        able = {problem.family for problem in problems if issubclass(problem.offers, solver.needs)}
        return able or {problem.family for problem in problems}


def _versions(problem: SuiteProblem, solver: SuiteSolver) -> tuple[tuple[str, str], ...]:
    """Return names and versions of the distributions that a result depends on."""
    called = {name: version(name) or "none" for name in solver.solver.packages}
    own = dict([problem.version, solver.version])
    return tuple(sorted({"orthobench": __version__, **called, **own}.items()))
