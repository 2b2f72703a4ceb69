"""Blocks of samples in span(U, x_1, ..., x_b): level-3 BLAS for updates made one by one.

Whatever a streaming method does with the samples x_1, ..., x_b of a block, its basis stays in
span(U, x_1, ..., x_b). So the d-sized work is one matrix product that gives the samples'
coordinates in an orthonormal basis [U; Q] of that span (`expand`), and one that writes the new
basis back (`collapse`); the updates in between see vectors of length m + q only. In exact
arithmetic the result is that of the updates made one by one.

Bases are stored as rows: U is (m, d), C order, and the samples of the block lie in the rows
below it, in one array ``V``. A kernel reads::

    V, new, work = np.empty((m + b, d)), np.empty((m + b, d)), workspace(m + b, b, d)
    V[:m] = U
    for each block:
        V[m : m + count] = samples
        span = expand(V, m, count, drift, work)
        z_j = work.coords[j, : span.m + span.q]        # x_j = z_j [U; Q], zero from extent[j] on
        W = ...                                        # (rows, m + q), orthonormal rows
        drift = collapse(V, span, W, new, work)        # new[:rows] = W [U; Q]
        V, new, m = new, V, rows

Q is not formed where it need not be. With coordinates A in U and the Cholesky factor L of
XX' - AA', the samples are X = AU + LQ, so that W [U; Q] is a combination of the rows of U and
X themselves, found by a triangular solve of small size. Where that would amplify rounding (a
sample nearly in the span of U and the samples before it), Q is formed by Gram-Schmidt, each
sample projected twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from orthobench.arrays import Array

DEPENDENT = 1e-10
"""A residual of at most this times the norm of its sample adds no direction."""

TINY = 1e-280
"""A sample whose squared norm is at most this adds no direction: its square may underflow."""

ROUNDING = 2.0**-52
"""Orthogonality defect that one block adds."""

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
    flat : ndarray
        Scratch for small matrices.
    long : ndarray, shape (d,)
        Scratch for a sample.
    """

    coords: Array
    extent: NDArray[np.int64]
    flat: Array
    long: Array


class Span(NamedTuple):
    """What `expand` found.

    Attributes
    ----------
    m, q : int
        Rows of U, and directions that the samples add.
    implicit : bool
        Whether the rows of V below U are still the samples, or Q.
    drift : float
        Bound on the orthogonality defect of [U; Q].
    """

    m: int
    q: int
    implicit: bool
    drift: float


@njit(cache=True)
def workspace(capacity: int, b: int, d: int) -> Workspace:
    """Return work arrays for blocks of at most `b` samples and bases of m + b <= `capacity`.

    Memory: capacity² + b capacity + d doubles.
    """
    return Workspace(
        np.zeros((b, capacity)),
        np.zeros(b, np.int64),
        np.empty(capacity * capacity),
        np.empty(d),
    )


@njit(cache=True)
def expand(V: Array, m: int, count: int, drift: float, work: Workspace) -> Span:
    """Find the coordinates of the samples of a block in an orthonormal basis of span(U, X).

    Row j of ``work.coords`` depends on U and the samples up to j only, to rounding.

    Parameters
    ----------
    V : ndarray, shape (>= m + count, d), C order
        Rows [0, m): U. Rows [m, m + count): the samples X; overwritten by Q where it is formed.
    m, count : int
        Rows of U, and samples.
    drift : float
        Bound on the orthogonality defect of U, as `collapse` returned it; 0 at first.
    work : Workspace
        Its coordinates and extents are set.

    Notes
    -----
    2 count (m + count / 2) d flops, and 8 (m + count / 2) d a sample more where Q is formed.
    """
    _products(V, m, count, work)
    ratio = _cholesky(work.coords, m, count)
    bound = ratio * (drift + ROUNDING)
    if bound <= TRUSTED:
        for j in range(count):
            work.extent[j] = m + j + 1
        return Span(m, count, True, bound)
    q = _gram_schmidt(V, m, count, work)
    return Span(m, q, False, drift + ROUNDING)


@njit(cache=True)
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
    if span.implicit:
        _onto_samples(W, work.coords, span.m, span.q)
    rows, inner = W.shape
    step = _panel(rows, inner, V.shape[1])
    for i in range(0, rows, step):
        times(W[i : i + step], V[:inner], new[i : min(i + step, rows)])
    if span.drift <= POLISHED:
        return span.drift
    polish(new, rows, V, work)
    return ROUNDING


@njit(cache=True)
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
    for i in range(m):
        for j in range(U.shape[1]):
            U[i, j] = spare[i, j]


@njit(cache=True)
def matrix(flat: Array, rows: int, columns: int) -> Array:
    """Return a contiguous (rows, columns) view of the beginning of a flat array."""
    return flat[: rows * columns].reshape(rows, columns)


@njit(cache=True, fastmath={"reassoc", "contract"})
def dot(x: Array, y: Array, n: int) -> float:
    """Return the inner product of the first n entries, summed in an order that vectorizes."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@njit(cache=True)
def add(c: float, x: Array, y: Array, n: int) -> None:
    """Add c times the first n entries of x to those of y."""
    for i in range(n):
        y[i] += c * x[i]


@njit(cache=True)
def times(A: Array, B: Array, out: Array) -> None:
    """Set out = AB; compiled once for all who call it."""
    np.dot(A, B, out)


@njit(cache=True)
def times_transposed(A: Array, B: Array, out: Array) -> None:
    """Set out = AB'."""
    np.dot(A, B.T, out)


@njit(cache=True)
def _panel(rows: int, columns: int, d: int) -> int:
    """Return how many rows of a (rows, columns) product over length d to make at once."""
    fits = PANEL * columns * d <= SMALL
    return PANEL if fits else rows


@njit(cache=True)
def _products(V: Array, m: int, count: int, work: Workspace) -> None:
    """Set row j of the coordinates to the inner products of sample j with U and samples to j."""
    coords = work.coords
    step = _panel(count, m + count, V.shape[1])
    for first in range(0, count, step):
        last = min(first + step, count)
        P = matrix(work.flat, last - first, m + last)
        times_transposed(V[m + first : m + last], V[: m + last], P)
        for j in range(first, last):
            for i in range(coords.shape[1]):
                coords[j, i] = P[j - first, i] if i <= m + j else 0.0


@njit(cache=True)
def _cholesky(coords: Array, m: int, count: int) -> float:
    """Replace the products of the samples by the Cholesky factor L of XX' - AA', row by row.

    Returns the largest ratio of a sample's squared norm to that of its residual, by which
    defects and rounding are amplified; infinite where a residual is lost in rounding.
    """
    ratio = 1.0
    for j in range(count):
        z = coords[j]
        square = z[m + j]
        for i in range(j):
            z[m + i] = (z[m + i] - dot(z, coords[i], m + i)) / coords[i, m + i]
        left = square - dot(z, z, m + j)
        if not (left > ROUNDING * square and square > TINY):
            return np.inf
        z[m + j] = np.sqrt(left)
        ratio = max(ratio, square / left)
    return ratio


@njit(cache=True)
def _gram_schmidt(V: Array, m: int, count: int, work: Workspace) -> int:
    """Form Q in the rows of V below U, and the coordinates; return its number of rows."""
    n, x, d = m, work.long, V.shape[1]
    for j in range(count):
        z = work.coords[j]
        for i in range(len(z)):
            z[i] = 0.0
        for i in range(d):
            x[i] = V[m + j, i]
        square = dot(x, x, d)
        for _ in range(2):
            for i in range(n):
                part = dot(V[i], x, d)
                add(-part, V[i], x, d)
                z[i] += part
        left = dot(x, x, d)
        if square > TINY and left > DEPENDENT**2 * square:
            z[n] = np.sqrt(left)
            for i in range(d):
                V[n, i] = x[i] / z[n]
            n += 1
        work.extent[j] = n
    return n - m


@njit(cache=True)
def _onto_samples(W: Array, coords: Array, m: int, q: int) -> None:
    """Turn rows of coordinates in [U; Q] into coefficients of the rows of [U; X], in place."""
    for row in W:
        for j in range(q - 1, -1, -1):
            row[m + j] /= coords[j, m + j]
            add(-row[m + j], coords[j], row, m + j)
