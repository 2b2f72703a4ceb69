"""Summaries over seeds: median, spread, interval and failures of one metric at the end of runs.

A run that failed or is infeasible counts as infinite; one that is absent does not count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orthobench.results.runs import Run
from orthobench.stats.bootstrap import interval, spread
from orthobench.stats.values import final, metric_of


@dataclass(frozen=True)
class Summary:
    """The final values of one metric over the seeds.

    Attributes
    ----------
    values : tuple of float
        One for each planned seed, by seed; infinite if the run failed, NaN if it is absent.
    median, low, high : float
        See `orthobench.stats.bootstrap.spread`; NaN if nothing was run yet.
    interval : tuple of float
        The 95 % bootstrap interval of the median.
    n_ok : int
        Number of runs that did not fail.
    failures : tuple of dict
        ``seed``, ``status`` and ``reason`` of each run that counts as failed.
    """

    values: tuple[float, ...]
    median: float
    low: float
    high: float
    interval: tuple[float, float]
    n_ok: int
    failures: tuple[Mapping[str, Any], ...]

    @property
    def n_failed(self) -> int:
        """Number of runs that failed."""
        return len(self.failures)

    @property
    def n_missing(self) -> int:
        """Number of planned seeds without a run."""
        return sum(map(math.isnan, self.values))

    @property
    def reasons(self) -> dict[str, list[int]]:
        """The seeds that failed, by ``"status: reason"``."""
        seeds: dict[str, list[int]] = {}
        for failure in self.failures:
            text = ": ".join(part for part in (failure["status"], failure["reason"]) if part)
            seeds.setdefault(text, []).append(failure["seed"])
        return seeds


def summaries(
    runs: Iterable[Iterable[Run]], metric: str, seeds: Iterable[int] = ()
) -> list[Summary]:
    """Summarize the final values of a metric over the runs of each solver on one problem.

    Parameters
    ----------
    runs : iterable of iterable of Run
        The runs of each solver, at most one for each seed.
    metric : str
        A run whose judge does not report it has failed.
    seeds : iterable of int
        Seeds planned beyond those of the runs.

    Raises
    ------
    ValueError
        If there are neither runs nor seeds.
    """
    records = [{record.seed: record for record in of_solver} for of_solver in runs]
    planned = sorted(set(seeds).union(*records))
    if not planned:
        raise ValueError("there are no runs to summarize")
    return [_summary(planned, by_seed, metric) for by_seed in records]


def _summary(planned: Sequence[int], by_seed: Mapping[int, Run], metric: str) -> Summary:
    read = metric_of(metric)
    values = [final(by_seed[seed], read) if seed in by_seed else math.nan for seed in planned]
    failures = tuple(
        _failure(seed, by_seed[seed], metric)
        for seed, value in zip(planned, values, strict=True)
        if math.isinf(value)
    )
    known = [value for value in values if not math.isnan(value)]
    median, low, high = map(float, spread(known)) if known else (math.nan,) * 3
    ends = interval(known) if known else (math.nan, math.nan)
    return Summary(tuple(values), median, low, high, ends, len(known) - len(failures), failures)


def _failure(seed: int, record: Run, metric: str) -> dict[str, Any]:
    if record.failed:
        reason = record.stop.reason
    elif not record.trace or metric not in record.trace[-1].metrics:
        reason = f"the judge did not report {metric}"
    else:
        reason = f"{metric} is not finite"
    return {"seed": seed, "status": record.stop.status.value, "reason": reason}
