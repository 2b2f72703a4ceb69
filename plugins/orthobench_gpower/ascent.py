"""The iterate of the generalized power method, with what is known about inactive rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array

TIED = 1e-10
"""Relative difference of norms below which two rows are equally long."""


class Ascent(NamedTuple):
    """One ascent, of one component or of a block: a point, and the gradient at it.

    Row i of the data is active for column j where |a_i'x_j| exceeds the bound; only active rows
    enter objective and gradient. A row is evaluated where the movement of x_j since its last
    evaluation could have made it active: |a_i'x| <= |a_i'y| + |a_i| |x - y|. So the iterates are
    those of the method without screening, up to the order of summation.

    Attributes
    ----------
    rows : ndarray, shape (n, N)
        The data, features by samples, C order.
    norms : ndarray, shape (n,)
        Norms of the rows.
    inverse : ndarray, shape (n,)
        Their inverses; zero where a norm is within the bound.
    bound : float
        The threshold of |a_i'x_j|, the same for all columns.
    hard : bool
        Whether active rows count in full (l0) or by their excess over the bound (l1).
    weights : ndarray, shape (m,)
        Squared weights mu_j² of the columns.
    X : ndarray, shape (m, N)
        Orthonormal rows: the point, transposed.
    gradient : ndarray, shape (m, N)
        Half the gradient at the point, transposed.
    value : ndarray, shape (1,)
        The objective at the point.
    path : ndarray, shape (m,)
        How far each column has moved so far, along its way.
    wake : ndarray, shape (m, n)
        The path at which a row is to be evaluated again: -inf where it is active, inf where
        its norm is within the bound.
    """

    rows: Array
    norms: Array
    inverse: Array
    bound: float
    hard: bool
    weights: Array
    X: Array
    gradient: Array
    value: Array
    path: Array
    wake: Array

    @property
    def active(self) -> NDArray[np.bool_]:
        """Which rows are active at the point, for each column: shape (n, m)."""
        return np.isneginf(self.wake.T)


def begin(rows: Array, norms: Array, bound: float, hard: bool, weights: Array, X: Array) -> Ascent:
    """Return the ascent that starts at `X`, with objective and gradient there.

    Parameters
    ----------
    rows, norms, bound, hard, weights
        As in `Ascent`.
    X : ndarray, shape (m, N)
        Orthonormal rows, C order; kept and moved.

    Notes
    -----
    4nNm flops where all rows are active; 8nm bytes of memory.
    """
    from orthobench_gpower.sweeps import start

    m, n = len(X), len(rows)
    inverse = np.divide(1.0, norms, out=np.zeros(n), where=norms > bound)
    wake = np.zeros((m, n))
    wake[:, norms <= bound] = np.inf
    ascent = Ascent(
        rows, norms, inverse, bound, hard, weights, X,
        gradient=np.empty_like(X), value=np.zeros(1), path=np.zeros(m), wake=wake,
    )  # fmt: skip
    start(ascent)
    return ascent


def longest(norms: Array) -> int:
    """Return the first of the longest rows: ties, as of standardized rows, go by index."""
    return int(np.argmax(norms >= (1 - TIED) * norms.max()))
