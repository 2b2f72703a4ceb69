"""The runs of a paper's suites, the evidence for its claims; each is run when a check needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from orthobench import api
from orthobench.contract.exhibits import Exhibit
from orthobench.errors import OrthobenchError, unknown
from orthobench.harness.suite import Suite
from orthobench.registry.claims import Paper
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import load
from orthobench.results.results import Results
from orthobench.results.runs import Run, run_label
from orthobench.results.tuning import SolverResult
from orthobench.stats.values import cost_or_metric, final
from orthobench.tools.arrays import Array

SEEDS = 100_000
"""The number of seeds for checks that run no suite."""


class ClaimError(OrthobenchError):
    """A claim cannot be checked, since a run failed or is missing."""


@dataclass
class Runs:
    """The runs of a paper's suites, which implement `orthobench.registry.claims.Evidence`.

    Attributes
    ----------
    paper : Paper
    folder : Path
        The folder of the stores.
    quick : bool
        Whether suites run at the small size.
    first_seed : int
        The first seed of all suites: another one gives independent runs.
    workers : int
        Worker processes; with 1, cells run in this process.
    quiet : bool
        Whether there is no progress display.
    results : dict
        The results of the suites that were run, by name.
    """

    paper: Paper
    folder: Path
    quick: bool = False
    first_seed: int = 0
    workers: int = 1
    quiet: bool = False
    results: dict[str, Results] = field(default_factory=dict)

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds for checks that run no suite."""
        return range(self.first_seed, self.first_seed + SEEDS)

    def records(self, suite: str, problem: str, solver: str) -> Sequence[Run]:
        """Return the runs of one solver on one problem; see `Evidence`."""
        entry = self._entry(suite, problem, solver)
        done = {record.seed for record in entry.records if record.ok}
        for record in entry.records:
            if not record.ok:
                raise ClaimError(
                    f"{run_label(solver, problem, record.seed)}, {record.stop.status.value}: "
                    f"{record.stop.reason}"
                )
        if missing := set(entry.seeds) - done:
            raise ClaimError(f"{solver} on {problem} has no run of seeds {sorted(missing)}")
        return entry.records

    def finals(self, suite: str, problem: str, solver: str, value: str) -> Array:
        """Return final values seed by seed; see `Evidence`."""
        read = cost_or_metric(value)
        values = np.array([final(r, read) for r in self.records(suite, problem, solver)])
        if not np.isfinite(values).all():
            raise ClaimError(f"{solver} on {problem} has no finite {value}")
        return values

    def exhibits(self, suite: str, problem: str, solver: str) -> Sequence[Mapping[str, Exhibit]]:
        """Return the exhibits of the solutions, seed by seed; see `Evidence`."""
        records = self.records(suite, problem, solver)
        by_key = self.run(suite).exhibits(records)
        return [by_key[record.key] for record in records]

    def run(self, name: str) -> Results:
        """Run the cells of a suite that are not in its store yet, and return its results."""
        if name not in self.results:
            self.results[name] = api.run(
                self._suite(name),
                self.folder / f"{name}{'-quick' * self.quick}.sqlite",
                decide=0,
                quiet=self.quiet,
                command=f"orthobench reproduce {self.paper.name}",
                executor="local" if self.workers > 1 else "inline",
                workers=self.workers,
            )
        return self.results[name]

    def _suite(self, name: str) -> Suite:
        folder = self.paper.suites / "quick" if self.quick else self.paper.suites
        suite = load(folder / f"{name}.toml", catalogue())
        if not self.first_seed:
            return suite
        seeds = [self.first_seed + seed for seed in suite.seeds]
        return load(folder / f"{name}.toml", catalogue(), {"seeds": seeds})

    def _entry(self, suite: str, problem: str, solver: str) -> SolverResult:
        entries = self.run(suite).entries
        of_solver = [e for e in entries if e.solver == solver] or entries
        problems = {e.problem for e in of_solver}
        if problem not in problems:
            raise unknown(f"problem in suite {suite}:", problem, problems)
        solvers = {e.solver: e for e in entries if e.problem == problem}
        if solver not in solvers:
            raise unknown(f"solver in suite {suite}:", solver, solvers)
        return solvers[solver]
