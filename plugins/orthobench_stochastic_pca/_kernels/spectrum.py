"""The iterate of the methods that keep a spectrum, and the projection that each of them uses."""

from __future__ import annotations

from typing import NamedTuple

from orthobench.contract import Array

FANTOPE, CAPPED, TRUNCATED, COMPLEMENT, DENSITY = range(5)
"""Kinds of projection: of msg, capped-msg, incremental-pca, warmuth-kuzmin and meg."""


class Projection(NamedTuple):
    """The projection of the eigenvalues after each update.

    Attributes
    ----------
    kind : int
        FANTOPE, CAPPED, TRUNCATED, COMPLEMENT or DENSITY
        (`orthobench_stochastic_pca._kernels.projection`).
    k : int
        The trace of M to reach.
    max_rank : int
        The smallest eigenvalues beyond this number are dropped.
    keep_old : bool
        Which of equal eigenvalues is dropped: one whose eigenvector the update changed, or, if
        False, one whose eigenvector it left alone.
    """

    kind: int
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
