"""Block Krylov and subspace iteration on all samples so far."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np
from orthobench_kit.arrays import like

from orthobench.contract import (
    Array,
    ArraySolver,
    BlockOracle,
    SampleOracle,
    Solution,
    Status,
    Summary,
    SummarySolver,
    complete,
    copied,
    flops,
    namespace,
    orthonormalize,
    parameter,
)
from orthobench.tools.arrays import in_rows
from orthobench_stochastic_pca._kernels.sums import Samples, block_product, moment_product, product
from orthobench_stochastic_pca.blocks import ModeratedState, fail_unless_finite, moderated

NULL = 450
"""Singular value that is rounding, relative to the largest, in units of eps."""


def null(A: Any) -> float:
    """Return the relative singular value that is rounding."""
    return NULL * float(namespace(A).finfo(A.dtype).eps)


class Space(NamedTuple):
    """A subspace with orthonormal basis (s, m); its `last` directions are to be multiplied by AA'.

    `T` is Q'AA'Q of the earlier ones.
    """

    basis: Any
    last: Any
    T: Any


class Pairs(NamedTuple):
    """Approximate eigenpairs of AA', leading first.

    Attributes
    ----------
    vectors : array, shape (m, k)
        In the basis of the subspace.
    residuals : array, shape (k,)
        |AA'u - value u|.
    T : array, shape (m, m)
        Q'AA'Q.
    rest : array, shape (s, width)
        The product, less its part in the subspace if that grows.
    """

    values: Any
    vectors: Any
    residuals: Any
    T: Any
    rest: Any

    def done(self, tolerance: float) -> bool:
        """Return whether all residuals are below `tolerance` times the largest eigenvalue."""
        return bool(namespace(self.values).max(self.residuals) <= tolerance * self.values[0])

    @property
    def rank(self) -> int:
        """The number of values above rounding."""
        least = null(self.values) * self.values[0]
        return int(namespace(self.values).count_nonzero(self.values > least))


def beginning(Q: Any) -> Space:
    """Return the subspace of orthonormal columns."""
    return Space(Q, Q, Q[:0, :0])


def _leading(T: Any, k: int) -> tuple[Any, Any]:
    xp = namespace(T)
    values, vectors = xp.linalg.eigh(T)
    return xp.flip(values[-k:]), xp.flip(vectors[:, -k:], axis=1)


@dataclass(frozen=True, kw_only=True)
class ProductSum(Summary):
    """The product X'XQ (d, b) of all samples X of some blocks."""

    product: Array


@dataclass(slots=True, kw_only=True)
class CollectedState(ModeratedState):
    """All samples X (n, d) so far, and the basis found from them, completed from `start`."""

    start: Any
    seed: int
    X: Any
    basis: Any


@dataclass(frozen=True)
class Randomized(
    ArraySolver[SampleOracle, CollectedState],
    SummarySolver[SampleOracle, CollectedState, ProductSum],
):
    """Base of the methods that decompose all samples at each checkpoint, from a random block.

    A (s, t) is X or X', s <= t. With blocks A has features in rows and Q begins as a random basis;
    a pass is a product AA'Q. A device waits once for each product.
    """

    oversampling: int = parameter(6, help="columns of the block beyond k", low=0)
    tolerance: float = parameter(1e-6, help="relative residual to end at", low=0.0)
    iterations: int = parameter(100, help="maximum number of products with the moment", low=1)

    reruns: ClassVar[bool] = True
    readings: ClassVar[float] = inf
    batch = 1

    @property
    def passes(self) -> float:  # type: ignore[override]
        return self.iterations

    @staticmethod
    @abstractmethod
    def pairs(space: Space, W: Any, k: int) -> Pairs:
        """Return k approximate eigenpairs of AA'; W is AA' times the last directions."""

    @staticmethod
    @abstractmethod
    def following(space: Space, pairs: Pairs, most: int) -> Space | None:
        """Return the next subspace, with at most `most` new directions, or None."""

    @staticmethod
    @abstractmethod
    def pairs_flops(s: int, m: int, width: int, k: int) -> int:
        """Return the flops of `pairs` for m directions, `width` new ones."""

    @staticmethod
    @abstractmethod
    def following_flops(s: int, m: int, width: int) -> int:
        """Return the flops of `following`."""

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> CollectedState:
        start, seed = copied(oracle.start), int(rng.integers(2**31))
        return CollectedState(start=start, seed=seed, X=copied(start.T[:0, :]), basis=start)

    def advance(self, oracle: SampleOracle, state: CollectedState, count: int) -> None:
        xp = namespace(state.X)
        state.X = xp.concat([state.X, moderated(state, oracle.take(count))])
        state.work.steps += count
        state.work.samples += count
        fail_unless_finite(state, state.X)
        if state.status is Status.RUNNING and xp.any(state.X != 0):
            found, state.work.flops = self.fit(state.X, oracle.k, state.seed)
            state.basis = complete(found, state.start, oracle.k)

    def solution(self, state: CollectedState) -> Solution:
        return Solution(copied(state.basis))

    def fit(self, X: Any, k: int, seed: int) -> tuple[Any, int]:
        """Return right singular vectors (d, <= k) above rounding of X (n, d), and the flops."""
        wide = X.shape[0] < X.shape[1]
        A = X if wide else X.T
        s, t = A.shape
        columns = min(k + self.oversampling, s)
        G = like(np.random.default_rng(seed).standard_normal((t, columns)), A)
        space = beginning(orthonormalize(product(A, G)))
        count = flops.gemm(s, columns, t) + flops.qr(s, columns)
        k = min(k, s)
        for products in range(1, self.iterations + 1):
            m, width = space.basis.shape[1], space.last.shape[1]
            found = self.pairs(space, moment_product(A, space.last), k)
            count += 2 * flops.gemm(s, width, t) + self.pairs_flops(s, m, width, k)
            if products == self.iterations or found.done(self.tolerance):
                break
            more = self.following(space, found, columns)
            count += self.following_flops(s, m, width)
            if more is None:
                break
            space = more
        vectors = space.basis @ found.vectors
        count += flops.gemm(s, k, found.vectors.shape[0])
        U = in_rows(vectors[:, : found.rank])
        if not wide:
            return U, count
        rank = U.shape[1]
        return orthonormalize(A.T @ U), count + flops.gemm(t, rank, s) + flops.qr(t, rank)

    def summarize(self, oracle: BlockOracle, block: Samples) -> ProductSum:
        """Return the product of a block, 4db flops a sample."""
        Q = self._space(oracle).last
        spent = 2 * flops.gemm(len(block), Q.shape[1], Q.shape[0])
        return ProductSum(rows=len(block), product=block_product(block, Q), flops=spent)

    def merge(self, a: ProductSum, b: ProductSum) -> ProductSum:
        spent = a.flops + b.flops + a.product.size
        return ProductSum(rows=a.rows + b.rows, product=a.product + b.product, flops=spent)

    def finish(self, oracle: BlockOracle, summary: ProductSum) -> Solution:
        space = self._space(oracle)
        found = self.pairs(space, summary.product, oracle.k)
        vectors = space.basis @ found.vectors[:, : found.rank]
        return Solution(complete(vectors, oracle.start, oracle.k))

    def proceed(self, oracle: BlockOracle, summary: ProductSum) -> Mapping[str, Any] | None:
        space = self._space(oracle)
        found = self.pairs(space, summary.product, oracle.k)
        if found.done(self.tolerance):
            return None
        more = self.following(space, found, oracle.k + self.oversampling)
        return None if more is None else more._asdict()

    def flops(self, oracle: BlockOracle, summary: ProductSum) -> int:
        space = self._space(oracle)
        (s, m), width, k = space.basis.shape, space.last.shape[1], oracle.k
        own = self.pairs_flops(s, m, width, k) + self.following_flops(s, m, width)
        return summary.flops + own + flops.gemm(s, k, m)

    def _space(self, oracle: BlockOracle) -> Space:
        if oracle.shared:
            return Space(**oracle.shared)
        columns = min(oracle.k + self.oversampling, oracle.n)
        return beginning(orthonormalize(oracle.rng().standard_normal((oracle.n, columns))))


@dataclass(frozen=True)
class BlockKrylov(Randomized):
    """Randomized block Krylov iteration: the best approximation from a number of products.

    Q = orth[Y, AA'Y, ..., (AA')^q Y] for Y = AG and a Gaussian G, built block by block; the result
    is the leading eigenvectors of Q'AA'Q (Rayleigh-Ritz). It ends once the residuals are below the
    tolerance.

    Notes
    -----
    With blocks of b columns 4stb flops a product, 8sqb² and a QR (s, b) to orthonormalize the q-th,
    and 9(qb)³ for the eigenpairs. Memory: the samples, and 2sqb doubles.

    References
    ----------
    Musco and Musco 2015, "Randomized block Krylov methods for stronger and faster approximate
    singular value decomposition", Algorithm 2.
    """

    name: ClassVar[str] = "block-krylov"
    source: ClassVar[str] = "Musco and Musco 2015, Algorithm 2"

    @staticmethod
    def pairs(space: Space, W: Any, k: int) -> Pairs:
        xp, T = namespace(W), space.basis.T @ W
        if m := space.T.shape[0]:
            T = xp.concat([xp.concat([space.T, T[:m, :].T]), T], axis=1)
        values, Y = _leading(T, k)
        rest = W - space.basis @ T[:, -W.shape[1] :]
        residuals = xp.linalg.vector_norm(rest @ Y[-W.shape[1] :, :], axis=0)
        return Pairs(values, Y, residuals, T, rest)

    @staticmethod
    def following(space: Space, pairs: Pairs, most: int) -> Space | None:
        xp, (s, m) = namespace(pairs.rest), space.basis.shape
        most = min(most, s - m)
        if not most:
            return None
        left, values, _ = xp.linalg.svd(pairs.rest, full_matrices=False)
        least = null(pairs.rest) * pairs.values[0]
        Q = in_rows(left[:, : int(xp.count_nonzero(values > least))])
        Q = orthonormalize(Q - space.basis @ (space.basis.T @ Q))[:, :most]
        if not Q.shape[1]:
            return None
        return Space(xp.concat([space.basis, Q], axis=1), Q, pairs.T)

    @staticmethod
    def pairs_flops(s: int, m: int, width: int, k: int) -> int:
        return 2 * flops.gemm(s, width, m) + flops.eigh(m) + flops.gemm(s, k, width)

    @staticmethod
    def following_flops(s: int, m: int, width: int) -> int:
        if m == s:
            return 0
        return flops.svd(s, width) + 2 * flops.gemm(s, width, m) + flops.qr(s, width)


@dataclass(frozen=True)
class SubspaceIteration(Randomized):
    """Randomized subspace iteration, with Rayleigh and Ritz at each step.

    Q <- orth(AA'Q), from orth(AG) for a Gaussian G; the result is the leading eigenvectors of
    Q'AA'Q. It ends once the residuals are below the tolerance.

    Notes
    -----
    With b columns a step takes 4stb + 4sb² + 9b³ flops and a QR (s, b). Memory: the samples, and
    3sb doubles.

    References
    ----------
    Halko, Martinsson and Tropp 2011, "Finding structure with randomness", Algorithm 4.4.
    """

    name: ClassVar[str] = "subspace-iteration"
    source: ClassVar[str] = "Halko, Martinsson and Tropp 2011, Algorithm 4.4"

    @staticmethod
    def pairs(space: Space, W: Any, k: int) -> Pairs:
        Q = space.basis
        T = Q.T @ W
        values, Y = _leading(T, k)
        residuals = namespace(W).linalg.vector_norm(W @ Y - Q @ (Y * values), axis=0)
        return Pairs(values, Y, residuals, T, W)

    @staticmethod
    def following(space: Space, pairs: Pairs, most: int) -> Space:
        del space, most
        return beginning(orthonormalize(pairs.rest))

    @staticmethod
    def pairs_flops(s: int, m: int, width: int, k: int) -> int:
        del width
        return flops.gemm(s, m, m) + flops.eigh(m) + 2 * flops.gemm(s, k, m)

    @staticmethod
    def following_flops(s: int, m: int, width: int) -> int:
        del width
        return flops.qr(s, m)
