"""Convergence plots: a metric along the run, all solvers of a problem in one panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.plots import labels
from orthobench.results.tuning import SolverResult
from orthobench.stats.costs import costs_of
from orthobench.stats.curves import Traces


def convergence(entries: Sequence[SolverResult]) -> Plot:
    """Return the convergence plot of one problem: metrics against samples, seconds, ..."""
    taking_part = [entry for entry in entries if not entry.refused]
    costs, metrics = _costs(taking_part), _metrics(taking_part)
    runs = [(entry, entry.finished) for entry in taking_part]
    traces = [(entry, Traces(own, [r.seed for r in own])) for entry, own in runs if own]
    return Plot(
        name=entries[0].problem,
        kind="convergence",
        choices={"x": costs, "metric": metrics},
        draw=lambda key: _panel(traces, *key),
        sheet=[(x, metrics[0]) for x in dict.fromkeys((costs[0], "seconds")) if x in costs],
        about=labels.about(taking_part, labels.medians(taking_part), labels.crosses(taking_part)),
    )


def _panel(traces: Sequence[tuple[SolverResult, Traces]], x: str, metric: str) -> Panel:
    return Panel(
        Axis(x, labels.axis_label(x)),
        Axis(metric, labels.axis_label(metric)),
        tuple(_series(entry, runs, x, metric) for entry, runs in traces),
        band=labels.band_of([entry for entry, _ in traces]),
    )


def _series(entry: SolverResult, traces: Traces, x: str, metric: str) -> Series:
    return replace(traces.curve(x, metric), label=labels.legend_label(entry), solver=entry.solver)


def _costs(entries: Sequence[SolverResult]) -> tuple[str, ...]:
    samples = [mark.work.samples for e in entries for r in e.records for mark in r.trace[-1:]]
    first = "samples" if samples and all(samples) else "flops"
    known = costs_of(r for e in entries for r in e.records)
    names = [n for n in (first, *known) if n in known and (n != "samples" or any(samples))]
    return tuple(dict.fromkeys(names))


def _metrics(entries: Sequence[SolverResult]) -> tuple[str, ...]:
    """Return all metrics, first the one that the runs have a target for, or else the primary."""
    records = [record for entry in entries for record in entry.records]
    shown = [record.target or record.problem.primary for record in records]
    marks = [mark for record in records for mark in record.trace[-1:]]
    return tuple(dict.fromkeys([*shown[:1], *(name for mark in marks for name in mark.metrics)]))
