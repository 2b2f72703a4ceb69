"""Covariances of pairs, and matrices normalized with respect to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthobench.contract import Array, flops

SINGULAR = 1e-12
"""Eigenvalue of a covariance, relative to the largest, below which it is singular."""


class Covariances(NamedTuple):
    """Covariances of x and of y, the ridge included, and between them."""

    xx: Array
    yy: Array
    xy: Array


def covariances(X: Array, Y: Array, ridge: float) -> Covariances:
    """Return the covariances of centred pairs; `covariance_flops`."""
    N = len(X)
    xx, yy = X.T @ X / N, Y.T @ Y / N
    xx[np.diag_indices_from(xx)] += ridge
    yy[np.diag_indices_from(yy)] += ridge
    return Covariances(xx, yy, X.T @ Y / N)


def covariance_flops(N: int, p: int, q: int) -> int:
    """Return the flops of `covariances`."""
    products = flops.gemm(p, p, N) + flops.gemm(q, q, N) + flops.gemm(p, q, N)
    return products + p * p + q * q + p * q + p + q


def units_of(variances: Array) -> Array:
    """Return one over standard deviations, 1 where there is no variance.

    Canonical variables do not depend on the units of columns, the condition of covariances does.
    """
    return np.asarray(1 / np.sqrt(np.where(variances > 0, variances, 1.0)))


def whitening(S: Array) -> Array:
    """Return S^-½, symmetric; 9p³ flops of an eigendecomposition and 2p³ + p² of a product.

    Eigenvalues that are rounding become the smallest one that is not, so that the result is finite.
    """
    values, vectors = np.linalg.eigh(S)
    scaled = vectors / np.sqrt(np.maximum(values, SINGULAR * values[-1]))
    return np.asarray(scaled @ vectors.T)


def normalized(M: Array, S: Array) -> Array:
    """Return M (M'SM)^-½, the nearest matrix A to M in the metric S that has A'SA = I.

    Notes
    -----
    `normalized_flops`.
    """
    roots, vectors = np.linalg.eigh(M.T @ (S @ M))
    # directions that M lacks, up to rounding, would be blown up to nothing but rounding
    limits = np.finfo(np.float64)
    floor = max(float(limits.eps) * float(roots[-1]), float(limits.tiny))
    inverse = (vectors / np.sqrt(np.maximum(roots, floor))) @ vectors.T
    return np.asarray(M @ inverse)


def normalized_flops(p: int, k: int) -> int:
    """Return the flops of `normalized`."""
    return flops.gemm(p, k, p) + 2 * flops.gemm(p, k, k) + small_root_flops(k)


def small_root_flops(k: int) -> int:
    """Return the flops of an inverse root (k, k): its eigendecomposition and a product."""
    return flops.eigh(k) + k * k + k + flops.gemm(k, k, k)
