"""Values of a run: metrics at its checkpoints and at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

from orthobench.harness.trace import Checkpoint
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import quantiles, spread
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

    It is the price of tuning, as in the external tuning rule of AlgoPerf (Dahl et al. 2023,
    arXiv:2306.07179). Failed runs count with their cost.
    """
    others = (trial for trial in entry.trials if trial.tuned != entry.best_parameters)
    spent = ([value(r.trace[-1]) for r in trial.finished if r.trace] for trial in others)
    return float(sum(sum(of_trial) / len(of_trial) for of_trial in spent if of_trial))


def final_spread(
    records: Sequence[Run], value: Callable[[Checkpoint], float], planned: int
) -> tuple[float, float, float]:
    """Return median, low and high of a final value over the planned runs; see `spread`.

    Runs that failed or are absent are infinite.
    """
    values = [final(record, value) if record.ok else math.inf for record in records]
    return spread(values + [math.inf] * (planned - len(records)))


def geometric_mean(factors: Sequence[float], blocks: Sequence[Hashable]) -> float:
    """Return the geometric mean of factors; those of one block have the weight of one together."""
    logs = [
        sum(math.log(factor) for factor, _ in own) / len(own)
        for own in grouped(zip(factors, blocks, strict=True), lambda pair: pair[1]).values()
    ]
    return math.exp(sum(logs) / len(logs))
