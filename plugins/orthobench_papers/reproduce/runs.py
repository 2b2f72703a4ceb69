"""The runs of a paper's suites, which are run when a check needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from orthobench import api
from orthobench.contract.exhibits import Exhibit
from orthobench.contract.parameters import values_of
from orthobench.errors import OrthobenchError, UsageError
from orthobench.harness.identity import label
from orthobench.harness.suite import FULL, QUICK, SMOKE, Suite
from orthobench.registry.entries import specification
from orthobench.registry.plugins import noted
from orthobench.registry.suite_file import load
from orthobench.registry.suite_values import sized
from orthobench.results.results import Results
from orthobench.results.runs import Run, run_label
from orthobench.results.tuning import SolverResult
from orthobench.stats.values import cost_or_metric, final
from orthobench.tools.arrays import Array
from orthobench_papers.reproduce.claims import Paper
from orthobench_papers.reproduce.installed import catalogue

T = TypeVar("T")

SEEDS = {FULL: 100_000, QUICK: 100_000, SMOKE: 2}
"""The maximum number of seeds of checks and suites, by size."""


class ClaimError(OrthobenchError):
    """A claim cannot be checked, since a run failed or is missing."""


@dataclass
class Evidence:
    """The runs of a paper's suites, for checks; suites run when they are needed.

    Attributes
    ----------
    paper : Paper
    folder : Path
        The folder of the stores.
    size : str
        The size of the experiments, one of `orthobench.harness.suite.SIZES`.
    first_seed : int
        The first seed of all suites.
    workers : int
        Number of processes; with 1, cells run in this one.
    quiet : bool
        Whether there is no progress display.
    results : dict
        The results of suites, by name.
    names : set of str
        The solvers and problems that were asked for: ``"solver msg"``.
    """

    paper: Paper
    folder: Path
    size: str = FULL
    first_seed: int = 0
    workers: int = 1
    quiet: bool = False
    results: dict[str, Results] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    @property
    def seeds(self) -> Sequence[int]:
        """Seeds for checks that run no suite; two at the smoke size."""
        return range(self.first_seed, self.first_seed + SEEDS[self.size])

    def sized(self, full: T, quick: T, smoke: T | None = None) -> T:
        """Return the value of the current size; `smoke` defaults to `quick`."""
        given = {FULL: full, QUICK: quick} | ({} if smoke is None else {SMOKE: smoke})
        return sized(given, self.size)

    def problems(self, suite: str, problem: str) -> Sequence[str]:
        """Return a specification of each problem that a specification applies to."""
        every = [planned.problem for planned in self._suite(suite).problems]
        found = [p for p in every if _applies(problem, p.name, values_of(p))]
        if not found:
            raise UsageError(f"no problem of the suite {suite} is {problem!r}")
        shown = _varying([values_of(p) for p in every if p.name == found[0].name])
        return [label(p, {key: values_of(p)[key] for key in shown}) for p in found]

    def records(self, suite: str, problem: str, solver: str) -> Sequence[Run]:
        """Return the runs of a solver on a problem, by seed, as tuned.

        Parameters
        ----------
        suite : str
            The stem of its file.
        problem, solver : str
            Specifications ``NAME key=value ...`` of one problem and one solver of the suite. The
            metric of a level is a parameter of the problem.

        Raises
        ------
        UsageError
            If a specification applies to none or to several.
        ClaimError
            If a run failed or is missing.
        """
        entry = self._entry(suite, problem, solver)
        for record in entry.records:
            if not record.ok:
                raise ClaimError(
                    f"{run_label(solver, problem, record.seed)}, {record.stop.status.value}: "
                    f"{record.stop.reason}"
                )
        if missing := set(entry.seeds) - {record.seed for record in entry.records}:
            raise ClaimError(f"{solver} on {problem} has no run of seeds {sorted(missing)}")
        return entry.records

    def finals(self, suite: str, problem: str, solver: str, value: str) -> Array:
        """Return the final values of a metric or a cost (seconds, ...), one a seed."""
        read = cost_or_metric(value)
        values = np.array([final(r, read) for r in self.records(suite, problem, solver)])
        if not np.isfinite(values).all():
            raise ClaimError(f"{solver} on {problem} has no finite {value}")
        return values

    def exhibits(self, suite: str, problem: str, solver: str) -> Sequence[Mapping[str, Exhibit]]:
        """Return the exhibits of the last solutions, one mapping for each seed."""
        records = self.records(suite, problem, solver)
        by_key = self.run(suite).exhibits(records)
        return [by_key[record.key] for record in records]

    def run(self, name: str) -> Results:
        """Run the cells of a suite that are not in its store yet, and return its results."""
        if name not in self.results:
            size = "" if self.size == FULL else f"-{self.size}"
            self.results[name] = api.run(
                self._suite(name), self.folder / f"{name}{size}.sqlite", decide=0,
                quiet=self.quiet, command=f"orthobench reproduce {self.paper.name}",
                executor="local" if self.workers > 1 else "inline", workers=self.workers,
            )  # fmt: skip
        return self.results[name]

    def asked(self, ask: Callable[[Evidence], T]) -> T:
        """Return the result of a check or a picture, and note its methods."""
        with noted() as names:
            found = ask(self)
        self.names |= names
        return found

    def _suite(self, name: str) -> Suite:
        path = self.paper.suites / f"{name}.toml"
        suite = load(path, catalogue(), size=self.size)
        seeds = [self.first_seed + seed for seed in suite.seeds[: SEEDS[self.size]]]
        return load(path, catalogue(), {"seeds": seeds}, self.size)

    def _entry(self, suite: str, problem: str, solver: str) -> SolverResult:
        found = self.run(suite).entries
        for kind, text in (("solver", solver), ("problem", problem)):
            known = sorted({getattr(entry, kind) for entry in found})
            found = [entry for entry in found if _applies(text, *_facts(entry, kind))]
            if not found:
                raise UsageError(
                    f"no {kind} of the suite {suite} is {text!r}; it has {', '.join(known)}"
                )
        if len(found) > 1:
            values = [{**_facts(e, "problem")[1], **_facts(e, "solver")[1]} for e in found]
            raise UsageError(
                f"{solver!r} on {problem!r} is not one comparison of the suite {suite} but "
                f"{len(found)}: add {' or '.join(_varying(values))}"
            )
        return found[0]


def _facts(entry: SolverResult, kind: str) -> tuple[str, Mapping[str, Any]]:
    """Return name and parameters of the problem or of the solver of an entry."""
    if kind == "solver":
        solver = entry.records[0].solver
        return solver.name, solver.parameters
    problem, level = entry.problem_info, entry.level
    return problem.name, {**problem.parameters, **({level.metric: level.value} if level else {})}


def _applies(text: str, name: str, values: Mapping[str, Any]) -> bool:
    """Return whether a specification has this name, and only these values, or their texts."""
    asked = specification(text)
    return asked.pop("name") == name and all(
        key in values and value in (values[key], str(values[key])) for key, value in asked.items()
    )


def _varying(several: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys whose values differ."""
    return [key for key in several[0] if any(one.get(key) != several[0][key] for one in several)]
