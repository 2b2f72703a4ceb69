"""Suites: which solvers run on which problems, with which seeds, under which budget.

A suite is written in TOML and checked as a whole before anything runs. A list of values makes a
problem or a solver for each; of the values in a ``tune`` table, one is chosen on validation data::

    seeds = 10
    [budget]
    samples = 5000
    [[problem]]
    name = "digits"
    k = [1, 4]                        # two problems
    [[solver]]
    name = "msg"
    step = { tune = [0.5, 1, 2, 4] }  # four trials, one of which is chosen

A table ``{ full = 40, quick = 10, smoke = 2 }`` has one value for each size of the comparison: the
full one, unless a smaller one is asked for. A size that it leaves out has the value of the next
larger one.

Where the primary metric can be improved at the expense of another, such as the density of
loadings, solvers are compared at levels of the other: ``levels = { density = [0.05, 0.1] }`` makes
two comparisons of the same runs, in which only trials can be chosen whose final density is at most
the level. A problem may have levels of its own; ``levels = {}`` compares without any.
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
"""What tuned parameters are chosen by: the validation metric at the end of the run, where solvers
are ranked, or averaged over the run."""

FULL, QUICK, SMOKE = SIZES = ("full", "quick", "smoke")
"""The sizes of an experiment: of its paper, of minutes, and of seconds, too small for verdicts."""

COMMAND_LINE, PYTHON = "command-line", "python"
"""The names of suites that are listed on the command line, or by a Python caller."""

TRIALS = 16
"""The most trials of one solver on one problem, where the suite does not say."""


@dataclass(frozen=True)
class SuiteProblem:
    """A problem of a suite.

    Attributes
    ----------
    problem : Problem
    label : str
        Its name in this suite, for people.
    budget : Budget
    version : tuple of (str, str)
        Name and version of the distribution that brings it.
    levels : tuple of Target
        The levels that solvers are compared at; empty where there are none.
    """

    problem: AnyProblem
    label: str
    budget: Budget
    version: tuple[str, str]
    levels: tuple[Target, ...] = ()


@dataclass(frozen=True)
class SuiteSolver:
    """A solver of a suite, or one trial of a solver whose parameters are tuned.

    Attributes
    ----------
    solver : Solver
    label : str
        Its name in this suite, for people; all of its trials have the same.
    tuned : mapping
        The values of its tuned parameters.
    version : tuple of (str, str)
        Name and version of the distribution that brings it.
    """

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
        The stem of its file.
    problems : tuple of SuiteProblem
    solvers : tuple of SuiteSolver
    seeds : tuple of int
    description : str
        A line for people.
    text : str
        The TOML that it was read from.
    threads : int
        BLAS threads of every run.
    target : Target, optional
        A target that ends every run.
    trials : int
        The most trials that any solver may have.
    tuning_seeds : tuple of int
        The first of the seeds, where trials run on these alone and the chosen one on all; empty
        where all trials run on all seeds.
    score : str
        What tuned parameters are chosen by: one of `SCORES`.
    measure : str
        What its runs measure beside time: one of `orthobench.harness.execution.MEASURES`, or
        nothing.
    tolerance : float, optional
        The part of the gap, from the start to the best value, by which a solver that is as good as
        the best may end above it, where the suite says.
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
        """Return the cells that wait for no choice: problems times seeds times solvers.

        Those on the same data come together. Where there are `tuning_seeds`, solvers with several
        trials have cells on these; `rest` are the others of a trial that is chosen. A solver that
        can take problems of some families of the suite has cells only in these families, though
        for all problems there: those that it cannot take, it refuses.

        Raises
        ------
        DataError
            Where a data file is missing or cannot be read.
        """
        packages = {
            names: {name: version(name) or "none" for name in names}
            for names in {s.solver.packages for s in self.solvers}
        }
        families = {s.solver.needs: self._families(s.solver) for s in self.solvers}
        trials = Counter((s.label, s.solver.needs) for s in self.solvers)
        seeds = self.tuning_seeds or self.seeds
        core = {"orthobench": __version__}
        data = [(p, p.problem.checksum()) for p in self.problems]
        return [
            Cell(
                p.problem, s.solver, seed, self._budget(p, s.solver), self.target, self.threads,
                tuple(sorted({**core, **packages[s.solver.packages],
                              **dict([p.version, s.version])}.items())),
                checksum, self.measure, p.label, s.label, s.tuned, place, p.levels,
            )
            for place, ((p, checksum), seed, s) in enumerate(
                itertools.product(data, self.seeds, self.solvers)
            )
            if p.problem.family in families[s.solver.needs]
            and (trials[s.label, s.solver.needs] == 1 or seed in seeds)
        ]  # fmt: skip

    def rest(self, trial: Cell) -> list[Cell]:
        """Return the cells of a trial on the seeds that trials do not run on."""
        here = self.seeds.index(trial.seed)
        tried = self.tuning_seeds or self.seeds
        return [
            replace(trial, seed=seed, position=trial.position + (i - here) * len(self.solvers))
            for i, seed in enumerate(self.seeds)
            if seed not in tried
        ]

    def _budget(self, p: SuiteProblem, solver: AnySolver) -> Budget:
        """Return the budget of a solver on a problem; a race, without any, ends runs itself."""
        free = self.target is not None or not p.budget.limits
        return p.budget if free else ending(solver, p.budget)

    def _families(self, solver: AnySolver) -> set[str]:
        """Return the families of this suite that a solver can take; all where it can take none."""
        able = {
            p.problem.family for p in self.problems if issubclass(p.problem.offers, solver.needs)
        }
        return able or {p.problem.family for p in self.problems}
