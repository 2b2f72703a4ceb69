"""Covariances of pairs, and their normalization."""

from __future__ import annotations

import numpy as np
from orthobench_kit.polar import inverse_root

from orthobench.contract import Array, flops

SINGULAR = 1e-12
"""Relative eigenvalue below which a covariance is singular."""

TIED = 1e-10
"""Relative difference of eigenvalues that counts as rounding."""


def tied(values: Array, k: int) -> tuple[int, int]:
    """Return the number of descending values above the k-th, and of those not below it."""
    rounding = TIED * float(values[0])
    above = int(np.count_nonzero(values > values[k - 1] + rounding))
    return above, int(np.count_nonzero(values >= values[k - 1] - rounding))


def turned(inner: Array, first: int) -> Array:
    """Return the combinations (K, k) of K columns that span the optimum nearest to a point.

    `inner` (k, K) is A'S[v_1, ..., v_K] for the normalized point A.
    """
    k, K = inner.shape
    T = np.zeros((K, k))
    T[:first, :first] = np.eye(first)
    T[first:, first:] = np.linalg.svd(inner[:, first:])[2][: k - first].T
    return T


def units_of(variances: Array) -> Array:
    """Return one over standard deviations, 1 for columns without variance."""
    return np.asarray(1 / np.sqrt(np.where(variances > 0, variances, 1.0)))


def normalized(M: Array, S: Array) -> Array:
    """Return M (M'SM)^-½, the matrix A nearest to M in the metric S with A'SA = I."""
    # directions that M lacks would be rounding, blown up
    return np.asarray(M @ inverse_root(M.T @ (S @ M), float(np.finfo(np.float64).eps)))


def normalized_flops(p: int, k: int) -> int:
    """Return the flops of `normalized`."""
    return flops.gemm(p, k, p) + 2 * flops.gemm(p, k, k) + small_root_flops(k)


def small_root_flops(k: int) -> int:
    """Return the flops of an inverse root (k, k)."""
    return flops.eigh(k) + k * k + k + flops.gemm(k, k, k)
