"""Arguments and results of the kernels; nothing here loads numba."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from orthobench.contract import Array

BLOCK = 16
"""Number of samples in a block, near the minimizer of the flops for usual ranks."""


class Angle(IntEnum):
    """The angle by which a basis is rotated towards a sample."""

    OJA = 0
    GEODESIC = 1
    KRASULINA = 2


class Onto(IntEnum):
    """The set onto which eigenvalues are projected after each update."""

    FANTOPE = 0
    """{0 <= M <= I, tr M <= k}: msg."""
    CAPPED = 1
    """The same for rank K, with trace k once it is reached: capped-msg."""
    RANK = 2
    """All matrices of rank k: incremental-pca."""
    COMPLEMENT = 3
    """N = -log(I - M) with tr M <= k: warmuth-kuzmin."""
    DENSITY = 4
    """log M with M <= I and tr M = k: meg."""


class Projection(NamedTuple):
    """The projection of the eigenvalues after each update.

    Attributes
    ----------
    k : int
        The trace of M to reach.
    max_rank : int
        Maximum number of eigenvalues; the smallest beyond it are dropped.
    keep_old : bool
        Whether the dropped one of equal eigenvalues is one whose eigenvector the update changed.
    """

    onto: Onto
    k: int
    max_rank: int
    keep_old: bool = True


class Iterate(NamedTuple):
    """The matrix U' diag(values) U + floor I, immutable: M, or for some methods a logarithm of it.

    Attributes
    ----------
    basis : ndarray, shape (m, d)
        U: orthonormal rows.
    values : ndarray, shape (m,)
        Its eigenvalues less the floor, positive and ascending.
    floor : float
        The eigenvalue of all directions orthogonal to U.
    full : bool
        Whether the trace of M has reached k; used by capped-msg only.
    drift : float
        Bound on the orthogonality defect of U.
    flops : int
        Number of flops so far, as the paper counts them.
    """

    basis: Array
    values: Array
    floor: float = 0.0
    full: bool = False
    drift: float = 0.0
    flops: int = 0
