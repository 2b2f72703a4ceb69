"""Stores turned into the rows of an atlas."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from orthobench.atlas.table import COSTS, SHARES, UNREACHED, Atlas, AtlasRow
from orthobench.errors import StoreError, UsageError
from orthobench.harness.identity import canonical
from orthobench.harness.stopping import RunStatus
from orthobench.results.results import Results, store_at
from orthobench.results.runs import Run, run_label
from orthobench.results.store import Store
from orthobench.results.tuning import SolverResult
from orthobench.stats.targets import RunMatrix, run_matrix
from orthobench.stats.values import COSTS as READ
from orthobench.stats.values import final, metric_of
from orthobench.tools.collections import grouped
from orthobench.tools.places import DEFAULT

LONGEST = 300
"""The most characters of a reason."""


def collect(stores: Sequence[Path]) -> Atlas:
    """Return the atlas of all suites in some stores.

    The results of a suite may come from several stores: solvers are compared with those of the
    others, on the same problems and seeds. Only runs with chosen parameters have a row.

    Raises
    ------
    StoreError
        Where a store cannot be read.
    UsageError
        Where two stores have different results of one cell, or different budgets for a problem.
    """
    suites = by_suite(stores)
    rows = [row for own in suites.values() for row in _rows_of(own)]
    return Atlas(tuple(rows), _about([part for own in suites.values() for part in own]))


def by_suite(stores: Sequence[Path]) -> dict[str, list[Results]]:
    """Return the results of each suite in some stores, one for each store that has some."""
    parts = [part for path in stores for part in _parts(store_at(path))]
    return grouped(parts, lambda results: results.suite)


def _parts(path: Path) -> list[Results]:
    """Return the results of each suite of a store."""
    with Store(path) as store:
        names = store.suites()
    if not names:
        raise StoreError(f"nothing was run on the store {path} yet")
    return [Results.read(path, name) for name in names]


def _about(parts: Sequence[Results]) -> dict[str, Any]:
    """Return when and where the results were made, and by which versions."""
    sessions = [part.session() for part in parts]
    versions: dict[str, set[str]] = {}
    for part in parts:
        for name, version in part.versions.items():
            versions.setdefault(name, set()).add(version)
    return {
        "date": max(str(session["ended"] or session["started"]) for session in sessions)[:10],
        "machines": sorted({_machine(session) for session in sessions}),
        "versions": {name: ", ".join(sorted(found)) for name, found in sorted(versions.items())},
        "suites": list(dict.fromkeys(part.suite for part in parts)),
    }


def _machine(session: Mapping[str, Any]) -> str:
    return str(session["environment"].get("cpu", ""))


def _rows_of(parts: Sequence[Results]) -> Iterator[AtlasRow]:
    """Yield the rows of one suite."""
    machines = {run.key: _machine(part.session()) for part in parts for run in part.records}
    results = merged(parts)
    positions = {
        (family, seed): _Positions(run_matrix(own))
        for family, entries in _by_family(results).items()
        for seed, own in _by_seed(entries).items()
    }
    for entry in (entry for entry in results.entries if not entry.refused):
        for record in entry.finished:
            at = positions.get((entry.problem_info.family, record.seed))
            yield _row(results.suite, entry, record, machines[record.key], at)


def _by_family(results: Results) -> dict[str, list[SolverResult]]:
    return grouped(results.entries, lambda entry: entry.problem_info.family)


def _by_seed(entries: Sequence[SolverResult]) -> dict[int, list[SolverResult]]:
    """Return entries of one seed each: a solver that lacks a seed takes it from no other."""
    found: dict[int, list[SolverResult]] = {}
    for entry in entries:
        for record in entry.finished:
            one = replace(entry, records=(record,), seeds=(record.seed,))
            found.setdefault(record.seed, []).append(one)
    return found


def merged(parts: Sequence[Results]) -> Results:
    """Return the results of a suite from all stores that have some, each cell once.

    Raises
    ------
    UsageError
        Where two stores have different results of a cell, or different budgets for a problem.
    """
    found: dict[str, Run] = {}
    for run in (run for part in parts for run in part.records):
        if run.stop.status is RunStatus.MISSING:
            found.setdefault(run.key, run)
            continue
        other = found.get(run.key, run)
        if other.trace and run.trace and other.trace[-1].metrics != run.trace[-1].metrics:
            label = run_label(run.solver.label, run.problem.label, run.seed)
            raise UsageError(f"the stores have different results of {label}: run it again")
        found[run.key] = other if other.trace else run
    budgets: dict[str, Mapping[str, float]] = {}
    for run in found.values():
        problem = run.problem.label
        if dict(budgets.setdefault(problem, run.budget)) != dict(run.budget):
            raise UsageError(
                f"the stores have two budgets for {problem!r}: solvers are compared at one, so "
                "run them with the same suite"
            )
    return Results(parts[0].suite, parts[0].path, list(found.values()), score=parts[0].score)


class _Positions:
    """Finds the costs up to each target in the runs of a family."""

    def __init__(self, runs: RunMatrix) -> None:
        self.runs = runs
        self.solver = {name: i for i, name in enumerate(runs.solvers)}
        self.instance = {one: i for i, one in enumerate(runs.instances)}
        self.costs = {
            cost: np.stack([runs.costs(cost, share) for share in SHARES], -1) for cost in COSTS
        }

    def gap(self, problem: str, seed: int) -> tuple[float, float]:
        """Return the value at the start of an instance, and the lowest that any run reached."""
        i = self.instance.get((problem, seed))
        if i is None:
            return math.nan, math.nan
        return float(self.runs.start[i]), float(self.runs.lowest[i])

    def to(self, cost: str, solver: str, problem: str, seed: int) -> tuple[float, ...]:
        """Return a cost up to each target; infinite where it was not reached."""
        s, i = self.solver.get(solver), self.instance.get((problem, seed))
        if s is None or i is None:
            return UNREACHED
        return tuple(self.costs[cost][s, i].tolist())


def _row(
    suite: str, entry: SolverResult, record: Run, machine: str, at: _Positions | None
) -> AtlasRow:
    problem, solver = record.problem, record.solver
    start, lowest = at.gap(entry.problem, record.seed) if at else (math.nan, math.nan)
    spent = [READ[cost](record.trace[-1]) if record.trace else math.nan for cost in COSTS]
    value = final(record, metric_of(problem.primary))
    where = solver.label, entry.problem, record.seed
    to = [at.to(cost, *where) if at else UNREACHED for cost in COSTS]
    return AtlasRow(
        suite=suite, family=problem.family, problem=entry.problem, name=problem.name,
        parameters=canonical(problem.parameters), solver=solver.label,
        solver_parameters=canonical(solver.parameters),
        on=str(solver.parameters.get("on", DEFAULT)), seed=record.seed, metric=problem.primary,
        start=start, value=value, lowest=lowest, seconds=spent[0], samples=spent[1],
        flops=spent[2], seconds_to=to[0], samples_to=to[1], flops_to=to[2],
        ending=record.stop.status.value, reason=record.stop.reason[:LONGEST],
        failed=not math.isfinite(value), load=_load(record), machine=machine,
    )  # fmt: skip


def _load(record: Run) -> float:
    """Return the threads that ran for each processor, before and after a run."""
    known = [one for one in record.load or () if one.average is not None]
    if not known:
        return math.nan
    return round(float(np.mean([(one.average or 0.0) / one.processors for one in known])), 1)
