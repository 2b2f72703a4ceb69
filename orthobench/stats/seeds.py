"""Medians, spreads and intervals over seeds; pure functions of records.

A run that failed, is infeasible or is missing counts as infinitely bad: it is never dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from orthobench.arrays import Array
from orthobench.record import Record
from orthobench.trace import Mark

CEILING = 1e150
"""Stands for infinity in quantiles, where infinity minus infinity would be NaN."""

BEYOND = 1e130
"""A quantile above this is infinite: it lies between a finite value and an infinite one."""

FEW = 4
"""Below this many runs, the spread is the range and not the quartiles."""

RESAMPLES = 4999
"""Bootstrap resamples of an interval."""


@dataclass(frozen=True)
class Failure:
    """A run that counts as failed.

    Attributes
    ----------
    seed : int
    status : str
        The ending's name, or ``"missing"`` where there is no record.
    reason : str
    """

    seed: int
    status: str
    reason: str


@dataclass(frozen=True)
class Summary:
    """The final values of one metric over the seeds.

    Attributes
    ----------
    values : tuple of float
        One for each seed planned, ascending; infinite where the run failed.
    median, low, high : float
        The median and the spread around it: the quartiles, or the range of fewer than 4 runs.
    interval : tuple of float
        95 % percentile-bootstrap interval of the median.
    n_ok : int
        Runs that did not fail.
    failures : tuple of Failure
    """

    values: tuple[float, ...]
    median: float
    low: float
    high: float
    interval: tuple[float, float]
    n_ok: int
    failures: tuple[Failure, ...]

    @property
    def n_failed(self) -> int:
        """Runs that failed or are missing."""
        return len(self.failures)

    @property
    def reasons(self) -> dict[str, list[int]]:
        """The seeds that failed, by ``"status: reason"``."""
        found: dict[str, list[int]] = {}
        for failure in self.failures:
            text = ": ".join(part for part in (failure.status, failure.reason) if part)
            found.setdefault(text, []).append(failure.seed)
        return found


def quantiles(values: ArrayLike, q: float | Sequence[float]) -> Any:
    """Return quantiles along the first axis, linearly interpolated, with infinity as a value.

    Parameters
    ----------
    values : array_like, shape (n, ...)
        What is not finite counts as positive infinity.
    q : float or sequence of float
        In [0, 1].

    Returns
    -------
    ndarray
        As `numpy.quantile`; infinite where it lies between a finite value and an infinite one.
    """
    found = np.quantile(_bounded(values), q, axis=0)
    return np.where(found > BEYOND, math.inf, found)


def spread(values: ArrayLike) -> tuple[Any, Any, Any]:
    """Return median, low and high along the first axis: quartiles, or the range of few values."""
    few = len(np.asarray(values)) < FEW
    low, median, high = quantiles(values, (0, 0.5, 1) if few else (0.25, 0.5, 0.75))
    return median, low, high


def spread_name(runs: int) -> str:
    """Return what `spread` spans for this many runs, in words."""
    return "min to max" if runs < FEW else "25 to 75 %"


def interval(values: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile-bootstrap interval of the median.

    Parameters
    ----------
    values : array_like, shape (n,)
        What is not finite counts as positive infinity. One value is its own interval.
    level : float
        Nominal coverage; with fewer than about 6 values the true one is lower.

    Notes
    -----
    Deterministic: the resamples are drawn from a fixed seed (Efron and Tibshirani 1993,
    *An Introduction to the Bootstrap*, section 13.3).
    """
    from scipy.stats import bootstrap

    bounded = _bounded(values)
    if len(bounded) < 2:
        return _restored(bounded[0]), _restored(bounded[0])
    found = bootstrap(
        (bounded,),
        np.median,
        confidence_level=level,
        n_resamples=RESAMPLES,
        method="percentile",
        random_state=np.random.default_rng(0),
    ).confidence_interval
    low, high = np.clip(found, bounded.min(), bounded.max())  # interpolation rounds
    return _restored(low), _restored(high)


def paired_interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Return the bootstrap interval of the median of b - a, seed by seed.

    Solvers see the same data and start for the same seed, so the difference varies less than
    either of them.

    Parameters
    ----------
    a : sequence of float
        Finite.
    b : sequence of float
        Of the same seeds; may be infinite.
    """
    return interval(np.asarray(b) - np.asarray(a))


def final(record: Record, value: Callable[[Mark], float]) -> float:
    """Return a value at the last checkpoint; infinite where the run failed or it is not finite."""
    if record.status.failed or not record.trace:
        return math.inf
    last = float(value(record.trace[-1]))
    return last if math.isfinite(last) else math.inf


def summarize(records: Iterable[Record], metric: str, seeds: Iterable[int] = ()) -> Summary:
    """Summarize the final values of a metric over the runs of one solver on one problem.

    Parameters
    ----------
    records : iterable of Record
        At most one for each seed.
    metric : str
        A run whose judge does not report it has failed.
    seeds : iterable of int
        The seeds planned; one without a record has failed.

    Raises
    ------
    ValueError
        Where there are neither records nor seeds.
    """
    by_seed = {record.seed: record for record in records}
    planned = sorted(by_seed.keys() | set(seeds))
    if not planned:
        raise ValueError("there are no runs to summarize")
    values = [
        final(by_seed[seed], metric_of(metric)) if seed in by_seed else math.inf for seed in planned
    ]
    failures = tuple(
        _failure(seed, by_seed.get(seed), metric)
        for seed, value in zip(planned, values, strict=True)
        if math.isinf(value)
    )
    median, low, high = spread(values)
    return Summary(
        tuple(values),
        float(median),
        float(low),
        float(high),
        interval(values),
        len(planned) - len(failures),
        failures,
    )


def metric_of(name: str) -> Callable[[Mark], float]:
    """Return what reads a metric off a checkpoint; NaN where the judge did not report it."""
    return lambda mark: mark.metrics.get(name, math.nan)


def _failure(seed: int, record: Record | None, metric: str) -> Failure:
    if record is None:
        return Failure(seed, "missing", "there is no finished run")
    if record.status.failed:
        return Failure(seed, record.status.value, record.reason)
    if not record.trace or metric not in record.trace[-1].metrics:
        return Failure(seed, record.status.value, f"the judge did not report {metric}")
    return Failure(seed, record.status.value, f"{metric} is not finite")


def _bounded(values: ArrayLike) -> Array:
    array = np.asarray(values, dtype=np.float64)
    return np.where(np.isfinite(array), np.clip(array, -CEILING, CEILING), CEILING)


def _restored(value: float) -> float:
    return math.inf if value > BEYOND else float(value)
