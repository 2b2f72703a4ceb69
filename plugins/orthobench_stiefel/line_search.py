"""Step lengths: Barzilai and Borwein's, and the nonmonotone rule that accepts them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthobench.contract import Array

RHO = 1e-4
"""The share of the slope that a step must gain."""

CUT = 0.1
"""The factor of a step that is rejected."""

MEMORY = 0.85
"""The weight of earlier costs in the reference cost; 0 would make the search monotone."""

BOUNDS = (1e-20, 1e20)
"""The shortest and the longest Barzilai-Borwein step."""

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""A rise of the cost, relative to it, that is taken for rounding."""


@dataclass(slots=True)
class Reference:
    """The reference cost C of Zhang and Hager (2004), a weighted mean of the costs so far.

    Attributes
    ----------
    cost : float
    weight : float
        The sum Q of the weights.
    """

    cost: float
    weight: float = 1.0

    def accepts(self, cost: float, gain: float) -> bool:
        """Return whether a cost is below the reference by a gain, up to rounding."""
        return cost <= self.cost - gain + ROUNDING * abs(self.cost)

    def include(self, cost: float, memory: float = MEMORY) -> None:
        """Update the mean: Q' = memory Q + 1, C' = (memory Q C + cost) / Q'."""
        weight = memory * self.weight + 1
        self.cost = (memory * self.weight * self.cost + cost) / weight
        self.weight = weight


def barzilai_borwein(S: Array, Y: Array, *, long: bool) -> float:
    """Return |S|²/|<S, Y>|, or the shorter |<S, Y>|/|Y|², within `BOUNDS`; 4np flops.

    Parameters
    ----------
    S, Y : ndarray, shape (n, p)
        The differences of two iterates, and of their gradients.
    long : bool
    """
    product = abs(float(np.vdot(S, Y)))
    over, under = (float(np.vdot(S, S)), product) if long else (product, float(np.vdot(Y, Y)))
    step = over / under if under > 0 else BOUNDS[1]
    return min(max(step, BOUNDS[0]), BOUNDS[1])
