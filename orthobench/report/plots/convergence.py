"""Convergence: a metric along the run, all solvers of a problem in one panel."""

from __future__ import annotations

from collections.abc import Sequence

from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.report.plots.labels import about, axis_label, legend_label
from orthobench.results.tuning import Entry
from orthobench.stats.curves import Traces
from orthobench.stats.seeds import spread_name


def convergence(entries: Sequence[Entry]) -> Plot:
    """Return the convergence plot of one problem: metrics against samples, seconds, ...

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem, at least one; a solver that takes no part is left out.
    """
    taking_part = [entry for entry in entries if not entry.refused]
    axes, metrics = _axes(taking_part), _metrics(taking_part)
    traces = _traces(taking_part)

    def draw(key: Key) -> Panel:
        return _panel(traces, *key)

    return Plot(
        name=entries[0].problem,
        kind="convergence",
        choices={"x": axes, "metric": metrics},
        draw=draw,
        sheet=[(x, metrics[0]) for x in dict.fromkeys((axes[0], "seconds"))],
        about=about(taking_part),
    )


def convergence_panel(entries: Sequence[Entry], x: str, metric: str) -> Panel:
    """Return the median curve of every solver, with a band over its seeds.

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem.
    x : str
        One of `orthobench.stats.curves.AXES`.
    metric : str

    Raises
    ------
    UsageError
        On an unknown `x`.
    """
    return _panel(_traces(entries), x, metric)


def _traces(entries: Sequence[Entry]) -> list[tuple[Entry, Traces]]:
    return [(entry, Traces(entry.records, entry.seeds)) for entry in entries]


def _panel(traces: Sequence[tuple[Entry, Traces]], x: str, metric: str) -> Panel:
    seeds = max((len(entry.seeds) for entry, _ in traces), default=1)
    return Panel(
        Axis(x, axis_label(x)),
        Axis(metric, axis_label(metric)),
        tuple(_series(entry, runs, x, metric) for entry, runs in traces),
        band=spread_name(seeds) if seeds > 1 else "",
    )


def _series(entry: Entry, traces: Traces, x: str, metric: str) -> Series:
    found = traces.curve(x, metric)
    runs = zip(traces.costs(x), traces.values(metric), strict=True)
    return Series(
        legend_label(entry), found.x, found.median, found.low, found.high,
        solver=entry.solver, crosses=found.ends, runs=tuple(run for run in runs if len(run[0])),
    )  # fmt: skip


def _axes(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return the x axes that mean something here, first the one to show first.

    Samples, where all methods draw them, or else floating-point operations.
    """
    marks = [mark for entry in entries for r in entry.records for mark in r.trace[-1:]]
    first = "samples" if marks and all(mark.work.samples > 0 for mark in marks) else "flops"
    drawn = any(mark.work.samples > 0 for mark in marks)
    axes = (first, "seconds", "flops", "steps", *(["samples"] if drawn else []))
    return tuple(dict.fromkeys(axes))


def _metrics(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return all metrics, first that of the runs' target, or else the primary one."""
    records = [record for entry in entries for record in entry.records]
    shown = [record.target or record.problem.primary for record in records]
    marks = [mark for record in records for mark in record.trace[-1:]]
    return tuple(dict.fromkeys([*shown[:1], *(name for mark in marks for name in mark.metrics)]))
