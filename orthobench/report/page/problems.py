"""The problems of a page: their tables and runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orthobench.report import caveats
from orthobench.report.plots.labels import axis_label
from orthobench.report.rows import Row
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
