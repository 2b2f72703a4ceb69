"""Tuning curves: the results of each value of a tuned parameter, with the chosen one marked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.harness.identity import canonical
from orthobench.report.plots.labels import about, axis_label, band_of, legend_label
from orthobench.results.tuning import SolverResult, Trial, slice_of, varied
from orthobench.stats.values import final_spread, metric_of
from orthobench.tools.arrays import Array
from orthobench.tools.formatting import assignments, clean, plural, short

SCORE = "tuning score"
"""The option of y by which parameters are chosen."""

WIDE = 10.0
"""The ratio of values from which on an axis is logarithmic."""


def tuning(entries: Sequence[SolverResult]) -> Plot | None:
    """Return the tuning curves of one problem, a panel for each parameter."""
    tuned = [entry for entry in entries if not entry.refused and varied(entry)]
    parameters = tuple(dict.fromkeys(name for entry in tuned for name in varied(entry)))
    if not parameters:
        return None
    primary = tuned[0].problem_info.primary
    failed = any(math.isinf(trial.score) for entry in tuned for trial in entry.trials)
    level = tuned[0].level
    return Plot(
        name=f"{clean(entries[0].problem)}: tuning",
        kind="tuning",
        choices={"parameter": parameters, "y": (SCORE, primary)},
        draw=lambda key: tuning_panel(tuned, *key),
        sheet=[(parameters[0], SCORE), (parameters[0], primary)],
        about=about(
            tuned,
            plural(max(len(entry.seeds) for entry in tuned), "seed"),
            "the marked value was chosen, by the tuning score, for all seeds",
            f"only values that keep {level} could be chosen" if level is not None else "",
            "other tuned parameters have their chosen values" if len(parameters) > 1 else "",
            "a value with a failed run has an infinite score, which is not drawn" if failed else "",
        ),
    )


def tuning_panel(entries: Sequence[SolverResult], parameter: str, y: str = SCORE) -> Panel:
    """Return the results of each value of a parameter, with the others as chosen."""
    slices = [(entry, own) for entry in entries if (own := slice_of(entry, parameter))]
    x, place = _axis(parameter, [t.tuned[parameter] for _, own in slices for t in own])
    series = []
    for entry, own in slices:
        trials = sorted(own, key=lambda t: place(t.tuned[parameter]))
        chosen = [canonical(t.tuned) for t in trials].index(canonical(entry.best_parameters))
        heights, low, high = _heights(trials, y)
        series.append(Series(
            legend_label(entry), np.array([place(t.tuned[parameter]) for t in trials]),
            y=heights, low=low, high=high, solver=entry.solver, chosen=chosen,
            notes=tuple(map(_note, trials)),
        ))  # fmt: skip
    if y == SCORE:
        by, over = entries[0].problem_info.tuned_by, "the run and seeds"
        mean = "at the end, mean of seeds" if entries[0].tuned_on_final else f"mean over {over}"
        return Panel(x, Axis("score", f"{axis_label(by)}, {mean}"), tuple(series))
    return Panel(x, Axis(y, axis_label(y)), tuple(series), band=band_of(entries))


def _axis(parameter: str, values: Sequence[Any]) -> tuple[Axis, Callable[[Any], float]]:
    """Return the axis of a parameter, and the function from its values to places."""
    label = clean(parameter)
    if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
        log = min(values) > 0 and max(values) >= WIDE * min(values)
        return Axis(parameter, label, log), float
    names = list(dict.fromkeys(clean(short(value)) for value in values))
    axis = Axis(parameter, label, log=False, categories=tuple(names))
    return axis, lambda value: float(names.index(clean(short(value))))


def _heights(trials: Sequence[Trial], y: str) -> tuple[Array, Array | None, Array | None]:
    if y == SCORE:
        return np.array([trial.score for trial in trials]), None, None
    ends = np.array([final_spread(trial.finished, metric_of(y)) for trial in trials])
    return ends[:, 0], ends[:, 1], ends[:, 2]


def _note(trial: Trial) -> str:
    failed = sum(not record.ok for record in trial.finished)
    said = f", failed {failed} of {len(trial.finished)}" if failed else ""
    return clean(assignments(trial.tuned) + said)
