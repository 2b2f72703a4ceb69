"""A block Krylov method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, Solver, State, Status, flops, parameter
from orthobench_cca.canonical import by_cholesky
from orthobench_cca.oracle import Centred, PairsMatrices, PassesSolution, halves

DROPPED = 1e-12
"""Relative eigenvalue of a basis's Gram matrix below which it is rounding."""

STEPS = 20
"""Number of steps for the choice between conjugate gradients and a factor."""


@dataclass(slots=True, kw_only=True)
class KrylovState(State):
    """The Ritz vectors A (p, k) and B (q, k), and the subspaces that they come from.

    Attributes
    ----------
    block : ndarray
        The scores of x, shape (N, b), with which the next step begins.
    bases, scores : tuple of ndarray, shapes (p, j), (q, j) and (N, j) each
    inverses : tuple of ndarray, shapes (p,), (q,)
        One over the variances of the columns.
    roots : tuple of ndarray or None, shapes (p, p), (q, q)
        Inverse factors of the covariances, if used.
    captured, products
        The sum of the correlations, and the number of products with X, Y, or their transposes.
    """

    A: Array
    B: Array
    block: Array
    bases: tuple[Array, Array]
    scores: tuple[Array, Array]
    inverses: tuple[Array, Array]
    roots: tuple[Array | None, ...]
    captured: float = 0.0
    products: int = 0


@dataclass(frozen=True)
class BlockKrylov(Solver[PairsMatrices, KrylovState]):
    """Block Krylov subspaces of S_xx^-1 S_xy S_yy^-1 S_yx, and canonical variables in them.

    A step regresses the scores XP of a block on y, and the result on x, by `inner` conjugate
    gradients each, preconditioned by the variances of columns, or by the Cholesky factor of a
    dense, well-conditioned, narrow side. Both results join the bases, in which canonical variables
    are exact; bases of `blocks` blocks are replaced by the Ritz vectors. It ends if the sum of
    correlations gains less than `tolerance` of itself.

    Notes
    -----
    A step takes 4 `inner` + 4 products of X or Y with a block (., b), b = k + `oversampling`, 2Npb
    flops each if X is dense. Bases of j columns take 14Nj² and 6(p + q)j². A factor takes 2Np² +
    2p³/3 once, and a regression with it 2Npb + 4p²b. Memory: j(p + q + 2N) doubles beside the
    data, and p² for a factor.

    References
    ----------
    Musco and Musco 2015, "Randomized block Krylov methods for stronger and faster approximate
    singular value decomposition", for the whitened operator; regressions in place of whitening as
    in Golub and Zha 1995 and Ge et al. 2016.
    """

    oversampling: int = parameter(5, help="columns of a block beyond k", low=0)
    inner: int = parameter(10, help="conjugate gradients of a regression", low=1)
    blocks: int = parameter(4, help="blocks of a basis", low=2)
    tolerance: float = parameter(
        1e-8, help="relative gain of the sum of correlations at convergence", low=0.0
    )

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "cca-block-krylov"
    source: ClassVar[str] = "Musco and Musco 2015"

    def init(self, oracle: PairsMatrices, rng: np.random.Generator) -> KrylovState:
        A, B = halves(oracle.start, oracle.p)
        width = min(oracle.k + self.oversampling, oracle.p, oracle.n - oracle.p)
        others = rng.standard_normal((oracle.p, width - oracle.k)) / oracle.p**0.5
        spread = [side.variances() + oracle.ridge for side in oracle.sides]
        inverses = [1 / np.where(found > 0, found, 1.0) for found in spread]
        formed = [
            self._root(side, oracle.ridge, inverse, width)
            for side, inverse in zip(oracle.sides, inverses, strict=True)
        ]
        scaled = np.hstack([A, others])
        state = KrylovState(
            A=A.copy(),
            B=B.copy(),
            block=oracle.sides[0].times(scaled * np.sqrt(inverses[0])[:, None]),
            products=1,
            bases=(np.empty((oracle.p, 0)), np.empty((oracle.n - oracle.p, 0))),
            scores=(np.empty((oracle.count, 0)), np.empty((oracle.count, 0))),
            inverses=(inverses[0], inverses[1]),
            roots=tuple(root for root, _ in formed),
        )
        state.work.flops += sum(spent for _, spent in formed)
        state.products += sum(root is not None for root, _ in formed)
        return state

    def step(self, oracle: PairsMatrices, state: KrylovState) -> None:
        (x, y), N, width = oracle.sides, oracle.count, state.block.shape[1]
        Z = self._regressed(y, state.block, oracle.ridge, state.inverses[1], state.roots[1])
        V = y.times(Z)
        P = self._regressed(x, V, oracle.ridge, state.inverses[0], state.roots[0])
        joined = zip(state.bases, state.scores, (P, Z), (x.times(P), V), strict=True)
        left, right = (
            _whitened(np.hstack([M, new]), np.hstack([S, fresh]), oracle.ridge)
            for M, S, new, fresh in joined
        )
        U, found, Wt = np.linalg.svd(left[1].T @ right[1] / N, full_matrices=False)
        turned = [(M @ T, S @ T) for (M, S), T in ((left, U), (right, Wt.T))]
        state.A, state.B = (M[:, : oracle.k] for M, _ in turned)
        state.block = turned[0][1][:, :width]
        joint = state.bases[0].shape[1] + width
        kept = width if len(found) > (self.blocks - 1) * width else len(found)
        state.bases = (turned[0][0][:, :kept], turned[1][0][:, :kept])
        state.scores = (turned[0][1][:, :kept], turned[1][1][:, :kept])
        self._count(oracle, state, width, joint, len(found))
        captured = float(found[: oracle.k].sum())
        if not np.isfinite(captured):
            state.status, state.reason = Status.FAILED, "the weights are not finite"
        elif captured - state.captured <= self.tolerance * captured:
            state.status = Status.CONVERGED
        state.captured = captured

    def _root(
        self, side: Centred, ridge: float, inverse: Array, width: int
    ) -> tuple[Array | None, int]:
        """Return W with WW'(S + ridge I) = I, or None if that is not cheaper; and flops."""
        N, p = side.data.shape
        if hasattr(side.data, "toarray") or p > min(N, 2 * STEPS * self.inner * width):
            return None, 0
        units, S = np.sqrt(inverse)[:, None], side.covariance(ridge)
        found = by_cholesky(S * units * units.T, N)
        if found is None:
            return None, flops.gemm(p, p, N) + p**3 // 3
        return units * found.W, found.flops

    def _regressed(
        self, side: Centred, scores: Array, ridge: float, inverse: Array, root: Array | None
    ) -> Array:
        N = len(scores)
        rest = side.adjoint(scores) / N
        if root is not None:
            return np.asarray(root @ (root.T @ rest))
        found = np.zeros_like(rest)
        preconditioned = inverse[:, None] * rest
        direction, before = preconditioned, np.einsum("ij,ij->j", rest, preconditioned)
        for _ in range(self.inner):
            image = side.adjoint(side.times(direction)) / N + ridge * direction
            curvature = np.einsum("ij,ij->j", direction, image)
            length = np.divide(before, curvature, np.zeros_like(before), where=curvature > 0)
            found = found + direction * length
            rest = rest - image * length
            preconditioned = inverse[:, None] * rest
            after = np.einsum("ij,ij->j", rest, preconditioned)
            ratio = np.divide(after, before, np.zeros_like(before), where=before > 0)
            direction, before = preconditioned + direction * ratio, after
        return found

    def _count(
        self, oracle: PairsMatrices, state: KrylovState, width: int, joint: int, kept: int
    ) -> None:
        p, q, _ = oracle.sizes
        N = oracle.count
        for side, root in zip(oracle.sides, state.roots, strict=True):
            entries, columns = int(getattr(side.data, "nnz", side.data.size)), side.data.shape[1]
            inner = self.inner if root is None else 0
            state.products += 2 * inner + 2
            state.work.flops += (2 * inner + 2) * (2 * entries + N) * width
            state.work.flops += 12 * inner * columns * width
            state.work.flops += 0 if root is None else 4 * columns * columns * width
        state.work.steps += 1
        state.work.flops += 2 * flops.eigh(joint) + flops.svd(kept, kept)
        for rows in (N, N, p + q):
            state.work.flops += flops.gemm(joint, joint, rows) + flops.gemm(rows, kept, joint)
            state.work.flops += flops.gemm(rows, kept, kept)
        state.work.flops += flops.gemm(kept, kept, N)

    def solution(self, state: KrylovState) -> Solution:
        return PassesSolution(np.vstack([state.A, state.B]), passes=state.products / 2)


def _whitened(basis: Array, scores: Array, ridge: float) -> tuple[Array, Array]:
    squares = np.einsum("ij,ij->j", scores, scores) / len(scores)
    lengths = np.sqrt(squares + ridge * np.einsum("ij,ij->j", basis, basis)) + 1e-300
    basis, scores = basis / lengths, scores / lengths
    S = scores.T @ scores / len(scores) + ridge * basis.T @ basis
    values, vectors = np.linalg.eigh(S)
    kept = values > DROPPED * values[-1]
    T = vectors[:, kept] / np.sqrt(values[kept])
    return basis @ T, scores @ T
