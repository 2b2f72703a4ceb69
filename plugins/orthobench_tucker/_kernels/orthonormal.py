"""Kernels that orthonormalize the rows of a wide matrix, and subspace iteration by them.

Loops compile several times faster than array expressions.
"""

from __future__ import annotations

import numpy as np
from orthobench_kit.compiled import kernel

from orthobench.contract import Array

ROUNDS = 3
"""Maximum number of rounds of CholeskyQR."""

PRECISE = 2e-15
"""Defect, the largest entry of QQ' - I, at which no further round is made."""

DEFECT = 1e-14
"""Maximum defect after the last round."""

DEPENDENT = 1e-10
"""Minimum squared sine between a row and those before it for CholeskyQR."""


@kernel
def orthonormalize(A: Array, out: Array) -> bool:
    """Set the rows of `out` to the orthonormalized rows of `A` (r, n), r <= n.

    As by Gram-Schmidt, by CholeskyQR repeated until AA' = I up to rounding. If a row depends on
    those before it, up to 1e-5 of its length, LAPACK's Householder QR replaces it by an arbitrary
    orthonormal row. No entry of QQ' - I exceeds 1e-14. Rows that are orthonormal up to 2e-15 keep
    their bits. 4nr² flops a round, usually one or two, and 2nr². Returns False if A is not finite.

    References
    ----------
    Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015, "Roundoff error analysis of the CholeskyQR2
    algorithm".
    """
    r = len(A)
    gram, factor = np.empty((r, r)), np.empty((r, r))
    before, after = A, out
    for rounds in range(ROUNDS + 1):
        np.dot(before, before.T, gram)
        if _defect(gram) <= (PRECISE if rounds < ROUNDS else DEFECT):
            if rounds % 2 == 0:
                copy_rows(A, out)
            return True
        if rounds == ROUNDS or not _inverse_cholesky(gram, factor):
            break
        np.dot(factor, before, after)
        before, after = after, before
    return _householder(before, out)


@kernel
def copy_rows(A: Array, out: Array) -> None:
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[i, j] = A[i, j]


@kernel
def _defect(gram: Array) -> float:
    largest = 0.0
    for i in range(len(gram)):
        for j in range(i + 1):
            entry = abs(gram[i, j] - (1.0 if i == j else 0.0))
            if not entry <= largest:
                largest = entry if entry > largest else np.inf
    return largest


@kernel
def _inverse_cholesky(gram: Array, inverse: Array) -> bool:
    """Set `inverse` to L^{-1} with LL' = gram; return False if a row depends on others."""
    inverse[:] = 0.0
    for i in range(len(gram)):
        left = gram[i, i]
        least = DEPENDENT * left
        for j in range(i):
            for m in range(j):
                gram[i, j] -= gram[i, m] * gram[j, m]
            gram[i, j] /= gram[j, j]
            left -= gram[i, j] * gram[i, j]
        if not least < left:  # also where it overflows, and so does least
            return False
        gram[i, i] = np.sqrt(left)
        inverse[i, i] = 1.0
        for j in range(i):
            for m in range(j + 1):
                inverse[i, m] -= gram[i, j] * inverse[j, m]
        for m in range(i + 1):
            inverse[i, m] /= gram[i, i]
    return True


@kernel
def _householder(A: Array, out: Array) -> bool:
    if not np.isfinite(A).all():
        return False
    Q, R = np.linalg.qr(A.T)
    for k in range(len(out)):
        sign = -1.0 if R[k, k] < 0 else 1.0
        for j in range(out.shape[1]):
            out[k, j] = sign * Q[j, k]
    return True


ITERATIONS = 8
"""Maximum number of iterations of two products."""

PROMISING = 3
"""Number of iterations before it ends without a gap."""


@kernel
def subspace_iteration(
    A: Array, first: Array, count: int, accuracy: float
) -> tuple[Array, Array, bool]:
    """Return eigenvalues, eigenvectors, and whether they are proven to be the leading ones.

    A (n, n) is positive semidefinite. `first` (m, n), m > count, has start vectors in rows.
    `accuracy` is the maximum residual relative to the largest eigenvalue. 4n²m flops an iteration,
    at most 8.
    """
    n, m = len(A), len(first)
    V, image, ahead = np.empty((m, n)), np.empty((m, n)), np.empty((m, n))
    small, top, values = np.empty((m, m)), np.empty((count, m)), np.empty(count)
    vectors, residual = np.empty((count, n)), np.empty((count, n))
    square = _square(A)
    np.dot(first, A, image)
    for turn in range(ITERATIONS):
        np.dot(image, A, ahead)
        orthonormalize(ahead, V)
        np.dot(V, A, image)
        np.dot(image, V.T, small)
        theta, Y = np.linalg.eigh(small)
        _leading(theta, Y, values, top)
        np.dot(top, V, vectors)
        np.dot(top, image, residual)
        _subtract(residual, values, vectors)
        total = 0.0
        for value in values:
            total += value * value
        gap = square - total < values[-1] * values[-1]
        if gap and np.sqrt(_square(residual)) <= accuracy * values[0]:
            return values, vectors.T, True
        if turn >= PROMISING and not gap:
            break
    return values, vectors.T, False


@kernel
def _leading(theta: Array, Y: Array, values: Array, top: Array) -> None:
    for i in range(len(values)):
        values[i] = theta[len(theta) - 1 - i]
        for j in range(len(theta)):
            top[i, j] = Y[j, len(theta) - 1 - i]


@kernel
def _subtract(residual: Array, values: Array, vectors: Array) -> None:
    for i in range(vectors.shape[0]):
        for j in range(vectors.shape[1]):
            residual[i, j] -= values[i] * vectors[i, j]


@kernel
def _square(A: Array) -> float:
    total = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            total += A[i, j] * A[i, j]
    return total
