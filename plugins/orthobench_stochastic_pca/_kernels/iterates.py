"""What solvers hand to compiled kernels and take back; nothing here loads numba."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from orthobench.contract import Array

BLOCK = 16
"""Samples in a block: for the usual ranks m near the minimizer b of 2(m + b/2) + 2m(m + b)/b."""


class Angle(IntEnum):
    """By which angle a basis is rotated towards a sample (`rotations`)."""

    OJA = 0
    GEODESIC = 1
    KRASULINA = 2


class Onto(IntEnum):
    """The set onto which eigenvalues are projected after each update (`projection`)."""

    FANTOPE = 0
    """{0 <= M <= I, tr M <= k}: msg."""
    CAPPED = 1
    """The same for rank K, and with trace k once that is reached: capped-msg."""
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
    onto : Onto
    k : int
        The trace of M to reach.
    max_rank : int
        The smallest eigenvalues beyond this number are dropped.
    keep_old : bool
        Which of equal eigenvalues is dropped: one whose eigenvector the update changed, or, if
        False, one whose eigenvector it left alone.
    """

    onto: Onto
    k: int
    max_rank: int
    keep_old: bool = True


class Iterate(NamedTuple):
    """The matrix U' diag(values) U + floor I, never changed in place.

    For warmuth-kuzmin and meg it is a logarithm of M, for the others M itself.

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
        Flops so far, as the paper counts them.
    """

    basis: Array
    values: Array
    floor: float = 0.0
    full: bool = False
    drift: float = 0.0
    flops: int = 0
