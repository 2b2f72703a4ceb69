"""Kernels of the streaming methods: AdaGrad ascent along the gradients of batches of samples.

A basis Q (n, r) in Fortran order is its transpose in C order, `rows`, and so is a gradient; a
batch is b rows of n. Every gradient is a combination of samples, G = X'R' for weights R (r, b),
in which samples enter through the r b numbers Y = Q'X' only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array
from orthobench.tools.compiled import inner, kernel, summed
from orthobench_tucker.adagrad import GAMMA_0
from orthobench_tucker.orthonormal_rows import copy_rows, orthonormalize
from orthobench_tucker.sample_kernels import fill

CACHED = 40_000
"""Doubles of samples in one product Q'X: few enough for the cache, and for BLAS not to pack."""

VANISHED = 1e-290
"""A gradient is zero where its square is below this: with GAMMA_0² times that it still counts."""

COMBINED = 100_000
"""Doubles of samples in one product of the gradient, where its sums fit in the cache too."""

LEAST = 4
"""Least samples in one product."""


@kernel
def tucker_ascent(
    X: Array,
    batch: int,
    rows: Array,
    gamma: Array,
    order: int,
    step: float,
    parents: NDArray[np.intp],
    last: NDArray[np.intp],
    counts: Array,
) -> int:
    """Do lines 3 to 6 of Algorithm 2, batch after batch; return for how many batches.

    Stops before a batch whose step is not finite.

    Parameters
    ----------
    X : ndarray, shape (count * batch, n), C order
    batch : int
    rows : ndarray, shape (r, n), C order
        Q', in place.
    gamma : ndarray, shape (r,)
        AdaGrad's denominators, in place.
    order : int
        d.
    step : float
        c_2.
    parents, last, counts : ndarray
        How the monomials of all degrees follow from each other (`recipes.Recipe`), and the
        multiplicities of those of degree d - 1, for the core form; empty for the Gram form.

    Notes
    -----
    Those of `tucker_gradient` and `ascend` for each batch. Memory 2nr + b min(N, b), and X.
    """
    r, n = rows.shape
    G, powers = np.empty((r, n)), np.empty((max(r, len(parents)), batch))
    done = len(X) // batch
    for t in range(done):
        samples = X[t * batch : (t + 1) * batch]
        finite = tucker_gradient(samples, rows, order, parents, last, counts, powers, G)
        if not (finite and ascend(rows, G, gamma, step)):
            return t
    return done


@kernel
def tucker_gradient(
    X: Array,
    rows: Array,
    order: int,
    parents: NDArray[np.intp],
    last: NDArray[np.intp],
    counts: Array,
    powers: Array,
    G: Array,
) -> bool:
    """Set G = (2d/b²) X (X'QQ'X)^[d-1] X'Q (equation 13), transposed; return whether X is finite.

    Parameters
    ----------
    X : ndarray, shape (b, n), C order
    rows : ndarray, shape (r, n), C order
        Q'.
    order : int
        d.
    parents, last, counts : ndarray
        As in `tucker_ascent`.
    powers : ndarray, shape (max(r, len(parents)), b), C order
        To work in.
    G : ndarray, shape (r, n), C order

    Notes
    -----
    4nbr flops, and 4brN in the core form or 4b²r in the Gram form.
    """
    r, b = len(rows), len(X)
    total = _products(rows, X, powers[:r])
    if len(counts):
        R = _core_weights(powers, r, parents, last, counts)
    else:
        R = _gram_weights(powers, order)
    R *= 2.0 * order / b / b
    total += _combine(R, X, G)
    return bool(np.isfinite(total))


@inner
def _products(rows: Array, X: Array, Y: Array) -> float:
    """Set Y = Q'X', and return the sum of X.

    For the sum X is read once, in order, just before BLAS reads it in an order of its own: the
    first is fetched from memory ahead of time, the second would wait for each row.
    """
    r, n = rows.shape
    size, total = max(LEAST, r // 2, CACHED // n), 0.0
    part = np.empty(r * min(size, len(X)))
    for begin in range(0, len(X), size):
        end = min(begin + size, len(X))
        total += _sum(X[begin:end].reshape(-1))
        product = part[: r * (end - begin)].reshape(r, end - begin)
        np.dot(rows, X[begin:end].T, product)
        copy_rows(product, Y[:, begin:end])
    return total


@inner
def _combine(R: Array, X: Array, G: Array) -> float:
    """Set G = RX, and return the sum of X where that is read first, as in `_products`.

    Long samples are read in parts, whose sums are added, as long as that costs little.
    """
    (r, b), n = R.shape, X.shape[1]
    size, total = COMBINED // n, 0.0
    if b <= size or size < 2 * r:
        np.dot(R, X, G)
        return total
    G[:] = 0.0
    part = np.empty_like(G)
    for begin in range(0, b, size):
        end = min(begin + size, b)
        total += _sum(X[begin:end].reshape(-1))
        np.dot(R[:, begin:end].copy(), X[begin:end], part)
        G += part
    return total


@inner
def _core_weights(
    powers: Array, r: int, parents: NDArray[np.intp], last: NDArray[np.intp], counts: Array
) -> Array:
    """Return R = S diag(counts) P with P (N, b) the monomials of Y of degree d - 1 and S = YP'.

    `powers` begins with Y, and gets the monomials of all degrees.
    """
    fill(powers, parents, last, r)
    P = powers[len(powers) - len(counts) :]
    S = np.dot(powers[:r], P.T)
    S *= counts
    R: Array = np.dot(S, P)
    return R


@inner
def _gram_weights(Y: Array, order: int) -> Array:
    """Return R = Y (Y'Y)^[d-1], the power entry by entry."""
    gram = np.dot(Y.T, Y)
    power = gram.copy()
    for _ in range(order - 2):
        power *= gram
    R: Array = np.dot(Y, power)
    return R


@kernel
def ascend(rows: Array, G: Array, gamma: Array, step: float) -> bool:
    """Do one AdaGrad step along a gradient, column by column, and retract.

    gamma <- (gamma² + |g|²)^(1/2) for each column g, and Q <- qr(Q + step G / gamma). A gamma of
    zeros is first set to GAMMA_0 times |G|; a gradient of zero leaves it, and Q, as they are.

    Parameters
    ----------
    rows : ndarray, shape (r, n), C order
        Q', in place.
    G : ndarray, shape (r, n), C order
        The gradient, transposed; overwritten.
    gamma : ndarray, shape (r,)
        In place; all zero before the first gradient.
    step : float

    Returns
    -------
    bool
        False, and Q and gamma as they were, where the step is not finite.

    Notes
    -----
    4nr flops and those of `orthonormalize`.
    """
    r, n = rows.shape
    longer, total = np.empty(r), 0.0
    for k in range(r):
        longer[k] = _square(G[k])
        total += longer[k]
    if total < VANISHED:
        return True
    for k in range(r):
        first = GAMMA_0 * np.sqrt(total) if gamma[k] == 0.0 else gamma[k]
        longer[k] = np.sqrt(first * first + longer[k])
        if not longer[k] < np.inf:
            return False
        scale = 1.0 / longer[k]
        for j in range(n):
            G[k, j] = rows[k, j] + step * (scale * G[k, j])
    if not orthonormalize(G, rows):
        return False
    for k in range(r):
        gamma[k] = longer[k]
    return True


@summed
def _square(x: Array) -> float:
    """Return |x|², summed in an order that vectorizes."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


@summed
def _sum(x: Array) -> float:
    """Return the sum of the entries, in an order that vectorizes."""
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total
