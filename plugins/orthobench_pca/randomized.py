"""Randomized subspace iteration and block Krylov iterations, with products alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, Status, complete, flops, parameter
from orthobench_pca.base import DirectSolver, PCASolver, PCAState
from orthobench_pca.oracle import PCAOracle

BLOCKS = 12
"""Blocks of a Krylov basis, at which it is compressed to the leading Ritz vectors."""


@dataclass(frozen=True)
class RandomizedPCA(DirectSolver):
    """Randomized subspace iteration, from a Gaussian block.

    Q <- orth(Z'ZQ) `n_iter` times and once before, then the leading right singular vectors of ZQ.

    Parameters
    ----------
    n_iter, oversampling : int

    Notes
    -----
    With b = k + oversampling columns, flops: 4rdb for each iteration, 2rdb and 2rb² at the end, and
    a QR (d, b) in each. Memory: b(r + d) numbers. 2 n_iter + 4 passes, with that for the mean.

    References
    ----------
    Halko, Martinsson and Tropp 2011, "Finding structure with randomness", Algorithms 4.4 and 5.1.
    """

    name: ClassVar[str] = "randomized-pca"
    source: ClassVar[str] = "Halko, Martinsson and Tropp 2011, Algorithms 4.4 and 5.1"

    n_iter: int = parameter(4, help="power iterations", low=0)
    oversampling: int = parameter(10, help="columns beyond those sought", low=0)

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> tuple[Any, int]:
        """Iterate."""
        rows, d, k = oracle.rows, oracle.n, oracle.k
        b = min(k + self.oversampling, rows, d)
        Q = np.linalg.qr(oracle.transposed_times(rng.standard_normal((rows, b))))[0]
        for _ in range(self.n_iter):
            Q = np.linalg.qr(oracle.transposed_times(oracle.times(Q)))[0]
        R = np.linalg.qr(oracle.times(Q), mode="r")
        found = Q @ np.linalg.svd(R)[2][:k].T
        round_trip = 2 * flops.gemm(rows, b, d) + flops.qr(d, b)
        return found, (self.n_iter + 1) * round_trip + flops.qr(rows, b) + flops.svd(b, b)


@dataclass(slots=True, kw_only=True)
class KrylovState(PCAState):
    """A Krylov basis with its products.

    Attributes
    ----------
    Q, W : ndarray, shape (n, m)
        An orthonormal basis, and Z'ZQ; shape (rows, m) and ZZ'Q where rows are fewer.
    H : ndarray, shape (n, m), optional
        Z'Q, where rows are fewer.
    T : ndarray, shape (m, m)
        Q'Z'ZQ.
    fresh : ndarray, shape (n, b)
        The columns that the next step adds to Q.
    """

    Q: Array
    W: Array
    H: Array | None
    T: Array
    fresh: Array


@dataclass(frozen=True)
class BlockKrylovPCA(PCASolver[KrylovState]):
    """Block Krylov iterations with Rayleigh and Ritz at each step, from a Gaussian block.

    A step multiplies a block by Z'Z, or by ZZ' where rows are fewer, and continues with the
    residuals of the leading Ritz vectors, which span the same Krylov space; at 12 blocks the basis
    is compressed to these vectors. It ends where the residuals of the k leading ones are below the
    tolerance.

    Parameters
    ----------
    tolerance : float
        Of the residual, over the first Ritz value.
    oversampling : int
        Columns of a block beyond those sought.

    Notes
    -----
    With b columns, flops of a step: 4rdb for the product, 8smb to orthonormalize against m columns
    of the smaller side s, and 9m³ + 6smb for the Ritz vectors. Memory: 24 s b numbers, and 12 d b
    where rows are fewer. Two passes a step.

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
        """Draw a block."""
        b = min(oracle.k + self.oversampling, oracle.rows, oracle.n)
        first = oracle.times if oracle.rows < oracle.n else oracle.transposed_times
        block = first(rng.standard_normal((max(oracle.rows, oracle.n), b)))
        fresh = np.linalg.qr(block)[0]
        nothing = np.empty((len(fresh), 0), fresh.dtype)
        state = KrylovState(
            basis=oracle.start, rng=rng, Q=nothing, W=nothing, T=np.empty((0, 0), fresh.dtype),
            H=np.empty((oracle.n, 0), fresh.dtype) if oracle.rows < oracle.n else None, fresh=fresh,
            passes=oracle.passes, products=oracle.products,
        )  # fmt: skip
        state.work.flops = flops.gemm(oracle.rows, b, oracle.n) + flops.qr(len(fresh), b)
        state.work.flops += oracle.rows * oracle.n * oracle.center  # the mean
        return state

    def step(self, oracle: PCAOracle, state: KrylovState) -> None:
        """Multiply, find Ritz vectors, and prepare the next block."""
        b, k, fresh = state.fresh.shape[1], oracle.k, state.fresh
        if state.H is None:
            product = oracle.transposed_times(oracle.times(fresh))
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
        right = V if state.H is None else np.linalg.qr(state.H @ Y[:, :k])[0]
        state.basis = complete(right, oracle.start.astype(V.dtype), k)
        self._count(oracle, state, b)
        worst = float(np.linalg.norm(residuals[:, :k], axis=0).max())
        floor = max(self.tolerance, 8 * float(np.finfo(V.dtype).eps))
        state.fresh = _expansion(Q, residuals, floor * float(values[0]) * 1e-3)
        if worst <= floor * float(values[0]) or not state.fresh.shape[1]:
            state.status = Status.CONVERGED
        elif Q.shape[1] > BLOCKS * kept:
            state.Q, state.W, state.T = V, W @ Y, np.diag(values)
            state.H = None if state.H is None else state.H @ Y

    def _count(self, oracle: PCAOracle, state: KrylovState, b: int) -> None:
        rows, d, (side, m) = oracle.rows, oracle.n, state.Q.shape
        state.passes, state.products = oracle.passes, oracle.products
        state.work.steps += 1
        state.work.flops += 2 * flops.gemm(rows, b, d) + 8 * side * m * b
        state.work.flops += flops.eigh(m) + 3 * flops.gemm(side, b, m)
        state.work.flops += flops.svd(side, b) + flops.qr(side, b)


def _expansion(Q: Array, residuals: Array, floor: float) -> Array:
    """Return orthonormal columns for the directions of residuals that a basis lacks."""
    room = min(residuals.shape[1], Q.shape[0] - Q.shape[1])
    R = residuals - Q @ (Q.T @ residuals)
    left, lengths, _ = np.linalg.svd(R, full_matrices=False)
    fresh = left[:, :room][:, lengths[:room] > floor]
    fresh = fresh - Q @ (Q.T @ fresh)
    found: Array = np.linalg.qr(fresh)[0]
    return found
