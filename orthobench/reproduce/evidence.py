"""The runs that claims are checked on, made when a check asks for them."""

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
from orthobench.results.record import Record
from orthobench.results.results import Results
from orthobench.results.tuning import Entry
from orthobench.stats.curves import AXES
from orthobench.stats.seeds import final, metric_of
from orthobench.tools.arrays import Array

SEEDS = 100_000
"""Seeds from which checks that run no suite may take."""


class ClaimError(OrthobenchError):
    """A check that cannot say anything, because a run failed or is missing."""


@dataclass
class Runs:
    """The evidence of one paper: its suites are run once each, and kept in their stores.

    Attributes
    ----------
    paper : Paper
    folder : Path
        Where the stores are.
    quick : bool
        The small size.
    first_seed : int
        Seeds are counted from here: another one gives independent runs.
    workers : int
        Processes; with one, cells run in this process.
    quiet : bool
        No progress display.
    results : dict
        Of the suites that were run, by name.
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
        """The seeds of checks that run no suite."""
        return range(self.first_seed, self.first_seed + SEEDS)

    def records(self, suite: str, problem: str, solver: str) -> Sequence[Record]:
        """Return the runs of one solver on one problem; see `Evidence`."""
        entry = self._entry(suite, problem, solver)
        done = {record.seed for record in entry.records if not record.failed}
        for record in entry.records:
            if record.failed:
                raise ClaimError(
                    f"{solver} on {problem}, seed {record.seed}, {record.stop.status.value}: "
                    f"{record.stop.reason}"
                )
        if missing := set(entry.seeds) - done:
            raise ClaimError(f"{solver} on {problem} has no run of seeds {sorted(missing)}")
        return entry.records

    def finals(self, suite: str, problem: str, solver: str, value: str) -> Array:
        """Return final values seed by seed; see `Evidence`."""
        read = AXES.get(value) or metric_of(value)
        found = np.array([final(r, read) for r in self.records(suite, problem, solver)])
        if not np.isfinite(found).all():
            raise ClaimError(f"{solver} on {problem} has no finite {value}")
        return found

    def exhibits(self, suite: str, problem: str, solver: str) -> Sequence[Mapping[str, Exhibit]]:
        """Return what solutions look like, seed by seed; see `Evidence`."""
        records = self.records(suite, problem, solver)
        shown = self.run(suite).exhibits(records)
        return [shown[record.key] for record in records]

    def run(self, name: str) -> Results:
        """Run a suite, or what of it is not in its store yet."""
        if name not in self.results:
            self.results[name] = api.run(
                self._suite(name),
                self.folder / f"{name}{'-quick' * self.quick}.sqlite",
                quiet=self.quiet,
                executor="local" if self.workers > 1 else "inline",
                workers=self.workers,
            )
        return self.results[name]

    def _suite(self, name: str) -> Suite:
        folder = self.paper.suites / "quick" if self.quick else self.paper.suites
        found = load(folder / f"{name}.toml", catalogue())
        if not self.first_seed:
            return found
        moved = [self.first_seed + seed for seed in found.seeds]
        return load(folder / f"{name}.toml", catalogue(), {"seeds": moved})

    def _entry(self, suite: str, problem: str, solver: str) -> Entry:
        entries = self.run(suite).entries
        problems = _by([e for e in entries if e.solver == solver] or entries, "problem")
        if problem not in problems:
            raise unknown(f"problem in suite {suite}:", problem, problems)
        solvers = _by([e for e in entries if e.problem == problem], "solver")
        if solver not in solvers:
            raise unknown(f"solver in suite {suite}:", solver, solvers)
        return solvers[solver]


def _by(entries: Sequence[Entry], field: str) -> Mapping[str, Entry]:
    return {getattr(entry, field): entry for entry in entries}
