"""Stores turned into the rows of an atlas, with the features of its problems."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from orthobench.atlas.answers import code_digest, compare
from orthobench.atlas.features import features_of
from orthobench.atlas.losses import losses, portfolio
from orthobench.atlas.table import COSTS, Atlas, AtlasRow, settings
from orthobench.decide.answer import standings
from orthobench.decide.rule import TOLERANCE
from orthobench.errors import OrthobenchError, UsageError
from orthobench.harness.identity import Streams, canonical
from orthobench.registry.plugins import catalogue
from orthobench.results.results import Results, store_at
from orthobench.results.runs import Run
from orthobench.results.store import Store
from orthobench.results.tuning import SolverResult
from orthobench.stats.calls import offered, ratio_of
from orthobench.stats.cost_curve import CostCurve, cost_curve, gap_of
from orthobench.stats.costs import COSTS as READ
from orthobench.stats.values import final, metric_of
from orthobench.tools.collections import grouped
from orthobench.tools.files import refuse_files
from orthobench.tools.formatting import clean, listed


def collect(stores: Sequence[Path]) -> Atlas:
    """Return the atlas of all suites in some stores, each of which may have a part of a suite.

    Only runs with chosen parameters have a row, and none that measured memory.

    Raises
    ------
    StoreError
        If a store cannot be read.
    UsageError
        If a store has runs of another harness, or all runs measured memory.
    """
    suites = by_suite(stores)
    timed = [own for own in suites.values() if not any(run.measure for run in own[0].records)]
    if not timed:
        raise UsageError("these runs measured memory alone: give the stores of timed runs, too")
    rows = (row for own in timed for row in rows_of(own))
    return Atlas(tuple(rows), _about([part for own in timed for part in own]))


def by_suite(stores: Sequence[Path]) -> dict[str, list[Results]]:
    """Return the results of each suite, one for each store that has some."""
    parts = []
    for path in map(store_at, stores):
        with Store(path) as store:
            names = store.suites()
        # reading refuses an empty store
        parts += [Results.read(path, name) for name in names or (None,)]
        if foreign := [part.suite for part in parts if part.suite_as_typed == ""]:
            raise UsageError(
                f"the store {path} has runs of another harness (suite {foreign[0]}), whose times "
                "do not compare with those of orthobench: leave it out"
            )
    return grouped(parts, lambda results: results.suite)


def _about(parts: Sequence[Results]) -> dict[str, Any]:
    sessions = [part.session() for part in parts]
    return {
        "date": max(str(session["ended"] or session["started"]) for session in sessions)[:10],
        "machines": sorted({str(session["environment"].get("cpu", "")) for session in sessions}),
        "versions": Results("", Path(), [run for part in parts for run in part.records]).versions,
    }


def rows_of(parts: Sequence[Results]) -> Iterator[AtlasRow]:
    """Yield the rows of one suite, each cell once: a run with checkpoints if a store has one."""
    rows: dict[tuple[str, str, int], AtlasRow] = {}
    curves: dict[tuple[str, str, int], CostCurve] = {}
    for part in parts:
        entries = [entry for entry in part.entries if not entry.refused]
        environment = part.session()["environment"]
        race, machine = environment.get("race", {}), str(environment.get("cpu", ""))
        timed = {(label, seed): took for label, seed, took in race.get("timed_on_all", ())}
        for entry, run in ((own, run) for own in entries for run in own.finished):
            at = entry.problem, run.solver.label, run.seed
            if run.trace or at not in rows:
                row = _row(part.suite, entry, run, machine)
                rows[at] = replace(row, seconds=timed.get(at[1:], row.seconds))
            if (curve := cost_curve(run, entry.level)) is not None:
                curves[at] = offered(curve, ratio_of(run))
    own = grouped(curves.items(), lambda item: (item[0][0], item[0][2]))
    gaps = {at: gap_of([curve for _, curve in some]) for at, some in own.items()}
    for at, row in rows.items():
        start, lowest = gaps.get((row.problem, row.seed), (math.nan, math.nan))
        enough, spent = shortest(curves.get(at), lowest + TOLERANCE * (start - lowest))
        yield replace(row, start=start, lowest=lowest, enough=enough, spent=spent)


def shortest(curve: CostCurve | None, target: float) -> tuple[int, float]:
    """Return the smallest number of steps from which on a run keeps a target, and its seconds.

    It is 0, and the seconds are NaN, if the end misses the target.
    """
    if curve is None or not curve.end <= target:
        return 0, math.nan
    misses = np.flatnonzero(~(curve.values <= target) | (curve.steps < 1))
    first = int(misses[-1]) + 1 if len(misses) else 0
    if first == len(curve.steps):
        return 0, math.nan
    return int(curve.steps[first]), float(curve.spent("seconds")[first])


def _row(suite: str, entry: SolverResult, run: Run, machine: str) -> AtlasRow:
    """Return the row of a run; ``start``, ``lowest`` and ``enough`` follow from those of all."""
    problem, solver = run.problem, run.solver
    spent = [float(READ[cost](run.trace[-1])) if run.trace else math.nan for cost in COSTS]
    value = final(run, metric_of(problem.primary))
    return AtlasRow(
        suite=suite, family=problem.family, problem=entry.problem, name=problem.name,
        parameters=canonical(problem.parameters), solver=solver.label,
        solver_name=solver.name, solver_parameters=canonical(solver.parameters),
        seed=run.seed, metric=problem.primary, value=value,
        seconds=spent[0], samples=spent[1], flops=spent[2],
        steps=run.trace[-1].work.steps if run.trace else 0,
        ending=run.stop.status.value, failed=not math.isfinite(value),
        machine=machine, code=code_digest(run.identity.content.get("code", {})),
    )  # fmt: skip


def described(atlas: Atlas) -> Atlas:
    """Return an atlas with the features of its problems.

    Each problem is built once, with seed 0, off the clock. One that is not installed, has no data
    here or names a file stays without features: a store may be a stranger's.
    """
    groups = grouped(atlas.rows, lambda row: (row.name, row.parameters))
    found = {problem: _features(*problem) for problem in groups}
    rows = (replace(row, **found[row.name, row.parameters]) for row in atlas.rows)
    return replace(atlas, rows=tuple(rows))


def _features(name: str, parameters: str) -> dict[str, Any]:
    try:
        refuse_files(settings(parameters))
        problem = catalogue().problem(name, settings(parameters))
        stream = Streams.of(parameters, "", 0).data
        return asdict(features_of(problem.build(np.random.default_rng(stream))))
    except OrthobenchError:
        return {}


def with_records(atlas: Atlas) -> Atlas:
    """Return an atlas with a sentence about each solver, and the order in which to try them.

    If a solver has several labels in a family, the best one counts.
    """
    clauses: dict[str, list[str]] = {}
    order: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for kind, rows in atlas.kinds.items():
        comparisons = compare(rows)
        own = {r.solver: (r.solver_name, settings(r.solver_parameters)) for r in reversed(rows)}
        order[kind] = [own[solver] for solver in portfolio(losses(rows, comparisons))]
        first = {one.use: one for one in reversed(standings(comparisons))}
        for name, one in first.items():
            clauses.setdefault(name, []).append(
                f"{one.as_good_on} of {one.problems} problems of {clean(kind)} "
                f"(cheapest on {one.cheapest_on or 'none'})"
            )
    records = {
        solver: f"In the atlas, as good as the best on {listed(own)}."
        for solver, own in sorted(clauses.items())
    }
    return replace(atlas, about={**atlas.about, "records": records, "order": order})
