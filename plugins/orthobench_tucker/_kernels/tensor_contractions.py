"""Contractions of symmetric tensors with the columns of bases, compiled.

The first one reads only the distinct entries. A symmetric tensor of order d is a stack of (n, n)
slabs, one for each tuple of its first d - 2 indices, of which ascending tuples are enough. Of a
slab times Q only the entries b >= the largest of those indices are needed: the others equal
entries of other slabs. Sixteen entries are computed at once, in the lanes of the processor.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array
from orthobench.tools.compiled import kernel
from orthobench.tools.simd import COUNT, fill, load, prefetch, store

Indices = NDArray[np.intp]


@kernel
def slab_products(T: Array, n: int, slabs: Indices, lasts: Indices, Q: Array) -> Array:
    """Return T ·(I, ..., I, Q) at all ascending tuples of the d - 1 remaining indices.

    Parameters
    ----------
    T : ndarray, shape (n^d,)
        A symmetric tensor, flattened; n is at least `orthobench.tools.simd.COUNT`.
    n : int
    slabs : ndarray of int
        Position in `T` of the slab of each ascending prefix, in lexical order.
    lasts : ndarray of int
        The last index of each prefix.
    Q : ndarray, shape (n, r)

    Returns
    -------
    ndarray, shape (r, C(n + d - 2, d - 1))
        Tuples in lexical order.

    Notes
    -----
    2 n^d r / (d - 1)! flops, up to lower terms; about 1/(d - 1)! of T is read.
    """
    r, size = Q.shape[1], len(lasts) * n - lasts.sum()
    # a strip may begin left of the entries of its slab; the next slab overwrites that part
    Y = np.empty((r, COUNT + size))
    end = COUNT + size
    for p in range(len(slabs) - 1, -1, -1):
        ahead = slabs[max(p - 1, 0)]
        b = n
        while b > lasts[p]:
            b = max(b - COUNT, 0)
            _strip(T, slabs[p] + b, ahead + b, n, Q, Y, end - n + b)
        end -= n - lasts[p]
    return Y[:, COUNT:]


@kernel
def _strip(T: Array, at: int, ahead: int, n: int, Q: Array, Y: Array, to: int) -> None:
    """Set sixteen entries of each row of `Y`: sixteen columns of a slab times Q.

    The same columns of the next slab are prefetched meanwhile, since processors do not foresee
    strips.
    """
    k = 0
    while k + 4 <= Q.shape[1]:
        _four(T, at, ahead, n, Q, k, Y, to)
        k += 4
    while k < Q.shape[1]:
        _one(T, at, ahead, n, Q, k, Y, to)
        k += 1


@kernel
def _four(T: Array, at: int, ahead: int, n: int, Q: Array, k: int, Y: Array, to: int) -> None:
    """Set sixteen entries of four rows, so that each loaded entry is used four times."""
    a, b, c, d = fill(0.0), fill(0.0), fill(0.0), fill(0.0)
    for row in range(n):
        if k == 0:
            prefetch(T, ahead + row * n)
        entries = load(T, at + row * n)
        a = a + entries * Q[row, k]
        b = b + entries * Q[row, k + 1]
        c = c + entries * Q[row, k + 2]
        d = d + entries * Q[row, k + 3]
    store(Y[k], to, a)
    store(Y[k + 1], to, b)
    store(Y[k + 2], to, c)
    store(Y[k + 3], to, d)


@kernel
def _one(T: Array, at: int, ahead: int, n: int, Q: Array, k: int, Y: Array, to: int) -> None:
    """Set sixteen entries of one row, by two independent sums."""
    even, odd = fill(0.0), fill(0.0)
    for row in range(0, n - 1, 2):
        if k == 0:
            prefetch(T, ahead + row * n)
            prefetch(T, ahead + (row + 1) * n)
        even = even + load(T, at + row * n) * Q[row, k]
        odd = odd + load(T, at + (row + 1) * n) * Q[row + 1, k]
    if n % 2:
        even = even + load(T, at + (n - 1) * n) * Q[n - 1, k]
    store(Y[k], to, even + odd)


@kernel
def matrix_cores(Y: Array, rows: Array, firsts: Indices, S: Array) -> None:
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
