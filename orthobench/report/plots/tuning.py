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
from orthobench.stats.values import final, final_spread, metric_of
from orthobench.tools.formatting import assignments, clean, plural, short

SCORE = "tuning score"
"""The option of y that shows the score by which parameters are chosen."""

WIDE = 10.0
"""From this ratio of the largest value to the smallest on, the parameter's axis is logarithmic."""


def tunings(entries: Sequence[SolverResult]) -> list[str]:
    """Return the parameters of which some solver has trials with several values.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of one problem; a solver that takes no part is left out.
    """
    names = (name for entry in entries if not entry.refused for name in varied(entry))
    return list(dict.fromkeys(names))


def tuning(entries: Sequence[SolverResult]) -> Plot:
    """Return the tuning curves of one problem: a panel for each tuned parameter.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of one problem; a solver that takes no part, or has only one trial, is left out.

    Raises
    ------
    ValueError
        If nothing was tuned.
    """
    parameters = tunings(entries)
    if not parameters:
        raise ValueError(f"no parameter was tuned on {entries[0].problem}")
    tuned = [entry for entry in entries if not entry.refused and varied(entry)]
    primary = tuned[0].problem_info.primary
    return Plot(
        name=f"{clean(entries[0].problem)}: tuning",
        kind="tuning",
        choices={"parameter": tuple(parameters), "y": (SCORE, primary)},
        draw=lambda key: tuning_panel(tuned, *key),
        sheet=[(parameters[0], SCORE), (parameters[0], primary)],
        about=_about(tuned),
    )


def tuning_panel(entries: Sequence[SolverResult], parameter: str, y: str = SCORE) -> Panel:
    """Return the results of each value of a parameter, for every solver that has it tuned.

    Its other tuned parameters are held at their chosen values.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of one problem.
    parameter : str
    y : str
        `SCORE`, by which parameters are chosen, or a metric: its final values, median and spread
        over the seeds.
    """
    metric = None if y == SCORE else y
    slices = {entry.solver: slice_of(entry, parameter) for entry in entries}
    values = [trial.tuned[parameter] for trials in slices.values() for trial in trials]
    x, place = _axis(parameter, values)
    series = tuple(
        _series(entry, slices[entry.solver], metric, lambda t: place(t.tuned[parameter]))
        for entry in entries
        if slices[entry.solver]
    )
    axis = Axis(metric, axis_label(metric)) if metric is not None else _score_axis(entries[0])
    return Panel(x, axis, series, band=band_of(entries) if metric is not None else "")


def _axis(parameter: str, values: Sequence[Any]) -> tuple[Axis, Callable[[Any], float]]:
    """Return the axis of a parameter, and the function that maps its values to positions on it."""
    label = clean(parameter)
    if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
        log = min(values) > 0 and max(values) >= WIDE * min(values)
        return Axis(parameter, label, log), float
    names = list(dict.fromkeys(clean(short(value)) for value in values))
    axis = Axis(parameter, label, log=False, categories=tuple(names))
    return axis, lambda value: float(names.index(clean(short(value))))


def _series(
    entry: SolverResult,
    trials: Sequence[Trial],
    metric: str | None,
    place: Callable[[Trial], float],
) -> Series:
    ordered = sorted(trials, key=place)
    x = np.array([place(trial) for trial in ordered])
    notes = tuple(_note(entry, trial) for trial in ordered)
    chosen = [canonical(trial.tuned) for trial in ordered].index(canonical(entry.best_parameters))
    label = legend_label(entry)
    if metric is None:
        y = np.array([trial.score for trial in ordered])
        return Series(label, x, y, solver=entry.solver, chosen=chosen, notes=notes)
    read, runs = metric_of(metric), [t.finished for t in ordered]
    y, low, high = np.array([final_spread(own, read, max(1, len(own))) for own in runs]).T
    return Series(label, x, y, low, high, solver=entry.solver, chosen=chosen, notes=notes)


def _note(entry: SolverResult, trial: Trial) -> str:
    """Return the tuned values of a trial, and whether it failed or misses the level."""
    parts = [assignments(trial.tuned)]
    failed = sum(not record.ok for record in trial.finished)
    missing = len(entry.tuned_on) - len(trial.finished)
    if failed:
        parts.append(f"failed {failed} of {len(trial.finished)}")
    if missing > 0:
        parts.append(f"{missing} of {len(entry.tuned_on)} not run yet")
    elif not failed and entry.level is not None:
        read = metric_of(entry.level.metric)
        at = float(np.mean([final(record, read) for record in trial.records]))
        if not at <= entry.level.value:
            parts.append(f"does not keep {entry.level}: {at:.3g}")
    return clean(", ".join(parts))


def _score_axis(entry: SolverResult) -> Axis:
    average = "at the end, mean of seeds" if entry.tuned_on_final else "mean over the run and seeds"
    return Axis("score", f"{axis_label(entry.problem_info.tuned_by)}, {average}")


def _about(entries: Sequence[SolverResult]) -> tuple[str, ...]:
    several = any(len(varied(entry)) > 1 for entry in entries)
    level = entries[0].level
    failed = any(math.isinf(trial.score) for entry in entries for trial in entry.trials)
    return about(
        entries,
        plural(max(len(entry.seeds) for entry in entries), "seed"),
        "the marked value was chosen, by the tuning score, for all seeds",
        f"only values that keep {level} could be chosen" if level is not None else "",
        "further tuned parameters are held at their chosen values" if several else "",
        "a value with a failed run has an infinite score, which is not drawn" if failed else "",
    )
