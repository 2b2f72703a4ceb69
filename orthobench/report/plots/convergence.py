"""Convergence plots: a metric along the run, all solvers of a problem in one panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.plots import labels
from orthobench.results.tuning import SolverResult
from orthobench.stats.costs import COSTS, costs_of
from orthobench.stats.curves import curve
from orthobench.stats.values import others_cost


def convergence(entries: Sequence[SolverResult]) -> Plot:
    """Return the convergence plot of one problem: metrics against samples, seconds, ..."""
    taking_part = [entry for entry in entries if not entry.refused]
    costs, metrics = _costs(taking_part), _metrics(taking_part)
    begun = [entry for entry in taking_part if entry.finished]
    return Plot(
        name=entries[0].problem,
        kind="convergence",
        choices={"x": costs, "metric": metrics},
        draw=lambda key: _panel(begun, *key),
        sheet=[(x, metrics[0]) for x in dict.fromkeys((costs[0], "seconds")) if x in costs],
        about=labels.about(taking_part, *labels.medians(taking_part)),
    )


def _panel(entries: Sequence[SolverResult], x: str, metric: str) -> Panel:
    return Panel(
        Axis(x, labels.axis_label(x)),
        Axis(metric, labels.axis_label(metric)),
        tuple(_series(entry, x, metric) for entry in entries),
        band=labels.band_of(entries),
    )


def _series(entry: SolverResult, x: str, metric: str) -> Series:
    cost = "flops" if x == labels.TOTAL else x
    before = others_cost(entry, COSTS[cost]) if x == labels.TOTAL else 0.0
    found = curve(entry.finished, cost, metric)
    return replace(
        found, label=labels.legend_label(entry), x=before + found.x, solver=entry.solver,
        crosses=tuple((before + at, y) for at, y in found.crosses),
    )  # fmt: skip


def _costs(entries: Sequence[SolverResult]) -> tuple[str, ...]:
    samples = [mark.work.samples for e in entries for r in e.records for mark in r.trace[-1:]]
    first = "samples" if samples and all(samples) else "flops"
    known = costs_of(r for e in entries for r in e.records)
    names = [n for n in (first, *known) if n in known and (n != "samples" or any(samples))]
    tuned = any(len(entry.trials) > 1 for entry in entries)
    return tuple(dict.fromkeys([*names, *[labels.TOTAL] * tuned]))


def _metrics(entries: Sequence[SolverResult]) -> tuple[str, ...]:
    """Return all metrics, first the one that the runs have a target for, or else the primary."""
    records = [record for entry in entries for record in entry.records]
    shown = [record.target or record.problem.primary for record in records]
    marks = [mark for record in records for mark in record.trace[-1:]]
    return tuple(dict.fromkeys([*shown[:1], *(name for mark in marks for name in mark.metrics)]))
