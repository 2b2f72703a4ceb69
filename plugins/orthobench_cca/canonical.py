"""Canonical variables by one singular value decomposition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthobench.contract import Array, flops
from orthobench_cca.covariances import SINGULAR, TIED, tied, units_of
from orthobench_cca.oracle import Centred, PairsMatrices

WELL = 1e-6
"""Inverse condition number above which a Cholesky factor is used."""

FEW, LARGE = 8, 1e-2
"""Columns per singular vector, and share of the largest singular value, for a Gram matrix."""


class Whitened(NamedTuple):
    """A basis W (p, r) with W'(S + ridge I)W = I, of the r directions that vary.

    WW' is the pseudo-inverse of S + ridge I, r its rank, and `least` its smallest eigenvalue over
    the largest, or an estimate. Columns have unit variance, except those of QR with a ridge.
    """

    W: Array
    least: float
    flops: int


def whitened(side: Centred, ridge: float, by: str = "shape") -> Whitened:
    """Return the whitened basis of a side (N, p).

    By Gram: the inverse Cholesky factor of the covariance, or its eigenvectors if that is
    ill-conditioned. By QR: a singular value decomposition of the triangular factor, which squares
    nothing and loses no digits. ``"shape"`` is Gram if N >= p or the data are sparse.
    """
    N, p = side.data.shape
    if by == "gram" or (by == "shape" and (p <= N or hasattr(side.data, "toarray"))):
        S = side.covariance(ridge)
        units = units_of(np.diag(S))
        S *= units[:, None] * units
        found = by_cholesky(S, N) or _by_eigenvectors(S, N)
        return found._replace(W=units[:, None] * found.W)
    X = side.data - side.mean
    units = np.ones(p) if ridge else units_of(np.einsum("ij,ij->j", X, X) / N)
    X *= units
    wide = p > N
    Q, R = np.linalg.qr(X.T if wide else X)
    left, sizes, right = np.linalg.svd(R)
    values = sizes**2 / N + ridge
    vectors = Q @ left if wide else right.T
    small, large = min(N, p), max(N, p)
    count = (
        flops.qr(large, small) + flops.svd(small, small) + wide * flops.gemm(large, small, small)
    )
    bottom = (ridge if wide else values[-1]) / values[0] if values[0] > 0 else 0.0
    keep = values > SINGULAR * values[0]
    if not ridge and (wide or not keep.all()):
        vectors, values = vectors[:, keep], values[keep]
    return Whitened(units[:, None] * vectors / np.sqrt(values), float(bottom), count)


def by_cholesky(S: Array, N: int) -> Whitened | None:
    """Return the inverse Cholesky factor of a covariance; None if ill-conditioned."""
    from scipy.linalg import lapack

    p = len(S)
    factor, failed = lapack.dpotrf(S)
    if failed:
        return None
    least, _ = lapack.dpocon(factor, float(np.abs(S).sum(axis=0).max()))
    if not least > WELL:
        return None
    return Whitened(lapack.dtrtri(factor)[0], float(least), flops.gemm(p, p, N) + 2 * p**3 // 3)


def _by_eigenvectors(S: Array, N: int) -> Whitened:
    p, (values, vectors) = len(S), np.linalg.eigh(S)
    count = flops.gemm(p, p, N) + flops.eigh(p) + 2 * p * p
    least = float(values[0] / values[-1]) if values[-1] > 0 else 0.0
    keep = values > SINGULAR * values[-1]
    if not keep.all():
        vectors, values = vectors[:, keep], values[keep]
    return Whitened(vectors / np.sqrt(values), least, count)


class Canonical(NamedTuple):
    """Weights A (p, k) and B (q, k), the k largest canonical correlations, and the flops."""

    A: Array
    correlations: Array
    B: Array
    flops: int


def canonical(
    oracle: PairsMatrices, left: Whitened, right: Whitened, k: int | None = None
) -> Canonical:
    """Return the canonical weights from whitened bases."""
    k, (M, count) = k or oracle.k, _whitened_cross(oracle, left, right)
    U, correlations, V, decomposing = _leading(M, k)
    (p, r), (q, s) = left.W.shape, right.W.shape
    count += decomposing + flops.gemm(p, k, r) + flops.gemm(q, k, s)
    return Canonical(left.W @ U, correlations, right.W @ V, count)


def _whitened_cross(oracle: PairsMatrices, left: Whitened, right: Whitened) -> tuple[Array, int]:
    """Return W_x'S_xy W_y (r, s), whose singular values are the correlations, and the flops."""
    (x, y), N = oracle.sides, oracle.count
    (p, r), (q, s) = left.W.shape, right.W.shape
    if max(p, q) <= N:
        count = flops.gemm(p, q, N) + flops.gemm(r, q, p) + flops.gemm(r, s, q)
        return left.W.T @ x.cross(y) @ right.W, count
    count = flops.gemm(N, r, p) + flops.gemm(N, s, q) + flops.gemm(r, s, N)
    return x.times(left.W).T @ y.times(right.W) / N, count


class Optima(NamedTuple):
    """The set of all optima: other correlations may equal the last one sought.

    A (p, K) and B (q, K) are the k weights and all that are tied with the last. If that is zero,
    they are those of positive correlations. `first` is the number of correlations (k,) above the
    last one sought; columns from there on are tied.
    """

    A: Array
    correlations: Array
    B: Array
    first: int


def optima(oracle: PairsMatrices, left: Whitened, right: Whitened) -> Optima:
    """Return all optima; 2rs² + s³ flops more than `canonical`."""
    M, _ = _whitened_cross(oracle, left, right)
    k = min(oracle.k, *M.shape)
    U, correlations, V, _ = _leading(M, k)
    squares = np.asarray(np.linalg.eigvalsh(M @ M.T if M.shape[0] < M.shape[1] else M.T @ M))[::-1]
    first, end = tied(squares, k)
    if k < oracle.k or squares[k - 1] <= TIED * squares[0]:
        first = int(np.count_nonzero(squares > TIED * squares[0]))
        U, V = U[:, :first], V[:, :first]
    elif end > k:
        U, _, Vt = np.linalg.svd(M, full_matrices=False)
        U, V = U[:, :end], Vt[:end].T
    return Optima(left.W @ U, correlations, right.W @ V, first)


def _leading(M: Array, k: int) -> tuple[Array, Array, Array, int]:
    from scipy.linalg import eigh

    r, s = M.shape
    if s > r:
        V, values, U, count = _leading(M.T, k)
        return U, values, V, count
    spent = 0
    if FEW * k <= s:
        V = eigh(M.T @ M, subset_by_index=(s - k, s - 1))[1][:, ::-1]
        U, values = M @ V, np.linalg.norm(M @ V, axis=0)
        spent = flops.gemm(s, s, r) + 4 * s**3 // 3 + flops.gemm(r, k, s)
        if values[-1] > LARGE * values[0]:
            return U / values, values, V, spent
    U, values, Vt = np.linalg.svd(M, full_matrices=False)
    return U[:, :k], values[:k], Vt[:k].T, spent + flops.svd(r, s)
