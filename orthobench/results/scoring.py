"""Scores of runs, by which tuned parameters are chosen: a metric at the end, or over the run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from orthobench.harness.cell import Level
from orthobench.harness.suite import END
from orthobench.results.runs import Run
from orthobench.results.traces import read
from orthobench.tools.arrays import Array


def scoring(
    trials: int, score: str, level: Level | None, records: Sequence[Run]
) -> Callable[[Run, str], float]:
    """Return what scores a run: nothing where there is one trial."""
    if trials == 1:
        return _untuned
    return last if level or score == END else _average_of(records)


def average(record: Run, metric: str, horizon: float | None = None) -> float:
    """Return the average of a metric over a run: the trapezoidal rule over the samples drawn.

    Checkpoints are spaced geometrically, so each counts by the samples around it. Steps stand
    in for samples where the method draws none.

    Parameters
    ----------
    record : Run
    metric : str
    horizon : float, optional
        Average up to this many samples; a run that ended sooner keeps its last value.

    Returns
    -------
    float
        Infinite where the run failed or is absent, or the metric is not finite or not reported
        at a checkpoint; NaN where it is not reported at the last.
    """
    if not (record.ok and record.trace):
        return math.inf
    if metric not in record.trace[-1].metrics:
        return math.nan
    values = read(record.trace, lambda mark: mark.metrics.get(metric, math.nan))
    if not np.isfinite(values).all():
        return math.inf
    at = _effort(record)
    if horizon is not None and horizon > at[-1]:
        at, values = np.append(at, horizon), np.append(values, values[-1])
    span = at[-1] - at[0]
    if span <= 0:
        return float(values[-1])
    return float(np.diff(at) @ (values[1:] + values[:-1]) / (2 * span))


def last(record: Run, metric: str) -> float:
    """Return the final value of a metric.

    Returns
    -------
    float
        Infinite where the run failed or is absent, or the metric is not finite; NaN where it is
        not reported.
    """
    if not (record.ok and record.trace):
        return math.inf
    value = record.trace[-1].metrics.get(metric)
    return math.nan if value is None else value if math.isfinite(value) else math.inf


def _effort(record: Run) -> Array:
    """Return the samples drawn so far, or where none are drawn the steps, at all checkpoints."""
    if record.trace[-1].work.samples > 0:
        return read(record.trace, lambda mark: mark.work.samples)
    return read(record.trace, lambda mark: mark.work.steps)


def _average_of(records: Sequence[Run]) -> Callable[[Run, str], float]:
    """Return what averages a metric over a run, up to where the longest of the runs ended."""
    horizon = max((_effort(r)[-1] for r in records if r.trace), default=0.0)
    return partial(average, horizon=horizon)


def _untuned(record: Run, metric: str) -> float:
    """Return NaN: nothing is chosen from a single trial."""
    del record, metric
    return math.nan
