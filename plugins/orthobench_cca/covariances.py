"""Covariances of pairs, and matrices normalized with respect to them."""

from __future__ import annotations

import numpy as np
from orthobench_kit.polar import inverse_root

from orthobench.contract import Array, flops

SINGULAR = 1e-12
"""Eigenvalue of a covariance, relative to the largest, below which it is singular."""


def units_of(variances: Array) -> Array:
    """Return one over standard deviations, 1 where there is no variance.

    Canonical variables do not depend on the units of columns, the condition of covariances does.
    """
    return np.asarray(1 / np.sqrt(np.where(variances > 0, variances, 1.0)))


def normalized(M: Array, S: Array) -> Array:
    """Return M (M'SM)^-½, the nearest matrix A to M in the metric S that has A'SA = I.

    Notes
    -----
    `normalized_flops`.
    """
    # directions that M lacks, up to rounding, would be blown up to nothing but rounding
    return np.asarray(M @ inverse_root(M.T @ (S @ M), float(np.finfo(np.float64).eps)))


def normalized_flops(p: int, k: int) -> int:
    """Return the flops of `normalized`."""
    return flops.gemm(p, k, p) + 2 * flops.gemm(p, k, k) + small_root_flops(k)


def small_root_flops(k: int) -> int:
    """Return the flops of an inverse root (k, k): its eigendecomposition and a product."""
    return flops.eigh(k) + k * k + k + flops.gemm(k, k, k)
