"""Steps of projected gradient ascent, compiled: those of all data, and of batches of samples.

Bases and gradients are transposed, Q' (r, n) in C order. The gradient of a batch X (b, n) is G =
X'R' with weights R (r, b), which depend on the samples only through Y = Q'X'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.compiled import kernel, summed

from orthobench.contract import Array
from orthobench_tucker._kernels.arrays import GAMMA_0
from orthobench_tucker._kernels.orthonormal import copy_rows, orthonormalize
from orthobench_tucker._kernels.sample_contractions import fill_products

CACHED = 40_000
"""Number of doubles of samples in one product Q'X, few enough for BLAS not to pack."""

VANISHED = 1e-290
"""Squared norm below which a gradient is zero; times GAMMA_0² it is normal."""

COMBINED = 100_000
"""Number of doubles of samples in one product of a gradient, which fit in the cache."""

LEAST = 4
"""Minimum number of samples in one product."""


@kernel
def evaluated(
    W: Array, basis: Array, multiplicities: Array, order: int
) -> tuple[Array, Array, float, float]:
    """Return P (r, r) and V' (r, n) of ∇F = QP + V, F, and |V| / F, from W' (N, n) and Q' (r, n).

    P = 2d S diag(c) S', and V = 2d (W - QS) diag(c) S' without cancellation.
    """
    S = np.dot(W, basis.T)
    weighted = np.empty_like(S)
    objective = 0.0
    for j in range(len(S)):
        for c in range(S.shape[1]):
            weighted[j, c] = multiplicities[j] * S[j, c]
            objective += weighted[j, c] * S[j, c]
    weighted *= 2 * order
    residual = W - np.dot(S, basis)
    tangent = np.dot(weighted.T, residual)
    tangent -= np.dot(np.dot(tangent, basis.T), basis)
    relative = np.sqrt(np.sum(tangent * tangent)) / objective if objective > 0 else np.inf
    return np.dot(weighted.T, S), tangent, objective, relative


@kernel
def square_columns(inner: Array, tangent: Array) -> Array:
    """Return the squared lengths of the columns of ∇F = QP + V, shape (r,)."""
    squares = np.empty(len(inner))
    for c in range(len(inner)):
        squares[c] = dot(inner[c], inner[c]) + dot(tangent[c], tangent[c])
    return squares


@kernel
def stepped(basis: Array, inner: Array, tangent: Array, scales: Array) -> Array:
    """Return the transposed Q factor of Q + (QP + V) diag(scales); NaN if that is not finite."""
    within = np.empty_like(inner)
    for c in range(len(inner)):
        for b in range(len(inner)):
            within[c, b] = scales[c] * inner[c, b]
        within[c, c] += 1.0
    moved: Array = np.dot(within, basis)
    for c in range(len(inner)):
        add(scales[c], tangent[c], moved[c])
    rows: Array = np.empty_like(moved)
    if not orthonormalize(moved, rows):
        rows[:] = np.nan
    return rows


@kernel
def stepped_by_length(
    basis: Array, inner: Array, tangent: Array, squares: Array, length: float
) -> Array:
    """Return `stepped` with scales `length` over the root of `squares` + |column of ∇F|²."""
    scales = length / np.sqrt(squares + square_columns(inner, tangent))
    return stepped(basis, inner, tangent, scales)


@summed
def dot(x: Array, y: Array) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@kernel
def add(factor: float, x: Array, y: Array) -> None:
    for i in range(len(x)):
        y[i] += factor * x[i]


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
    multiplicities: Array,
) -> int:
    """Do lines 3 to 6 of Algorithm 2 for each batch; return the number of batches.

    It stops before a batch whose step is not finite. `rows` = Q' and `gamma` are updated in place.
    `parents`, `last` and `multiplicities` (`monomial_products`) are those of the core form; empty
    for the Gram form. Memory: 2nr + b min(N, b) doubles.
    """
    r, n = rows.shape
    G, powers = np.empty((r, n)), np.empty((max(r, len(parents)), batch))
    done = len(X) // batch
    for t in range(done):
        samples = X[t * batch : (t + 1) * batch]
        finite = tucker_gradient(samples, rows, order, parents, last, multiplicities, powers, G)
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
    multiplicities: Array,
    powers: Array,
    G: Array,
) -> bool:
    """Set G = (2d/b²) X (X'QQ'X)^[d-1] X'Q (equation 13), transposed; return whether X is finite.

    Arguments as in `tucker_ascent`; `powers` (max(r, len(parents)), b) is scratch. 4nbr flops, and
    4brN in the core form or 4b²r in the Gram form.
    """
    r, b = len(rows), len(X)
    total = _products(rows, X, powers[:r])
    if len(multiplicities):
        R = _core_weights(powers, r, parents, last, multiplicities)
    else:
        R = _gram_weights(powers, order)
    R *= 2.0 * order / b / b
    total += _combine(R, X, G)
    return bool(np.isfinite(total))


@kernel
def _products(rows: Array, X: Array, Y: Array) -> float:
    """Set Y = Q'X', and return the sum of all entries of X, which shows whether X is finite.

    The sum prefetches X in order; BLAS would wait for each row.
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


@kernel
def _combine(R: Array, X: Array, G: Array) -> float:
    """Set G = RX, by parts if samples are long; return the sum of X as `_products`, or zero."""
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


@kernel
def _core_weights(
    powers: Array, r: int, parents: NDArray[np.intp], last: NDArray[np.intp], multiplicities: Array
) -> Array:
    """Return the weights R from the monomials of Y, the first rows of `powers`."""
    fill_products(powers, parents, last, r)
    P = powers[len(powers) - len(multiplicities) :]
    S = np.dot(powers[:r], P.T)
    S *= multiplicities
    R: Array = np.dot(S, P)
    return R


@kernel
def _gram_weights(Y: Array, order: int) -> Array:
    gram = np.dot(Y.T, Y)
    power = gram.copy()
    for _ in range(order - 2):
        power *= gram
    R: Array = np.dot(Y, power)
    return R


@kernel
def ascend(rows: Array, G: Array, gamma: Array, step: float) -> bool:
    """Do one AdaGrad step along a gradient, column by column, with the QR retraction.

    gamma <- (gamma² + |g|²)^(1/2) for each column g, and Q <- qr(Q + step G / gamma). A gamma of
    zeros first becomes GAMMA_0 |G|. A zero gradient changes nothing. `rows` = Q' and `gamma` are
    updated in place, G is overwritten. If the step is not finite, it returns False and changes
    nothing.
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
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


@summed
def _sum(x: Array) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total
