"""Barzilai-Borwein steps and a nonmonotone line search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from orthobench_kit.arrays import inner, maximum, minimum, ratio, where

RHO = 1e-4
"""Share of the slope that a step must gain."""

CUT = 0.1
"""Factor for a rejected step."""

MEMORY = 0.85
"""Weight of earlier costs in the reference cost; 0 is a monotone search."""

BOUNDS = (1e-20, 1e20)
"""Minimum and maximum of Barzilai-Borwein steps."""

ROUNDING = 4
"""Change of the cost that counts as rounding, in rounding units."""

STALLED = 10
"""Number of steps without a lower cost, beyond rounding, that end a search."""


@dataclass(slots=True)
class Reference:
    """The reference cost C of Zhang and Hager (2004), a weighted mean of the costs so far.

    `weight` is the sum Q of the weights, `eps` the rounding unit. No cost was below `lowest`,
    beyond rounding, in the last `idle` calls of `stalls`.
    """

    cost: Any
    weight: float = 1.0
    eps: float = float(np.finfo(np.float64).eps)
    lowest: Any = np.inf
    idle: Any = 0

    def accepts(self, cost: Any, gain: Any) -> Any:
        """Return whether a cost is below the reference by a gain, up to rounding."""
        return cost <= self.cost - gain + ROUNDING * self.eps * abs(self.cost)

    def stalls(self, cost: Any) -> Any:
        """Return whether the last `STALLED` costs are no lower than the one before, to rounding."""
        lower = cost < self.lowest - ROUNDING * self.eps * abs(cost)
        self.idle = where(lower, 0, self.idle + 1)
        self.lowest = where(lower, cost, self.lowest)
        return self.idle >= STALLED

    def include(self, cost: Any, memory: float = MEMORY) -> None:
        """Update the mean: Q' = memory Q + 1, C' = (memory Q C + cost) / Q'."""
        weight = memory * self.weight + 1
        self.cost = (memory * self.weight * self.cost + cost) / weight
        self.weight = weight


def barzilai_borwein(S: Any, Y: Any, *, long: bool) -> Any:
    """Return |S|²/|<S, Y>|, or the shorter |<S, Y>|/|Y|², within `BOUNDS`; 4np flops."""
    product = abs(inner(S, Y))
    over, under = (inner(S, S), product) if long else (product, inner(Y, Y))
    return minimum(maximum(ratio(over, under, BOUNDS[1]), BOUNDS[0]), BOUNDS[1])
