"""Canonical correlation analysis by one singular value decomposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from orthobench.contract import (
    Array,
    Solution,
    Solver,
    State,
    Status,
    UsageError,
    flops,
    parameter,
)
from orthobench_cca.covariances import SINGULAR
from orthobench_cca.oracle import Centred, PairsMatrices


class Whitened(NamedTuple):
    """A basis W (p, r) with W'(S + ridge I)W = I, of all directions or of those that vary.

    `least` is the smallest eigenvalue of S + ridge I over the largest: the ridge where p is above
    the number of pairs.
    """

    W: Array
    least: float
    flops: int


def whitened(side: Centred, ridge: float, by: str = "shape") -> Whitened:
    """Return the whitened basis of a side.

    By Gram: an eigendecomposition of the covariance. By QR: a singular value decomposition of the
    triangular factor, of X' where X is wider than high, so that no more than min(N, p) of
    anything is squared and no digits are lost.

    Parameters
    ----------
    side : Centred
        Shape (N, p).
    ridge : float
    by : {"shape", "gram", "qr"}
        ``"shape"`` is Gram where N >= p or the data are sparse, and otherwise QR.
    """
    N, p = side.data.shape
    if by == "gram" or (by == "shape" and (p <= N or hasattr(side.data, "toarray"))):
        values, vectors = np.linalg.eigh(side.covariance(ridge))
        count = flops.gemm(p, p, N) + flops.eigh(p) + 2 * p * p
        least = float(values[0] / values[-1]) if values[-1] > 0 else 0.0
        return Whitened(vectors / _roots(values), least, count)
    X = side.data - side.mean
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
    if wide and not ridge:
        keep = values > SINGULAR * values[0]
        vectors, values = vectors[:, keep], values[keep]
    return Whitened(vectors / _roots(values), float(bottom), count)


def _roots(values: Array) -> Array:
    """Return square roots; what is rounding becomes the smallest that is not."""
    return np.asarray(np.sqrt(np.maximum(values, SINGULAR * values.max())))


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
    k, (x, y) = k or oracle.k, oracle.sides
    M = x.times(left.W).T @ y.times(right.W) / oracle.count
    U, correlations, Vt = np.linalg.svd(M, full_matrices=False)
    N, (r, s) = oracle.count, M.shape
    p, q, _ = oracle.sizes
    count = flops.gemm(N, r, p) + flops.gemm(N, s, q) + flops.gemm(r, s, N) + flops.svd(r, s)
    count += flops.gemm(p, k, r) + flops.gemm(q, k, s) + r * s
    return Canonical(left.W @ U[:, :k], correlations[:k], right.W @ Vt[:k].T, count)


@dataclass(slots=True, kw_only=True)
class ExactState(State):
    """The weights.

    Attributes
    ----------
    point : ndarray, shape (p + q, k)
        A above B; the common start before the only step.
    """

    point: Array


@dataclass(frozen=True)
class Exact(Solver[PairsMatrices, ExactState]):
    """Canonical variables from the singular value decomposition of the whitened covariance.

    With W_x'(S_xx + ridge I)W_x = I and W_y likewise, the singular values of W_x'S_xy W_y are the
    canonical correlations, and A = W_x U, B = W_y V. Each side is whitened by its covariance, or
    by a QR decomposition of the data, as its shape says.

    Parameters
    ----------
    by : {"shape", "gram", "qr"}
        By Gram where there are at least as many pairs as columns, otherwise by QR, which never
        forms a matrix (p, p); or one of them for both sides. QR keeps digits of ill-conditioned
        data that Gram squares away.

    Notes
    -----
    By Gram 2Np² + 9p³ flops a side, by QR 2Npm - 2m³/3 and a singular value decomposition (m, m)
    with m = min(N, p); then 2N(p² + q² + pq) for the whitened covariance, and a singular value
    decomposition of it. Memory: 2(p² + q²) + N(p + q) doubles.

    References
    ----------
    Hotelling 1936, "Relations between two sets of variates"; by QR Björck and Golub 1973,
    "Numerical methods for computing angles between linear subspaces"; by Gram Mardia, Kent and
    Bibby 1979, theorem 10.2.1.
    """

    by: str = parameter("shape", help="how sides are whitened", choices=("shape", "gram", "qr"))

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "cca-exact"
    source: ClassVar[str] = "Hotelling 1936"

    def init(self, oracle: PairsMatrices, rng: np.random.Generator) -> ExactState:
        """Return the common start.

        Raises
        ------
        UsageError
            Where sparse data are to be whitened by QR.
        """
        del rng
        if self.by == "qr" and any(hasattr(side.data, "toarray") for side in oracle.sides):
            raise UsageError("by=qr makes sparse data dense; pass by=gram")
        return ExactState(point=oracle.start.copy())

    def step(self, oracle: PairsMatrices, state: ExactState) -> None:
        """Compute the weights, which ends the run."""
        left, right = (whitened(side, oracle.ridge, self.by) for side in oracle.sides)
        found = canonical(oracle, left, right)
        state.point = np.vstack([found.A, found.B])
        state.work.steps += 1
        state.work.flops += left.flops + right.flops + found.flops
        state.status = Status.CONVERGED

    def solution(self, state: ExactState) -> Solution:
        """Return A above B."""
        return Solution(state.point.copy())
