"""Orthogonal fine-tuning, 2026: the Cayley transform by a Neumann series, and alternatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from orthobench.contract import Array
from orthobench_papers.polar_runs import polar_factor
from orthobench_papers.reproduce import Evidence, Rows

SIDE, TERMS = 32, 5
"""The size of a block, and the number of terms in PEFT."""

SIZES = (0.1, 0.5, 0.8, 0.9, 1.0, 2.0)
"""Spectral norms of Q."""


def skew(size: float, seed: int) -> Array:
    """Return a random skew-symmetric matrix of a spectral norm."""
    Q = np.random.default_rng([seed, 48]).standard_normal((SIDE, SIDE))
    Q = Q - Q.T
    return np.asarray(Q * (size / np.linalg.norm(Q, 2)))


def cayley(Q: Array) -> Array:
    """Return the Cayley transform (I + Q)(I - Q)⁻¹."""
    unit = np.eye(len(Q), dtype=Q.dtype)
    return np.asarray(np.linalg.solve(unit - Q, unit + Q))


def neumann(Q: Array) -> Array:
    """Return (I + Q)(I + Q + ... + Q^(t-1)) for t terms, as PEFT computes it."""
    unit = np.eye(len(Q))
    series = unit
    for _ in range(TERMS - 1):
        series = unit + Q @ series
    return np.asarray(series + Q @ series)


def defect(R: Array) -> float:
    """Return |R'R - I| in the spectral norm."""
    return float(np.linalg.norm(R.T @ R - np.eye(len(R)), 2))


def in_sizes(evidence: Evidence, found: Callable[[Array], float]) -> Rows:
    return {
        f"|Q| = {size:g}": [found(skew(size, seed)) for seed in evidence.seeds[:3]]
        for size in SIZES
    }


def series_defect(Q: Array) -> float:
    """Return the defect of the series."""
    return defect(neumann(Q))


def exact_defect(Q: Array) -> float:
    """Return the defect of the Cayley transform in single precision."""
    return defect(cayley(Q.astype(np.float32)).astype(np.float64))


def off_cayley(Q: Array) -> float:
    """Return the distance of polar(I + Q) from the Cayley transform."""
    return float(np.linalg.norm(polar_factor(np.eye(SIDE) + Q) - cayley(Q), 2))


def off_power(Q: Array) -> float:
    """Return the deviation of the error from |Q|^t, in units of |Q|^t."""
    power = float(np.linalg.norm(Q, 2)) ** TERMS
    return abs(float(np.linalg.norm(neumann(Q) - cayley(Q), 2)) / power - 1)


def off_half(Q: Array) -> float:
    """Return the distance of polar(I + Q)² from the Cayley transform."""
    factor = polar_factor(np.eye(len(Q)) + Q)
    return float(np.linalg.norm(factor @ factor - cayley(Q), 2))
