"""Blocks of samples in span(U, x_1, ..., x_b): level-3 BLAS for updates made one by one.

A streaming method's basis stays in span(U, x_1, ..., x_b) while it uses a block. So vectors of
length d take part in two matrix products only: `expand` gives the coordinates of the samples in an
orthonormal basis [U; Q] of that span, and `write_basis` the new basis. The updates in between work
on vectors of length m + q. Bases are stored as rows: U is (m, d), and the samples lie in the rows
below it, in one array ``V``::

    V, new, work = np.empty((m + b, d)), np.empty((m + b, d)), workspace(m + b, b, d)
    copy_rows(U, V)

    for each block:
        copy_rows(samples, V[m:])
        span = expand(V, m, count, drift, work)

        z_j = work.coords[j, : span.m + span.q]        # x_j = z_j [U; Q], zero from extent[j] on
        W = ...                                        # (rows, m + q), orthonormal rows

        drift = write_basis(V, span, W, new, work)        # new[:rows] = W [U; Q]
        V, new, m = new, V, rows

Usually Q is not formed. With coordinates A in U and the Cholesky factor L of XX' - AA', the samples
are X = AU + LQ, so a triangular solve gives W [U; Q] from U and X. If that would amplify rounding,
residuals X - AU replace the samples; if it still would, Q is formed by Gram-Schmidt.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.compiled import kernel, summed

from orthobench.contract import Array

DEPENDENT = 1e-10
"""Norm of a residual below which it adds no direction, relative to its sample."""

TINY = 1e-280
"""Squared norm of a sample below which it adds no direction."""

ROUNDING = 2.0**-50
"""Orthogonality defect that a block adds."""

MAX_IMPLICIT_DRIFT = 1e-12
"""Maximum defect of [U; Q] for which Q is not formed."""

SMALL_PRODUCT = 1_000_000
"""Maximum number of multiplications of OpenBLAS's fast small-matrix kernel."""

PANEL = 4
"""Number of rows of a product at once, if that makes it small."""

MAX_DRIFT = 1e-13
"""Maximum defect of U that is not corrected."""


@kernel
def matrix(flat: Array, rows: int, columns: int) -> Array:
    """Return a view of a flat array's beginning as a matrix."""
    return flat[: rows * columns].reshape(rows, columns)


@kernel
def rows_of(flat: Array, first: int, last: int, width: int) -> Array:
    """Return a view of rows first, ..., last - 1 of a flat matrix."""
    return flat[first * width : last * width].reshape(last - first, width)


@summed
def dot(x: Array, y: Array, n: int) -> float:
    """Return the inner product of the first n entries, vectorized."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@kernel
def axpy(c: float, x: Array, y: Array, n: int) -> None:
    """Set y <- c x + y in the first n entries."""
    for i in range(n):
        y[i] += c * x[i]


@kernel
def copy_rows(A: Array, B: Array) -> None:
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = A[i, j]


@kernel
def set_identity(W: Array) -> None:
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            W[i, j] = 1.0 if i == j else 0.0


@kernel
def multiply(A: Array, B: Array, out: Array) -> None:
    """Set out = AB; compiled once for all callers."""
    np.dot(A, B, out)


@kernel
def multiply_transposed(A: Array, B: Array, out: Array) -> None:
    """Set out = AB'; compiled once for all callers."""
    np.dot(A, B.T, out)


class Workspace(NamedTuple):
    """The arrays of `expand` and `write_basis`; made by `workspace`.

    Attributes
    ----------
    coords : ndarray, shape (b, capacity)
        Row j: the coordinates of sample j in [U; Q], zero from ``extent[j]`` on.
    extent : ndarray of int, shape (b,)
        Number of rows of [U; Q] up to the direction that sample j adds.
    factor : ndarray, shape (b, capacity)
        Row j: the coordinates of row m + j of V in [U; Q].
    squares : ndarray, shape (b,)
        Squared norms of the samples.
    """

    coords: Array
    extent: NDArray[np.int64]
    factor: Array
    squares: Array
    flat: Array
    residuals: Array


class Span(NamedTuple):
    """The basis [U; Q] of the span of a block, with m and q rows.

    Attributes
    ----------
    implicit : bool
        Whether the rows of V below U are samples or residuals, not Q.
    drift : float
        Bound on the orthogonality defect of [U; Q]; NaN if samples are not finite.
    """

    m: int
    q: int
    implicit: bool
    drift: float


@kernel
def workspace(capacity: int, b: int, d: int) -> Workspace:
    """Return work arrays for b samples of length d, and `capacity` rows of U and samples."""
    coords, factor = np.zeros((b, capacity)), np.zeros((b, capacity))
    flat, residuals = np.empty(capacity * capacity), np.empty((b, d))
    return Workspace(coords, np.zeros(b, np.int64), factor, np.zeros(b), flat, residuals)


@kernel
def expand(V: Array, m: int, count: int, drift: float, work: Workspace) -> Span:
    """Find the coordinates of the samples of a block in an orthonormal basis of span(U, X).

    Rows [0, m) of V are U; rows [m, m + count) the samples X, which residuals or Q may overwrite.
    `drift` bounds the orthogonality defect of U; 0 at first. To rounding, row j of ``work.coords``
    depends only on U and the samples up to j. 2 (m + count / 2) d flops a sample. Residuals take 2
    (2m + count / 2) d more, Q 8 (m + count / 2) d.
    """
    _products(V, m, count, work)
    total = 0.0
    for j in range(count):
        work.extent[j], work.squares[j] = m + j + 1, work.factor[j, m + j]
        total += work.squares[j]
    if not np.isfinite(total):
        return Span(m, 0, False, np.nan)
    bound = _cholesky(work, m, count) * (drift + ROUNDING)
    copy_rows(work.factor[:count], work.coords)
    if bound <= MAX_IMPLICIT_DRIFT:
        return Span(m, count, True, bound)
    _subtract_projections(V, m, count, work)
    _products(V, m, count, work)
    bound = _cholesky(work, m, count) * ROUNDING + drift
    if bound <= MAX_IMPLICIT_DRIFT:
        _add_projections(work, m, count)
        return Span(m, count, True, bound)
    return Span(m, _gram_schmidt(V, m, count, work), False, drift + ROUNDING)


@kernel
def panel(rows: int, columns: int, d: int) -> int:
    """Return the number of rows of a (rows, columns) by (columns, d) product to compute at once."""
    return PANEL if PANEL * columns * d <= SMALL_PRODUCT else rows


@kernel
def _products(V: Array, m: int, count: int, work: Workspace) -> None:
    """Set row j of the factor to the products of row m + j of V with the rows up to it."""
    step = panel(count, m + count, V.shape[1])
    for first in range(0, count, step):
        last = min(first + step, count)
        P = matrix(work.flat, last - first, m + last)
        multiply_transposed(V[m + first : m + last], V[: m + last], P)
        for j in range(first, last):
            for i in range(work.factor.shape[1]):
                work.factor[j, i] = P[j - first, i] if i <= m + j else 0.0


@kernel
def _cholesky(work: Workspace, m: int, count: int) -> float:
    """Replace the products in the factor by A and the Cholesky factor L of XX' - AA', row by row.

    Returns the maximum ratio of a row's squared norm to that of its part along Q, which amplifies
    rounding; infinite if a row adds no direction.
    """
    L, ratio = work.factor, 1.0
    for j in range(count):
        z = L[j]
        square = z[m + j]
        for i in range(j):
            z[m + i] = (z[m + i] - dot(z, L[i], m + i)) / L[i, m + i]
        left = square - dot(z, z, m + j)
        if not (left > ROUNDING * square and _independent(left, work.squares[j])):
            return np.inf
        z[m + j] = np.sqrt(left)
        ratio = max(ratio, square / left)
    return ratio


@kernel
def _independent(left: float, square: float) -> bool:
    """Return whether a sample adds a direction, from squared norms of its residual and it."""
    # no power, for which numba would compile a function of its own
    return square > TINY and left > DEPENDENT * DEPENDENT * square


@kernel
def _subtract_projections(V: Array, m: int, count: int, work: Workspace) -> None:
    if m == 0:
        return
    A = matrix(work.flat, count, m)
    for j in range(count):
        for i in range(m):
            A[j, i] = work.coords[j, i]
    multiply(A, V[:m], work.residuals[:count])
    for j in range(count):
        axpy(-1.0, work.residuals[j], V[m + j], V.shape[1])


@kernel
def _add_projections(work: Workspace, m: int, count: int) -> None:
    for j in range(count):
        for i in range(m + count):
            part = work.coords[j, i] if i < m else 0.0
            work.coords[j, i] = work.factor[j, i] + part


@kernel
def _gram_schmidt(V: Array, m: int, count: int, work: Workspace) -> int:
    """Overwrite the residuals with Q, set the coordinates, and return the number of rows of Q."""
    n, d, x = m, V.shape[1], work.residuals[0]
    for j in range(count):
        z = work.coords[j]
        for i in range(m, len(z)):
            z[i] = 0.0
        for i in range(d):
            x[i] = V[m + j, i]
        for _ in range(2):
            for i in range(n):
                part = dot(V[i], x, d)
                axpy(-part, V[i], x, d)
                z[i] += part
        left = dot(x, x, d)
        if _independent(left, work.squares[j]):
            z[n] = np.sqrt(left)
            for i in range(d):
                V[n, i] = x[i] / z[n]
            n += 1
        work.extent[j] = n
    return n - m


@kernel
def write_basis(V: Array, span: Span, W: Array, new: Array, work: Workspace) -> float:
    """Write the basis W [U; Q] and return a bound on its orthogonality defect.

    Above `MAX_DRIFT` the basis is re-orthonormalized. W (rows, m + q) has orthonormal rows and is
    overwritten; V is scratch afterwards. 2 rows (m + q) d flops; 4 rows² d more to
    re-orthonormalize.
    """
    rows = len(W)
    if rows == 0:
        return 0.0
    write_combinations(V, span, W, new, work)
    if span.drift <= MAX_DRIFT:
        return span.drift
    reorthonormalize(new, rows, V, work)
    return ROUNDING


@kernel
def write_combinations(V: Array, span: Span, W: Array, new: Array, work: Workspace) -> None:
    """Write the combinations W [U; Q], for any rows W (overwritten); V stays."""
    rows, inner = W.shape
    if span.implicit:
        _onto_samples(W, work.factor, span.m, span.q)
    step = panel(rows, inner, V.shape[1])
    for i in range(0, rows, step):
        multiply(W[i : i + step], V[:inner], new[i : min(i + step, rows)])


@kernel
def reorthonormalize(U: Array, m: int, spare: Array, work: Workspace) -> None:
    """Re-orthonormalize the first m rows of U in place by a Newton-Schulz step; 4m²d flops.

    Björck and Bowie 1971: U <- (3I - UU') U / 2 squares a defect below one, up to a factor of 3/4.
    """
    C = matrix(work.flat, m, m)
    multiply_transposed(U[:m], U[:m], C)
    for i in range(m):
        for j in range(m):
            C[i, j] = (1.5 if i == j else 0.0) - 0.5 * C[i, j]
    multiply(C, U[:m], spare[:m])
    copy_rows(spare[:m], U)


@kernel
def _onto_samples(W: Array, L: Array, m: int, q: int) -> None:
    """Turn coordinates in [U; Q] into coefficients of [U; X] in place, X = L [U; Q]."""
    for row in W:
        for j in range(q - 1, -1, -1):
            row[m + j] /= L[j, m + j]
            axpy(-row[m + j], L[j], row, m + j)
