"""Expected costs to reach a target when runs are repeated until one succeeds; pure functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orthobench.stats.targets import RunMatrix
from orthobench.tools.arrays import Array

RESAMPLES = 1000
"""Bootstrap resamples of the seeds."""

LEVEL = 0.95
"""Nominal coverage of the intervals."""


@dataclass(frozen=True)
class ExpectedCosts:
    """The expected costs of S solvers on P problems.

    Attributes
    ----------
    problems : tuple of str
    cost, low, high : ndarray, shape (S, P)
        The estimate and its bootstrap interval; infinite where no run reached the target, NaN where
        there is no run.
    reached, runs : ndarray of int, shape (S, P)
        How many runs reached the target, of how many.
    """

    problems: tuple[str, ...]
    cost: Array
    low: Array
    high: Array
    reached: NDArray[np.int_]
    runs: NDArray[np.int_]


def expected_costs(runs: RunMatrix, cost: str, tau: float) -> ExpectedCosts:
    """Return what it costs to reach a target, with restarts after runs that miss it.

    The sum of what all runs took, to the target or, where they missed it, to their end, over the
    number of those that reached it: COCO's average runtime (Hansen, Auger, Ros, Mersmann, Tusar and
    Brockhoff 2021, "COCO: a platform for comparing continuous optimizers in a black-box setting",
    Optim. Methods Softw. 36(1), section 4). Runs that failed count with all they took.

    Parameters
    ----------
    runs : RunMatrix
    cost : str
        One of `orthobench.stats.values.COSTS`.
    tau : float
        In (0, 1): see `RunMatrix.targets`.
    """
    hits, whole = runs.costs(cost, tau), runs.whole[cost]
    there, reached = np.isfinite(whole), np.isfinite(hits)
    spent = np.where(there, np.where(reached, hits, whole), 0.0)
    problems = tuple(dict.fromkeys(problem for problem, _ in runs.instances))
    shape = len(runs.solvers), len(problems)
    found = ExpectedCosts(
        problems,
        *(np.full(shape, np.nan) for _ in range(3)),
        *(np.zeros(shape, dtype=np.int_) for _ in range(2)),
    )
    for column, problem in enumerate(problems):
        own = [i for i, (name, _) in enumerate(runs.instances) if name == problem]
        for row in range(len(runs.solvers)):
            at = [i for i in own if there[row, i]]
            values = spent[row, at], reached[row, at]
            found.runs[row, column], found.reached[row, column] = len(at), values[1].sum()
            if at:
                found.cost[row, column] = _ratio(*values)
                found.low[row, column], found.high[row, column] = _interval(*values)
    return found


def _ratio(spent: Array, reached: NDArray[np.bool_]) -> Array:
    """Return the sum of costs over the number of successes, along the last axis."""
    with np.errstate(divide="ignore"):
        ratio: Array = spent.sum(axis=-1) / reached.sum(axis=-1)
    return ratio


def _interval(spent: Array, reached: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the percentile-bootstrap interval over seeds; infinite where resamples have no hit."""
    draws = np.random.default_rng(0).integers(len(spent), size=(RESAMPLES, len(spent)))
    ordered = np.sort(_ratio(spent[draws], reached[draws]))
    edge = int(RESAMPLES * (1 - LEVEL) / 2)
    return float(ordered[edge]), float(ordered[-1 - edge])
