"""Blocks of samples in span(U, x_1, ..., x_b): level-3 BLAS for updates made one by one.

Whatever a streaming method does with the samples x_1, ..., x_b of a block, its basis stays in
span(U, x_1, ..., x_b). So the d-sized work is one matrix product that gives the samples'
coordinates in an orthonormal basis [U; Q] of that span (`expand`), and one that writes the new
basis back (`collapse`); the updates in between see vectors of length m + q only. In exact
arithmetic the result is that of the updates made one by one.

Bases are stored as rows: U is (m, d), C order, and the samples of the block lie in the rows
below it, in one array ``V``. A kernel reads::

    V, new, work = np.empty((m + b, d)), np.empty((m + b, d)), workspace(m + b, b, d)
    copy(U, V)
    for each block:
        copy(samples, V[m:])
        span = expand(V, m, count, drift, work)
        z_j = work.coords[j, : span.m + span.q]        # x_j = z_j [U; Q], zero from extent[j] on
        W = ...                                        # (rows, m + q), orthonormal rows
        drift = collapse(V, span, W, new, work)        # new[:rows] = W [U; Q]
        V, new, m = new, V, rows

Q is not formed where it need not be. With coordinates A in U and the Cholesky factor L of
XX' - AA', the samples are X = AU + LQ, so that W [U; Q] is a combination of the rows of U and
X themselves, found by a triangular solve of small size. Where that would amplify rounding
(samples nearly in the span of U), the same is done with their residuals X - AU; and where that
would too (samples nearly in the span of those before them), Q is formed by Gram-Schmidt.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array
from orthobench.tools.compiled import inner, kernel
from orthobench_stochastic_pca.dense import add, copy, dot, matrix, times, times_transposed

DEPENDENT = 1e-10
"""A residual of at most this times the norm of its sample adds no direction."""

TINY = 1e-280
"""A sample whose squared norm is at most this adds no direction: its square may underflow."""

ROUNDING = 2.0**-50
"""Orthogonality defect that the updates of one block add."""

TRUSTED = 1e-12
"""Largest bound on the defect of [U; Q] for which Q is left implicit."""

POLISHED = 1e-13
"""Largest bound on the defect of U that is left uncorrected."""

SMALL = 1_000_000
"""Multiplications up to which OpenBLAS runs its small-matrix kernel, twice as fast as the other."""

PANEL = 4
"""Rows of a product made at once where that brings it below `SMALL`."""


class Workspace(NamedTuple):
    """Arrays that `expand` and `collapse` work in; made by `workspace`.

    Attributes
    ----------
    coords : ndarray, shape (b, capacity)
        Row j: the coordinates of sample j in [U; Q], zero from ``extent[j]`` on.
    extent : ndarray of int, shape (b,)
        The length of [U; Q] once sample j is in: later directions are orthogonal to it.
    factor : ndarray, shape (b, capacity)
        Row j: the coordinates of row m + j of V, a sample or its residual.
    squares : ndarray, shape (b,)
        Squared norms of the samples.
    flat : ndarray
        Scratch for small matrices.
    residuals : ndarray, shape (b, d)
        Scratch.
    """

    coords: Array
    extent: NDArray[np.int64]
    factor: Array
    squares: Array
    flat: Array
    residuals: Array


class Span(NamedTuple):
    """What `expand` found.

    Attributes
    ----------
    m, q : int
        Rows of U, and directions that the samples add.
    implicit : bool
        Whether the rows of V below U are samples or residuals, rather than Q.
    drift : float
        Bound on the orthogonality defect of [U; Q]; NaN where samples are not finite.
    """

    m: int
    q: int
    implicit: bool
    drift: float


@kernel
def workspace(capacity: int, b: int, d: int) -> Workspace:
    """Return work arrays for blocks of at most `b` samples and bases of m + b <= `capacity`.

    Memory: capacity² + 2 b capacity + bd doubles.
    """
    return Workspace(
        np.zeros((b, capacity)),
        np.zeros(b, np.int64),
        np.zeros((b, capacity)),
        np.zeros(b),
        np.empty(capacity * capacity),
        np.empty((b, d)),
    )


@kernel
def expand(V: Array, m: int, count: int, drift: float, work: Workspace) -> Span:
    """Find the coordinates of the samples of a block in an orthonormal basis of span(U, X).

    Row j of ``work.coords`` depends on U and the samples up to j only, to rounding.

    Parameters
    ----------
    V : ndarray, shape (>= m + count, d), C order
        Rows [0, m): U. Rows [m, m + count): the samples X; overwritten where they are
        replaced by their residuals or by Q.
    m, count : int
        Rows of U, and samples.
    drift : float
        Bound on the orthogonality defect of U, as `collapse` returned it; 0 at first.
    work : Workspace
        Its coordinates and extents are set.

    Notes
    -----
    2 (m + count / 2) d flops a sample; 2 (2m + count / 2) d more where residuals are taken, and
    8 (m + count / 2) d more where Q is formed.
    """
    _products(V, m, count, work)
    total = 0.0
    for j in range(count):
        work.extent[j], work.squares[j] = m + j + 1, work.factor[j, m + j]
        total += work.squares[j]
    if not np.isfinite(total):
        return Span(m, 0, False, np.nan)
    bound = _cholesky(work, m, count) * (drift + ROUNDING)
    copy(work.factor[:count], work.coords)
    if bound <= TRUSTED:
        return Span(m, count, True, bound)
    _subtract_projections(V, m, count, work)
    _products(V, m, count, work)
    bound = _cholesky(work, m, count) * ROUNDING + drift
    if bound <= TRUSTED:
        _add_projections(work, m, count)
        return Span(m, count, True, bound)
    return Span(m, _gram_schmidt(V, m, count, work), False, drift + ROUNDING)


@kernel
def collapse(V: Array, span: Span, W: Array, new: Array, work: Workspace) -> float:
    """Write the basis W [U; Q] and return a bound on its orthogonality defect.

    Where the bound has grown beyond `POLISHED`, one Newton-Schulz step takes it back to rounding.

    Parameters
    ----------
    V, span
        As `expand` left and returned them; V is scratch afterwards.
    W : ndarray, shape (rows, m + q), C order
        Orthonormal rows: the new basis in coordinates of [U; Q]; overwritten.
    new : ndarray, shape (>= rows, d), C order
        Its first rows are set.

    Notes
    -----
    2 rows (m + q) d flops; 4 rows² d more for a Newton-Schulz step.
    """
    rows = len(W)
    if rows == 0:
        return 0.0
    combine(V, span, W, new, work)
    if span.drift <= POLISHED:
        return span.drift
    polish(new, rows, V, work)
    return ROUNDING


@kernel
def combine(V: Array, span: Span, W: Array, new: Array, work: Workspace) -> None:
    """Write the combinations W [U; Q], of any rows W, which are overwritten; leave V as it is.

    Notes
    -----
    2 rows (m + q) d flops.
    """
    rows, inner = W.shape
    if span.implicit:
        _onto_samples(W, work.factor, span.m, span.q)
    step = _panel(rows, inner, V.shape[1])
    for i in range(0, rows, step):
        times(W[i : i + step], V[:inner], new[i : min(i + step, rows)])


@kernel
def polish(U: Array, m: int, spare: Array, work: Workspace) -> None:
    """Re-orthonormalize the first m rows of U in place: one Newton-Schulz step.

    U <- (3I - UU') U / 2 squares an orthogonality defect below one, up to a factor of 3/4
    (Björck and Bowie 1971).

    Parameters
    ----------
    U, spare : ndarray, shape (>= m, d), C order
    work : Workspace

    Notes
    -----
    4m²d flops.
    """
    C = matrix(work.flat, m, m)
    times_transposed(U[:m], U[:m], C)
    for i in range(m):
        for j in range(m):
            C[i, j] = (1.5 if i == j else 0.0) - 0.5 * C[i, j]
    times(C, U[:m], spare[:m])
    copy(spare[:m], U)


@inner
def _panel(rows: int, columns: int, d: int) -> int:
    """Return how many rows of a (rows, columns) product over length d to make at once."""
    fits = PANEL * columns * d <= SMALL
    return PANEL if fits else rows


@inner
def _products(V: Array, m: int, count: int, work: Workspace) -> None:
    """Set row j of the factor to the products of row m + j of V with U and the rows up to it."""
    step = _panel(count, m + count, V.shape[1])
    for first in range(0, count, step):
        last = min(first + step, count)
        P = matrix(work.flat, last - first, m + last)
        times_transposed(V[m + first : m + last], V[: m + last], P)
        for j in range(first, last):
            for i in range(work.factor.shape[1]):
                work.factor[j, i] = P[j - first, i] if i <= m + j else 0.0


@inner
def _cholesky(work: Workspace, m: int, count: int) -> float:
    """Replace the products of rows X by the Cholesky factor L of XX' - AA', row by row.

    Returns the largest ratio of a row's squared norm to that of its part along Q, by which
    defects and rounding are amplified; infinite where that part adds no direction.
    """
    L, ratio = work.factor, 1.0
    for j in range(count):
        z = L[j]
        square = z[m + j]
        for i in range(j):
            z[m + i] = (z[m + i] - dot(z, L[i], m + i)) / L[i, m + i]
        left = square - dot(z, z, m + j)
        if not (left > ROUNDING * square and _adds(left, work.squares[j])):
            return np.inf
        z[m + j] = np.sqrt(left)
        ratio = max(ratio, square / left)
    return ratio


@inner
def _adds(left: float, square: float) -> bool:
    """Return whether a residual adds a direction, from squared norms of it and the sample."""
    return square > TINY and left > DEPENDENT**2 * square


@inner
def _subtract_projections(V: Array, m: int, count: int, work: Workspace) -> None:
    """Replace the samples X by their residuals X - AU."""
    if m == 0:
        return
    A = matrix(work.flat, count, m)
    for j in range(count):
        for i in range(m):
            A[j, i] = work.coords[j, i]
    times(A, V[:m], work.residuals[:count])
    for j in range(count):
        add(-1.0, work.residuals[j], V[m + j], V.shape[1])


@inner
def _add_projections(work: Workspace, m: int, count: int) -> None:
    """Turn the residuals' coordinates into those of the samples."""
    for j in range(count):
        for i in range(m + count):
            part = work.coords[j, i] if i < m else 0.0
            work.coords[j, i] = work.factor[j, i] + part


@inner
def _gram_schmidt(V: Array, m: int, count: int, work: Workspace) -> int:
    """Form Q from the residuals, in their place, and the coordinates; return its rows.

    Each residual is projected twice more, so that one of 1e-10 times its sample is orthogonal
    to rounding.
    """
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
                add(-part, V[i], x, d)
                z[i] += part
        left = dot(x, x, d)
        if _adds(left, work.squares[j]):
            z[n] = np.sqrt(left)
            for i in range(d):
                V[n, i] = x[i] / z[n]
            n += 1
        work.extent[j] = n
    return n - m


@inner
def _onto_samples(W: Array, L: Array, m: int, q: int) -> None:
    """Turn coordinates in [U; Q] into coefficients of [U; X], where X = L [U; Q], in place."""
    for row in W:
        for j in range(q - 1, -1, -1):
            row[m + j] /= L[j, m + j]
            add(-row[m + j], L[j], row, m + j)
