"""Symmetric matrices between the columns of a basis, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array
from orthobench.tools.compiled import kernel


@kernel
def matrix_cores(Y: Array, rows: Array, firsts: NDArray[np.intp], S: Array) -> None:
    """Set S to the columns of V'AV from a first one on, of several symmetric matrices A.

    Only the half above the diagonal is unpacked: with A = B + B', V'AV = V'BV + (V'BV)'.

    Parameters
    ----------
    Y : ndarray, shape (count, n(n + 1)/2)
        Each matrix at ascending pairs of indices, in lexical order.
    rows : ndarray, shape (m, n)
        V'.
    firsts : ndarray of int, shape (count,)
        The first column of each.
    S : ndarray, shape (m, sum of m - firsts)
        Overwritten; the columns of one matrix after those of another.

    Notes
    -----
    2mn² + 2m²n flops for each matrix.
    """
    m, n = rows.shape
    half, product, core = np.zeros((n, n)), np.empty((m, n)), np.empty((m, m))
    column = 0
    for k in range(len(Y)):
        at = 0
        for i in range(n):
            half[i, i] = 0.5 * Y[k, at]
            for j in range(i + 1, n):
                half[i, j] = Y[k, at + j - i]
            at += n - i
        np.dot(rows, half, product)
        np.dot(product, rows.T, core)
        for f in range(firsts[k], m):
            for g in range(m):
                S[g, column] = core[f, g] + core[g, f]
            column += 1
