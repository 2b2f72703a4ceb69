"""Polar factors and inverse roots by products of matrices."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from orthobench.contract import Array
from orthobench.tools.arrays import identity
from orthobench_kit.stacks import transposed

Coefficients: TypeAlias = tuple[float, float, float]
"""a, b and c of a x + b x³ + c x⁵."""

NEWTON_SCHULZ: Coefficients = (1.5, -0.5, 0.0)
"""The Newton-Schulz polynomial, x (3 - x²)/2 (Björck and Bowie 1971)."""


def gram(X: Any) -> Any:
    """Return X'X of each matrix of a stack."""
    return transposed(X) @ X


def polynomial(S: Any, coefficients: Coefficients = NEWTON_SCHULZ) -> tuple[Any, int]:
    """Return a I + b S + c S², and the number of products of matrices (p, p)."""
    a, b, c = coefficients
    unit = identity(S.shape[-1], S)
    if c == 0:
        return a * unit + b * S, 0
    return a * unit + b * S + c * (S @ S), 1


def newton_schulz(X: Any) -> Any:
    """Return X (3I - X'X)/2, a step towards the polar factor; 4np² flops.

    It squares the defect |X'X - I|, if that is below one.
    """
    return X @ polynomial(gram(X))[0]


def inverse_root(S: Array, floor: float) -> Array:
    """Return S^-½, symmetric, of a symmetric S (p, p); 9p³ flops, and 2p³ + p² of a product.

    Eigenvalues below `floor` times the largest are replaced by it.
    """
    values, vectors = np.linalg.eigh(S)
    limits = max(floor * float(values[-1]), float(np.finfo(np.float64).tiny))
    return np.asarray((vectors / np.sqrt(np.maximum(values, limits))) @ vectors.T)


def inverse_root_on_range(S: Array, floor: float) -> Array:
    """Return S^-½ on the range of a positive semidefinite S, and zero on its null space.

    Eigenvalues of at most `floor` times the largest count as zero.
    """
    values, vectors = np.linalg.eigh(S)
    there = values > max(floor * float(values[-1]), float(np.finfo(np.float64).tiny))
    roots = np.sqrt(np.where(there, values, 1.0))
    return np.asarray((vectors * there / roots) @ vectors.T)
