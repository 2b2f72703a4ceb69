"""Values of runs: metrics at checkpoints and at the end, and their summaries over seeds.

A run that failed or is infeasible counts as infinite; one that is absent does not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orthobench.harness.trace import Checkpoint
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import interval, quantiles, spread
from orthobench.stats.costs import COSTS
from orthobench.tools.collections import grouped


def metric_of(name: str) -> Callable[[Checkpoint], float]:
    """Return the function that reads a metric at a checkpoint; NaN if there is none."""
    return lambda mark: mark.metrics.get(name, math.nan)


def cost_or_metric(name: str) -> Callable[[Checkpoint], float]:
    """Return the function that reads one of `COSTS`, or else a metric, at a checkpoint."""
    return COSTS.get(name) or metric_of(name)


def final(record: Run, value: Callable[[Checkpoint], float]) -> float:
    """Return a value at the last checkpoint.

    Infinite if the run failed or the value is not finite, NaN if the run is absent.
    """
    if record.absent:
        return math.nan
    if record.failed or not record.trace:
        return math.inf
    last = float(value(record.trace[-1]))
    return last if math.isfinite(last) else math.inf


def median_final(records: Sequence[Run], value: Callable[[Checkpoint], float]) -> float:
    """Return the median of a final value over the runs that did not fail; NaN without any."""
    finite = [v for v in (final(record, value) for record in records) if math.isfinite(v)]
    return float(quantiles(finite, 0.5)) if finite else math.nan


def others_cost(entry: SolverResult, value: Callable[[Checkpoint], float]) -> float:
    """Return the cost of the trials that tuning did not choose, by the mean over seeds.

    It is the price of tuning, as in AlgoPerf (Dahl et al. 2023, arXiv:2306.07179). Failed runs
    count.
    """
    others = (trial for trial in entry.trials if trial.tuned != entry.best_parameters)
    spent = ([value(r.trace[-1]) for r in trial.finished if r.trace] for trial in others)
    return float(sum(sum(of_trial) / len(of_trial) for of_trial in spent if of_trial))


def geometric_mean(factors: Sequence[float], blocks: Sequence[Hashable]) -> float:
    """Return the geometric mean of factors; those of one block have the weight of one together."""
    logs = [
        sum(math.log(factor) for factor, _ in own) / len(own)
        for own in grouped(zip(factors, blocks, strict=True), lambda pair: pair[1]).values()
    ]
    return math.exp(sum(logs) / len(logs))


@dataclass(frozen=True)
class Summary:
    """The final values of one metric over the seeds.

    Attributes
    ----------
    values : tuple of float
        One for each planned seed; infinite if the run failed, NaN if it is absent.
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
        groups = grouped(self.failures, lambda one: f"{one['status']}: {one['reason']}")
        return {
            reason.removesuffix(": "): [failure["seed"] for failure in failures]
            for reason, failures in groups.items()
        }


def summary(records: Iterable[Run], metric: str, seeds: Sequence[int]) -> Summary:
    """Summarize the final values of a metric over the planned seeds of a solver on a problem.

    A run whose judge does not report the metric has failed.
    """
    runs, read = {record.seed: record for record in records}, metric_of(metric)
    values = tuple(final(runs[seed], read) if seed in runs else math.nan for seed in seeds)
    failed = [runs[seed] for seed, value in zip(seeds, values, strict=True) if math.isinf(value)]
    failures = tuple(_failure(run, metric) for run in failed)
    known = [value for value in values if not math.isnan(value)]
    median, low, high = map(float, spread(known)) if known else (math.nan,) * 3
    ends = interval(known) if known else (math.nan, math.nan)
    return Summary(values, median, low, high, ends, len(known) - len(failures), failures)


def _failure(run: Run, metric: str) -> dict[str, Any]:
    if run.failed:
        reason = run.stop.reason
    elif not run.trace or metric not in run.trace[-1].metrics:
        reason = f"the judge did not report {metric}"
    else:
        reason = f"{metric} is not finite"
    return {"seed": run.seed, "status": run.stop.status.value, "reason": reason}
