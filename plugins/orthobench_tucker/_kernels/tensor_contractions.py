"""Contractions of symmetric tensors with the columns of bases, compiled.

A symmetric tensor is a stack of (n, n) slabs, one for each tuple of its first d - 2 indices.
Ascending tuples are enough, and in a slab times Q the entries b >= the largest of those indices.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.compiled import kernel
from orthobench_kit.simd import COUNT, fill, load, prefetch, store

from orthobench.contract import Array

Indices = NDArray[np.intp]


@kernel
def slab_products(T: Array, n: int, slabs: Indices, lasts: Indices, Q: Array) -> Array:
    """Return T ·(I, ..., I, Q), (r, C(n + d - 2, d - 1)), at ascending tuples in lexical order.

    T is flattened, n >= `orthobench_kit.simd.COUNT`. The position of the slab of each ascending
    prefix is in `slabs`, its last index in `lasts`. 2 n^d r / (d - 1)! flops, up to lower terms; it
    reads about 1/(d - 1)! of T.
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
    """Set sixteen entries of each row of `Y`, and prefetch the same columns of the next slab."""
    k = 0
    while k + 4 <= Q.shape[1]:
        _four(T, at, ahead, n, Q, k, Y, to)
        k += 4
    while k < Q.shape[1]:
        _one(T, at, ahead, n, Q, k, Y, to)
        k += 1


@kernel
def _four(T: Array, at: int, ahead: int, n: int, Q: Array, k: int, Y: Array, to: int) -> None:
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

    Y (count, n(n + 1)/2) has each matrix at ascending pairs, `rows` is V' (m, n), `firsts` the
    first column of each. With A = B + B', V'AV = V'BV + (V'BV)'. 2mn² + 2m²n flops for each matrix.
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
