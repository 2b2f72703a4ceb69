"""The generalized power method in plain numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array

Pattern = NDArray[np.bool_]


def evaluated(
    A: Array, X: Array, bound: float, mu: Array | float = 1.0, hard: bool = False
) -> tuple[float, Array, Pattern]:
    """Return the objective at X (N, m), half its gradient, and the active rows."""
    V = A @ X
    excess = np.maximum(np.abs(V) - bound, 0.0)
    active = excess > 0
    gains = excess * (np.abs(V) + bound) if hard else excess * excess
    factors = V * active if hard else excess * np.sign(V)
    return float(np.sum(gains * mu**2)), A.T @ (factors * mu**2), active


def ascended(
    A: Array, X: Array, bound: float, tolerance: float, hard: bool = False
) -> tuple[Array, Pattern, int]:
    """Iterate until a step gains too little; return point, pattern and steps."""
    before, count = -np.inf, 0
    while True:
        value, gradient, active = evaluated(A, X, bound, hard=hard)
        if value - before <= tolerance * before:
            return X, active, count
        left, _, right = np.linalg.svd(gradient, full_matrices=False)
        X, before, count = left @ right, value, count + 1


def greedy(
    A: Array, m: int, gamma: float, tolerance: float,
    fill: Callable[[Array, Pattern, Array], Array], hard: bool = False,
) -> tuple[Array, int]:  # fmt: skip
    """Return deflated components, filled, and the number of steps."""
    A, Z, total = A.copy(), np.zeros((len(A), m)), 0
    for j in range(m):
        norms = np.linalg.norm(A, axis=1)
        longest = np.argmax(norms >= norms.max() * (1 - 1e-10))
        bound = (gamma**0.5 if hard else gamma) * float(norms.max())
        x = (A[longest] / norms[longest])[:, None]
        x, active, count = ascended(A, x, bound, tolerance, hard)
        Z[:, [j]] = z = fill(A, active, x)
        A -= z @ (z.T @ A)
        total += count
    return Z, total
