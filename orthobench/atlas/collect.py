"""Stores turned into the rows of an atlas, with the features of its problems."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from orthobench.atlas.answers import code_digest
from orthobench.atlas.features import features_of
from orthobench.atlas.table import COSTS, Atlas, AtlasRow, settings
from orthobench.errors import OrthobenchError, StoreError, UsageError
from orthobench.harness.execution import MEMORY, PEAK
from orthobench.harness.identity import Streams, canonical
from orthobench.harness.stopping import RunStatus
from orthobench.registry.plugins import Registry, catalogue
from orthobench.results.results import Results, store_at
from orthobench.results.runs import Run
from orthobench.results.store import Store
from orthobench.results.tuning import SolverResult
from orthobench.stats.cost_curve import CostCurve, cost_curve
from orthobench.stats.costs import COSTS as READ
from orthobench.stats.values import final, metric_of
from orthobench.tools.collections import grouped
from orthobench.tools.files import refuse_files
from orthobench.tools.places import DEFAULT

LONGEST = 300
"""The most characters of a reason."""


def collect(stores: Sequence[Path]) -> Atlas:
    """Return the atlas of all suites in some stores.

    The results of a suite may come from several stores: solvers are compared with those of the
    others, on the same problems and seeds. Only runs with chosen parameters have a row. Those that
    measured memory have none: they tell it to the others of their solver on that problem.

    Raises
    ------
    StoreError
        If a store cannot be read.
    UsageError
        If two stores have different results of one cell, or different budgets for a problem, or
        all of them measured memory.
    """
    suites = by_suite(stores)
    timed = [own for own in suites.values() if not any(run.measure for run in own[0].records)]
    if not timed:
        raise UsageError("these runs measured memory alone: give the stores of timed runs, too")
    peaks = _peaks(run for own in suites.values() for part in own for run in part.records)
    rows = [
        replace(row, memory=peaks.get((row.name, row.parameters, row.solver_name), math.nan))
        for own in timed
        for row in rows_of(own)
    ]
    return Atlas(tuple(rows), _about([part for own in timed for part in own]))


def _peaks(runs: Iterable[Run]) -> dict[tuple[str, str, str], float]:
    """Return the most bytes that each solver took on each problem, of runs that measured it."""
    peaks: dict[tuple[str, str, str], float] = {}
    for run in runs:
        if run.measure == MEMORY and run.trace:
            at = run.problem.name, canonical(run.problem.parameters), run.solver.name
            peaks[at] = max(peaks.get(at, 0.0), float(run.trace[-1].metrics.get(PEAK, 0.0)))
    return peaks


def by_suite(stores: Sequence[Path]) -> dict[str, list[Results]]:
    """Return the results of each suite in some stores, one for each store that has some."""
    parts = []
    for path in map(store_at, stores):
        with Store(path) as store:
            names = store.suites()
        if not names:
            raise StoreError(f"nothing was run on the store {path} yet")
        parts += [Results.read(path, name) for name in names]
        if foreign := [part.suite for part in parts if part.suite_as_typed == ""]:
            raise UsageError(
                f"the store {path} has runs of another harness (suite {foreign[0]}), whose clock "
                "nothing here can be compared with: leave it out"
            )
    return grouped(parts, lambda results: results.suite)


def _about(parts: Sequence[Results]) -> dict[str, Any]:
    """Return when and where the results were made, and by which versions."""
    sessions = [part.session() for part in parts]
    versions: dict[str, set[str]] = {}
    for part in parts:
        for name, version in part.versions.items():
            versions.setdefault(name, set()).add(version)
    return {
        "date": max(str(session["ended"] or session["started"]) for session in sessions)[:10],
        "machines": sorted({_machine(part) for part in parts}),
        "versions": {name: ", ".join(sorted(some)) for name, some in sorted(versions.items())},
        "suites": list(dict.fromkeys(part.suite for part in parts)),
    }


def _machine(part: Results) -> str:
    return str(part.session()["environment"].get("cpu", ""))


def rows_of(parts: Sequence[Results]) -> Iterator[AtlasRow]:
    """Yield the rows of one suite."""
    machines: dict[str, str] = {}
    for part in parts:
        machines |= dict.fromkeys((run.key for run in part.records), _machine(part))
    results = merged(parts)
    entries = (entry for entry in results.entries if not entry.refused)
    runs = [(entry, run) for entry in entries for run in entry.finished]
    curves: dict[tuple[str, int], list[CostCurve]] = {}
    for entry, run in runs:
        own = curves.setdefault((entry.problem, run.seed), [])
        if (curve := cost_curve(run, entry.level)) is not None:
            own.append(curve)
    for entry, run in runs:
        same = curves[entry.problem, run.seed]
        start = max((curve.start for curve in same), default=math.nan)
        lowest = min((curve.lowest for curve in same), default=math.nan)
        row = _row(results.suite, entry, run, machines[run.key])
        yield replace(row, start=start, lowest=lowest)


def merged(parts: Sequence[Results]) -> Results:
    """Return the results of a suite from all stores that have some, each cell once.

    Raises
    ------
    UsageError
        If two stores have different results of a cell, or different budgets for a problem.
    """
    runs: dict[str, Run] = {}
    for run in (run for part in parts for run in part.records):
        other = runs.setdefault(run.key, run)
        if other.trace and run.trace and other.trace[-1].metrics != run.trace[-1].metrics:
            raise UsageError(f"the stores have different results of {run.label}: run it again")
        if run.stop.status is not RunStatus.MISSING and not other.trace:
            runs[run.key] = run
    budgets: dict[str, Mapping[str, float]] = {}
    for run in runs.values() if len(parts) > 1 else ():
        problem = run.problem.label
        if dict(budgets.setdefault(problem, run.budget)) != dict(run.budget):
            raise UsageError(
                f"the stores have two budgets for {problem!r}: solvers are compared at one, so "
                "run them with the same suite"
            )
    return replace(parts[0], records=list(runs.values()))


def _row(suite: str, entry: SolverResult, run: Run, machine: str) -> AtlasRow:
    """Return the row of a run, without what the runs of others say of its problem."""
    problem, solver = run.problem, run.solver
    spent = [READ[cost](run.trace[-1]) if run.trace else math.nan for cost in COSTS]
    value = final(run, metric_of(problem.primary))
    return AtlasRow(
        suite=suite, family=problem.family, problem=entry.problem, name=problem.name,
        parameters=canonical(problem.parameters), solver=solver.label,
        solver_name=solver.name, solver_parameters=canonical(solver.parameters),
        on=str(solver.parameters.get("on", DEFAULT)), seed=run.seed, metric=problem.primary,
        value=value, seconds=spent[0], samples=spent[1], flops=spent[2],
        ending=run.stop.status.value, reason=run.stop.reason[:LONGEST],
        failed=not math.isfinite(value),
        machine=machine, code=code_digest(run.identity.content.get("code", {})),
    )  # fmt: skip


def described(atlas: Atlas) -> Atlas:
    """Return an atlas with the features of its problems.

    Each problem is built once, with seed 0, on no clock. What is not installed here, or has no data
    here, stays without, as does what names a file: a store may be a stranger's.
    """
    registry = catalogue()
    groups = grouped(atlas.rows, lambda row: (row.name, row.parameters))
    by_row = {id(row): new for own in groups.values() for row, new in _described(own, registry)}
    return replace(atlas, rows=tuple(by_row[id(row)] for row in atlas.rows))


def _described(rows: list[AtlasRow], registry: Registry) -> Iterator[tuple[AtlasRow, AtlasRow]]:
    """Yield the rows of one problem, each with what is known of it."""
    first = rows[0]
    try:
        refuse_files(settings(first.parameters))
        problem = registry.problem(first.name, settings(first.parameters))
        stream = Streams.of(first.parameters, "", 0).data
        instance = problem.build(np.random.default_rng(stream))
    except OrthobenchError:
        yield from zip(rows, rows, strict=True)
        return
    measured = asdict(features_of(instance))
    del measured["ordered"]  # decides which solvers are named, and is no feature of the models
    for row in rows:
        yield row, replace(row, **measured)
