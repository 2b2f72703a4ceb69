"""Randomized subspace and block Krylov iterations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Status, complete, flops, parameter
from orthobench_pca.base import DirectSolver, Found, PCASolver, PCAState
from orthobench_pca.judge import PCASolution
from orthobench_pca.oracle import PCAOracle

BLOCKS = 12
"""Number of blocks at which a Krylov basis is compressed."""


@dataclass(frozen=True)
class RandomizedPCA(DirectSolver):
    """Randomized subspace iteration, from a Gaussian block.

    Q <- orth(Z'ZQ) `n_iter` times. Then it takes the right singular vectors of the projection of Z
    on the range of ZQ, from the Nystrom approximation W (Q'W)^-1 W' of Z'Z with W = Z'ZQ. Singular
    values below 1e-8 of the first are lost. If rows are fewer than columns it iterates with ZZ'
    from ZQ, and takes left singular vectors of Z'Q.

    Notes
    -----
    With b = k + oversampling columns, flops: 4rdb for each of n_iter + 1 products, and a QR of the
    shorter block in each. Memory: 3bd numbers. Passes over dense matrices: n_iter + 2, or 2 n_iter
    + 3 if rows are fewer than columns.

    References
    ----------
    Halko, Martinsson and Tropp 2011, "Finding structure with randomness", Algorithms 4.4 and 5.1;
    Tropp, Yurtsever, Udell and Cevher 2017, "Fixed-rank approximation of a positive-semidefinite
    matrix from streaming data".
    """

    name: ClassVar[str] = "randomized-pca"
    source: ClassVar[str] = "Halko, Martinsson and Tropp 2011, Algorithms 4.4 and 5.1"

    n_iter: int = parameter(4, help="power iterations", low=0)
    oversampling: int = parameter(10, help="columns beyond those sought", low=0)

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> Found:
        rows, d, k = oracle.rows, oracle.n, oracle.k
        b = min(k + self.oversampling, rows, d)
        Q = rng.standard_normal((d, b))
        if rows < d:
            found = self._from_the_left(oracle, Q)[:, :k]
            each = 2 * flops.gemm(rows, b, d) + flops.qr(rows, b)
            return Found(found, (self.n_iter + 1) * each + flops.svd(d, b))
        for _ in range(self.n_iter):
            Q = np.linalg.qr(oracle.normal_times(Q))[0]
        found = _nystrom(Q, oracle.normal_times(Q))[:, :k]
        products = (self.n_iter + 1) * 2 * flops.gemm(rows, b, d)
        return Found(found, products + self.n_iter * flops.qr(d, b) + flops.svd(d, b))

    def _from_the_left(self, oracle: PCAOracle, Q: Array) -> Array:
        left = np.linalg.qr(oracle.times(Q))[0]
        for _ in range(self.n_iter):
            left = np.linalg.qr(oracle.times(oracle.transposed_times(left)))[0]
        found: Array = np.linalg.svd(oracle.transposed_times(left), full_matrices=False)[0]
        return found


def _nystrom(Q: Array, W: Array) -> Array:
    """Return the eigenvectors of W (Q'W)^-1 W' for W = CQ (n, b), leading first."""
    T = Q.T @ W
    values, vectors = np.linalg.eigh((T + T.T) / 2)
    kept = values > len(values) * float(np.finfo(W.dtype).eps) * abs(float(values[-1]))
    root = vectors[:, kept] / np.sqrt(values[kept])
    found: Array = np.linalg.svd(W @ root, full_matrices=False)[0]
    return found


@dataclass(slots=True, kw_only=True)
class KrylovState(PCAState):
    """A Krylov basis Q (n, m) with its products W = Z'ZQ and T = Q'W.

    If rows are fewer, Q and W = ZZ'Q have the shape (rows, m), and H is Z'Q (n, m). The next step
    adds `fresh` (n, b) to Q; Y (m, k) has the leading Ritz vectors in the basis.
    """

    Q: Array
    W: Array
    H: Array | None
    T: Array
    fresh: Array
    Y: Array | None = None


@dataclass(frozen=True)
class BlockKrylovPCA(PCASolver[KrylovState]):
    """Block Krylov iterations with Rayleigh-Ritz at each step, from a Gaussian block.

    A step multiplies a block by Z'Z, or by ZZ' if rows are fewer, and continues with the residuals
    of the leading Ritz vectors; at 12 blocks the basis is compressed to these. It ends when the
    residuals of the k leading vectors, over the first Ritz value, are below the tolerance:
    converged if their eigenvalues are all above it, and complete otherwise.

    Notes
    -----
    With b columns, flops of a step: 4rdb for the product, 8smb to orthonormalize against m columns
    of the smaller side s, and 9m³ + 6smb for the Ritz vectors. Memory: 24 s b numbers, and 12 d b
    if rows are fewer. One pass a step of dense matrices with at least as many rows as columns, two
    of others.

    References
    ----------
    Musco and Musco 2015, "Randomized block Krylov methods for stronger and faster approximate
    singular value decomposition", Algorithm 2.
    """

    name: ClassVar[str] = "block-krylov"
    source: ClassVar[str] = "Musco and Musco 2015, Algorithm 2"

    tolerance: float = parameter(1e-6, help="residual, relative to the first eigenvalue", above=0.0)
    oversampling: int = parameter(5, help="columns of a block beyond those sought", low=0)

    def init(self, oracle: PCAOracle, rng: np.random.Generator) -> KrylovState:
        side = min(oracle.rows, oracle.n)
        block = rng.standard_normal((side, min(oracle.k + self.oversampling, side)))
        fresh = np.linalg.qr(block)[0].astype(oracle.matrix.dtype)
        nothing = np.empty((len(fresh), 0), fresh.dtype)
        state = KrylovState(
            basis=oracle.start, rng=rng, Q=nothing, W=nothing, T=np.empty((0, 0), fresh.dtype),
            H=np.empty((oracle.n, 0), fresh.dtype) if oracle.rows < oracle.n else None, fresh=fresh,
            passes=oracle.passes, products=oracle.products,
        )  # fmt: skip
        state.work.flops = flops.qr(*fresh.shape)
        state.work.flops += oracle.rows * oracle.n * oracle.center  # the mean
        return state

    def step(self, oracle: PCAOracle, state: KrylovState) -> None:
        b, k, fresh = state.fresh.shape[1], oracle.k, state.fresh
        if state.H is None:
            product = oracle.normal_times(fresh)
        else:
            across = oracle.transposed_times(fresh)
            product, state.H = oracle.times(across), np.hstack([state.H, across])
        state.W, state.Q = np.hstack([state.W, product]), np.hstack([state.Q, fresh])
        Q, W = state.Q, state.W
        column = Q.T @ W[:, -b:]
        state.T = T = np.block([[state.T, column[:-b]], [column[:-b].T, column[-b:]]])
        values, Y = np.linalg.eigh((T + T.T) / 2)
        kept = min(Q.shape[1], oracle.k + self.oversampling)
        values, Y = values[::-1][:kept], Y[:, ::-1][:, :kept]
        V = Q @ Y
        residuals = W @ Y - V * values
        state.Y = Y[:, :k]
        if state.H is None:
            state.basis = complete(V, oracle.start.astype(V.dtype), k)
        self._count(oracle, state, b)
        # a power of two loses no bit
        unit = float(np.ldexp(1.0, np.frexp(np.abs(residuals).max())[1]))
        worst = unit * float(np.linalg.norm(residuals[:, :k] / unit, axis=0).max())
        floor = max(self.tolerance, 8 * float(np.finfo(V.dtype).eps))
        state.fresh = _expansion(Q, residuals, floor * float(values[0]) * 1e-3)
        if worst <= floor * float(values[0]) or not state.fresh.shape[1]:
            # smaller components are rounding, and so is their residual
            resolved = len(values) >= k and values[k - 1] > floor * values[0]
            state.status = Status.CONVERGED if resolved else Status.COMPLETE
            state.tolerance = floor
        elif Q.shape[1] > BLOCKS * kept:
            state.Q, state.W, state.T = V, W @ Y, np.diag(values)
            state.H = None if state.H is None else state.H @ Y
            state.Y = np.eye(kept, k, dtype=V.dtype)

    def solution(self, state: KrylovState) -> PCASolution:
        """Return the basis; if rows are fewer it is computed now, by a QR (n, k)."""
        if state.H is None or state.Y is None:
            return super().solution(state)
        right = np.linalg.qr(state.H @ state.Y)[0]
        found = complete(right, state.basis.astype(right.dtype), state.basis.shape[1])
        return replace(super().solution(state), point=found)

    def _count(self, oracle: PCAOracle, state: KrylovState, b: int) -> None:
        rows, d, (side, m) = oracle.rows, oracle.n, state.Q.shape
        state.passes, state.products = oracle.passes, oracle.products
        state.work.steps += 1
        state.work.flops += 2 * flops.gemm(rows, b, d) + 8 * side * m * b
        state.work.flops += flops.eigh(m) + 3 * flops.gemm(side, b, m)
        state.work.flops += flops.svd(side, b) + flops.qr(side, b)


def _expansion(Q: Array, residuals: Array, floor: float) -> Array:
    room = min(residuals.shape[1], Q.shape[0] - Q.shape[1])
    R = residuals - Q @ (Q.T @ residuals)
    left, lengths, _ = np.linalg.svd(R, full_matrices=False)
    fresh = left[:, :room][:, lengths[:room] > floor]
    fresh = fresh - Q @ (Q.T @ fresh)
    found: Array = np.linalg.qr(fresh)[0]
    return found
