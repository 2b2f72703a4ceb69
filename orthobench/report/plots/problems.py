"""Plots of one problem: convergence, and the curves of tuned parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.decide.rule import TOLERANCE
from orthobench.harness.identity import canonical
from orthobench.report.plots.geometry import Clipped
from orthobench.report.plots.labels import about, axis_label, legend_label
from orthobench.results.traces import finite
from orthobench.results.tuning import SolverResult, Trial, slice_of, varied
from orthobench.stats.bootstrap import spread_name
from orthobench.stats.costs import costs_of
from orthobench.stats.curves import curve
from orthobench.tools.formatting import assignments, clean, short

WIDE = 10.0
"""The ratio of values from which on an axis is logarithmic."""


def problem_plots(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return the plots of one problem: convergence and tuning."""
    return [plot for plot in (convergence(entries), tuning(entries)) if plot is not None]


def convergence(entries: Sequence[SolverResult]) -> Plot:
    """Return the convergence plot of one problem: metrics against samples, seconds, ..."""
    taking_part = [entry for entry in entries if not entry.refused]
    costs, metrics = _costs(taking_part), _metrics(taking_part)
    begun = [entry for entry in taking_part if entry.finished]
    seeds = max((len(entry.seeds) for entry in taking_part), default=1)
    band = spread_name(seeds) if seeds > 1 else ""
    crossed = not all(run.ok and finite(run.trace) for entry in begun for run in entry.finished)
    tolerance = entries[0].tolerance or TOLERANCE

    def draw(key: Sequence[str]) -> Panel:
        curves = [
            replace(curve(entry.finished, *key), label=legend_label(entry), solver=entry.solver)
            for entry in begun
        ]
        x, y = (Axis(name, axis_label(name)) for name in key)
        least = _least(curves, tolerance) if y.key == metrics[0] else 0.0
        return Clipped(x, y, tuple(curves), band=band, least=least)

    return Plot(
        name=entries[0].problem,
        kind="convergence",
        choices={"x": costs, "metric": metrics},
        draw=draw,
        sheet=[(x, metrics[0]) for x in dict.fromkeys((costs[0], "seconds")) if x in costs],
        about=about(
            taking_part,
            f"median over {seeds} seeds, band: {band}" if seeds > 1 else "one seed",
            "× where a run failed or its metric was no longer finite" if crossed else "",
        ),
    )


def _least(curves: Sequence[Series], tolerance: float) -> float:
    """Return a power of ten up to a hundredth of the tolerance, as a part of the start."""
    starts = [one.y[np.isfinite(one.y)][:1] for one in curves]
    least = tolerance / 100 * max((float(start[0]) for start in starts if len(start)), default=0.0)
    return 10.0 ** math.floor(math.log10(least)) if least > 0 else 0.0


def _costs(entries: Sequence[SolverResult]) -> tuple[str, ...]:
    """Return the costs that are known, first samples if all runs draw some, or else flops."""
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


def tuning(entries: Sequence[SolverResult]) -> Plot | None:
    """Return the scores of the values of each tuned parameter, the others as chosen."""
    tuned = [entry for entry in entries if not entry.refused and varied(entry)]
    parameters = tuple(dict.fromkeys(name for entry in tuned for name in varied(entry)))
    if not parameters:
        return None
    failed = any(math.isinf(trial.score) for entry in tuned for trial in entry.trials)
    level = tuned[0].level
    return Plot(
        name=f"{clean(entries[0].problem)}: tuning",
        kind="tuning",
        choices={"parameter": parameters},
        draw=lambda key: _tuning_panel(tuned, *key),
        sheet=[(parameters[0],)],
        about=about(
            tuned,
            "the marked value was chosen, by the tuning score, for all seeds",
            f"only values that keep {level} could be chosen" if level is not None else "",
            "other tuned parameters have their chosen values" if len(parameters) > 1 else "",
            "a value with a failed run has an infinite score, which is not drawn" if failed else "",
        ),
    )


def _tuning_panel(entries: Sequence[SolverResult], parameter: str) -> Panel:
    slices = [(entry, own) for entry in entries if (own := slice_of(entry, parameter))]
    x, place = _axis(parameter, [t.tuned[parameter] for _, own in slices for t in own])
    series = []
    for entry, own in slices:
        trials = sorted(own, key=lambda t: place(t.tuned[parameter]))
        series.append(Series(
            legend_label(entry), np.array([place(t.tuned[parameter]) for t in trials]),
            np.array([t.score for t in trials]), solver=entry.solver,
            chosen=[canonical(t.tuned) for t in trials].index(canonical(entry.best_parameters)),
            notes=tuple(map(_note, trials)),
        ))  # fmt: skip
    first = entries[0]
    mean = "at the end, mean of seeds" if first.tuned_on_final else "mean over the run and seeds"
    return Panel(x, Axis("score", f"{axis_label(first.problem_info.tuned_by)}, {mean}"),
                 tuple(series))  # fmt: skip


def _axis(parameter: str, values: Sequence[Any]) -> tuple[Axis, Callable[[Any], float]]:
    """Return the axis of a parameter, and the function from its values to places."""
    label = clean(parameter)
    if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
        log = min(values) > 0 and max(values) >= WIDE * min(values)
        return Axis(parameter, label, log), float
    names = list(dict.fromkeys(clean(short(value)) for value in values))
    axis = Axis(parameter, label, log=False, categories=tuple(names))
    return axis, lambda value: float(names.index(clean(short(value))))


def _note(trial: Trial) -> str:
    failed = sum(not record.ok for record in trial.finished)
    said = f", failed {failed} of {len(trial.finished)}" if failed else ""
    return clean(assignments(trial.tuned) + said)
