"""The problems of a page: their tables, failures, refusals and runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orthobench.report import caveats
from orthobench.report.plots.labels import axis_label
from orthobench.report.rows import Row
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.stats.cost_curve import cost_curve
from orthobench.stats.costs import COSTS
from orthobench.stats.values import final, metric_of
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import assignments, budget_text, clean, duration, number, plural


def problem_section(
    anchor: str, entries: Sequence[SolverResult], rows: Sequence[Row], plots: range
) -> dict[str, Any]:
    """Return the section of one problem, as the template reads it."""
    first, info = entries[0], entries[0].problem_info
    facts = (
        clean(info.family), f"final {axis_label(info.primary)}, smaller is better",
        plural(len(first.seeds), "seed"), budget_text(first.records[0].budget),
    )  # fmt: skip
    drawn = all(row.median_of(COSTS["samples"]) != 0 for row in rows)
    return {
        "id": anchor,
        "label": first.problem,
        "entries": entries,
        "rows": rows,
        "plots": plots,
        "facts": tuple(filter(None, facts)),
        "effort": "samples" if drawn else "steps",
        "notes": caveats.notes([row.result for row in rows], entries),
        "waiting": not rows and any(not entry.refused for entry in entries),
        "partial": any(row.summary.n_missing for row in rows),
        "absent": [entry.solver for entry in entries if entry.refused],
    }


def failures(results: Results, rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return all runs that count as failed, grouped by problem, solver, status and reason.

    Runs of parameters that tuning did not choose are among them, without ``chosen``.
    """
    found: dict[tuple[Any, ...], list[int]] = {}
    for run in results.failures:
        names = (run.problem.label, run.solver.label, assignments(run.solver.tuned))
        ending = (run.key in results.reported_keys, run.stop.status.value, clean(run.stop.reason))
        found.setdefault((*names, *ending), []).append(run.seed)
    listed = {run.key for run in results.failures}
    for row in rows:
        entry = row.result
        names = (entry.problem, entry.solver, assignments(entry.best_parameters))
        seeds = {run.seed for run in entry.records if run.key in listed}
        for failure in row.summary.failures:
            if failure["seed"] not in seeds:  # its run ended without the metric
                ending = (True, failure["status"], clean(failure["reason"]))
                found.setdefault((*names, *ending), []).append(failure["seed"])
    columns = ("problem", "solver", "tuned", "chosen", "status", "reason")
    return [{**dict(zip(columns, one, strict=True)), "seeds": own} for one, own in found.items()]


def refusals(entries: Sequence[SolverResult]) -> Mapping[tuple[str, tuple[str, ...]], list[str]]:
    """Return the refusing solvers, by the reason and the problems that they share."""
    refused = grouped((e for e in entries if e.refused), lambda e: (clean(e.refusal), e.solver))
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (reason, solver), own in refused.items():
        problems = tuple(dict.fromkeys(entry.problem for entry in own))
        found.setdefault((reason, problems), []).append(solver)
    return found


def ranges(seeds: Iterable[int]) -> str:
    """Return seeds as ``0-3, 7``."""
    spans = grouped(enumerate(sorted(set(seeds))), lambda pair: pair[1] - pair[0]).values()
    return ", ".join(
        f"{own[0][1]}-{own[-1][1]}" if len(own) > 1 else str(own[0][1]) for own in spans
    )


def problem_runs(entries: Sequence[SolverResult]) -> dict[str, dict[str, Any]]:
    """Return the runs behind the curve of each solver of a problem, with its parameters.

    A run has its seed, its end above the best value of that seed in percent of the gap, its final
    value, its time, how it ended, and the load of each core before and after it.
    """
    metric = entries[0].problem_info.primary
    curves = [
        (run.seed, curve)
        for entry in entries
        for run in entry.finished
        if (curve := cost_curve(run, entry.level, metric)) is not None
    ]
    by_seed = grouped(curves, lambda pair: pair[0])
    lowest = {seed: min(curve.lowest for _, curve in own) for seed, own in by_seed.items()}
    start = {seed: max(curve.start for _, curve in own) for seed, own in by_seed.items()}

    return {
        entry.solver: {
            "about": assignments(entry.records[0].solver.parameters),
            "runs": [
                (r.seed, _above(r, metric, lowest, start), number(final(r, metric_of(metric))),
                 duration(r.trace[-1].seconds + r.trace[-1].readout_seconds),
                 clean(f"{r.stop.status.value}: {r.stop.reason}"), _load(r))
                for r in entry.finished
                if len(r.trace)
            ],
        }
        for entry in entries
    }  # fmt: skip


def _above(
    run: Run, metric: str, lowest: Mapping[int, float], start: Mapping[int, float]
) -> str:  # fmt: skip
    if run.seed not in lowest or not (gap := start[run.seed] - lowest[run.seed]) > 0:
        return ""
    return number(100 * (final(run, metric_of(metric)) - lowest[run.seed]) / gap)


def _load(record: Run) -> str:
    shares = [one.average / one.processors for one in record.load or () if one.average is not None]
    return ", ".join(f"{share:.2f}" for share in shares)
