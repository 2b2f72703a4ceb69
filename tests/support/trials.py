"""Made-up runs of configurations in a race."""

from __future__ import annotations

import math

import numpy as np

from orthobench.racing.standing import Trial
from orthobench.stats.cost_curve import CostCurve
from orthobench.tools.arrays import Array


def made_trial(
    name: str,
    seed: int,
    cap: float,
    values: Array,
    seconds: Array,
    ended: bool = False,
    failed: str = "",
    start: float = math.nan,
) -> Trial:
    """Return a run with a checkpoint at each step, whose cost is its seconds.

    It starts at the first value by default. Without values it failed, or was killed.
    """
    curve = None
    if len(values):
        first = float(np.fmin(start, values[0]))
        curve = CostCurve(np.arange(len(values)), values, ended, start=first)
    return Trial(name, seed, cap, curve, seconds, seconds, failed)
