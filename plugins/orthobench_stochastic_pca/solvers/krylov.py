"""Randomized PCA of all samples so far: block Krylov and subspace iteration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import (
    ArraySolver,
    BlockOracle,
    SampleOracle,
    Solution,
    Status,
    SummarySolver,
    complete,
    copied,
    flops,
    namespace,
    orthonormalize,
    parameter,
)
from orthobench.tools.arrays import in_rows, like
from orthobench_stochastic_pca._kernels.product_sums import (
    ProductSum,
    merged,
    moment_product,
    product,
    product_sum,
)
from orthobench_stochastic_pca._kernels.rayleigh_ritz import (
    Pairs,
    Space,
    beginning,
    grown,
    grown_flops,
    krylov_pairs,
    krylov_pairs_flops,
    null,
    subspace_pairs,
    subspace_pairs_flops,
)
from orthobench_stochastic_pca.mini_batches import ModeratedState, fail_unless_finite, moderated


@dataclass(slots=True, kw_only=True)
class CollectedState(ModeratedState):
    """All samples so far, and the basis found from them.

    Attributes
    ----------
    start : array, shape (d, k)
        Completes the solution while the samples span fewer than k dimensions.
    seed : int
        Of the random block that every decomposition begins with.
    X : array, shape (n, d)
    basis : array, shape (d, k)
    """

    start: Any
    seed: int
    X: Any
    basis: Any


class Ritz(NamedTuple):
    """Approximate eigenpairs of AA' from a subspace, leading first.

    Attributes
    ----------
    values : array, shape (k,)
    vectors : array, shape (s, k)
    flops : int
        Of all that led to them.
    """

    values: Any
    vectors: Any
    flops: int


@dataclass(frozen=True)
class Randomized(
    ArraySolver[SampleOracle, CollectedState],
    SummarySolver[SampleOracle, CollectedState, ProductSum],
):
    """Base of the methods that decompose all samples at each checkpoint, from a random block.

    With blocks a pass is a product, and A has features in rows: AA'Q is the sum of the products of
    all blocks, and Q begins as a random basis.

    A (s, t) is the shorter way of the samples, s <= t: features or samples in rows. On a device
    it waits once for each product, to see whether the residuals are small.

    Parameters
    ----------
    oversampling : int
        Columns of the block beyond k.
    tolerance : float
        Norm of the residual |AA'u - value u| of each of the k pairs to end at, relative to the
        largest eigenvalue.
    iterations : int
        Most products with AA'.
    """

    oversampling: int = parameter(6, help="columns of the block beyond k", low=0)
    tolerance: float = parameter(1e-6, help="relative residual to end at", low=0.0)
    iterations: int = parameter(100, help="most products with the second moment", low=1)

    reruns: ClassVar[bool] = True
    readings: ClassVar[float] = inf
    batch = 1

    @property
    def passes(self) -> float:  # type: ignore[override]
        """One for each product."""
        return self.iterations

    @abstractmethod
    def pairs(self, space: Space, W: Any, k: int) -> Pairs:
        """Return k approximate eigenpairs of AA' from a subspace and its product."""

    @abstractmethod
    def following(self, space: Space, pairs: Pairs, most: int) -> Space | None:
        """Return the next subspace, with at most so many new directions; None where none is new."""

    @abstractmethod
    def pairs_flops(self, s: int, m: int, width: int, k: int) -> int:
        """Return the flops of `pairs`, of m directions of which `width` are new."""

    @abstractmethod
    def following_flops(self, s: int, m: int, width: int) -> int:
        """Return the flops of `following`."""

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> CollectedState:
        """Start without samples."""
        start, seed = copied(oracle.start), int(rng.integers(2**31))
        return CollectedState(start=start, seed=seed, X=copied(start.T[:0, :]), basis=start)

    def advance(self, oracle: SampleOracle, state: CollectedState, count: int) -> None:
        """Take `count` samples, and decompose all so far."""
        xp = namespace(state.X)
        state.X = xp.concat([state.X, moderated(state, oracle.take(count))])
        state.work.steps += count
        state.work.samples += count
        fail_unless_finite(state, state.X)
        if state.status is Status.RUNNING and xp.any(state.X != 0):
            found, state.work.flops = self.fit(state.X, oracle.k, state.seed)
            state.basis = complete(found, state.start, oracle.k)

    def solution(self, state: CollectedState) -> Solution:
        """Return the basis, shape (d, k)."""
        return Solution(copied(state.basis))

    def fit(self, X: Any, k: int, seed: int) -> tuple[Any, int]:
        """Return leading right singular vectors of the samples, and the flops.

        Parameters
        ----------
        X : array, shape (n, d)
            Not all zero.
        k : int
        seed : int

        Returns
        -------
        basis : array, shape (d, <= k)
            Those whose singular values are above rounding.
        flops : int
        """
        wide = X.shape[0] < X.shape[1]
        A = X if wide else X.T
        s, t = A.shape
        columns = min(k + self.oversampling, s)
        G = like(np.random.default_rng(seed).standard_normal((t, columns)), A)
        found = self.ritz(A, orthonormalize(product(A, G)), min(k, s))
        rank = int(namespace(A).count_nonzero(found.values > null(A) * found.values[0]))
        U = in_rows(found.vectors[:, :rank])
        count = found.flops + flops.gemm(s, columns, t) + flops.qr(s, columns)
        if not wide:
            return U, count
        m = U.shape[1]
        return orthonormalize(A.T @ U), count + flops.gemm(t, m, s) + flops.qr(t, m)

    def ritz(self, A: Any, Q: Any, k: int) -> Ritz:
        """Return k approximate eigenpairs of AA' from an orthonormal block Q of at least k."""
        (s, t), b = A.shape, Q.shape[1]
        space, count = beginning(Q), 0
        for products in range(1, self.iterations + 1):
            m, width = space.basis.shape[1], space.last.shape[1]
            found = self.pairs(space, moment_product(A, space.last), k)
            count += 2 * flops.gemm(s, width, t) + self.pairs_flops(s, m, width, k)
            if products == self.iterations or found.done(self.tolerance):
                break
            more = self.following(space, found, b)
            count += self.following_flops(s, m, width)
            if more is None:
                break
            space = more
        vectors = space.basis @ found.vectors
        return Ritz(found.values, vectors, count + flops.gemm(s, k, found.vectors.shape[0]))

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> ProductSum:
        """Return the product of a block's second moment with the last directions."""
        return product_sum(block, self._space(oracle).last)

    def merge(self, a: ProductSum, b: ProductSum) -> ProductSum:
        """Return the sum of two products."""
        return merged(a, b)

    def finish(self, oracle: BlockOracle, summary: ProductSum) -> Solution:
        """Return the leading approximate eigenvectors after a pass, shape (d, k)."""
        space = self._space(oracle)
        found = self.pairs(space, summary.product, oracle.k)
        vectors = space.basis @ found.vectors[:, : found.rank]
        return Solution(complete(vectors, oracle.start, oracle.k))

    def proceed(self, oracle: BlockOracle, summary: ProductSum) -> Mapping[str, Any] | None:
        """Return the next subspace; None where the residuals are below the tolerance."""
        space = self._space(oracle)
        found = self.pairs(space, summary.product, oracle.k)
        if found.done(self.tolerance):
            return None
        more = self.following(space, found, oracle.k + self.oversampling)
        return None if more is None else more._asdict()

    def flops(self, oracle: BlockOracle, summary: ProductSum) -> int:
        """Return the flops of a pass."""
        space = self._space(oracle)
        (s, m), width, k = space.basis.shape, space.last.shape[1], oracle.k
        own = self.pairs_flops(s, m, width, k) + self.following_flops(s, m, width)
        return summary.flops + own + flops.gemm(s, k, m)

    def _space(self, oracle: BlockOracle) -> Space:
        """Return the subspace of a pass."""
        if oracle.shared:
            return Space(**oracle.shared)
        columns = min(oracle.k + self.oversampling, oracle.n)
        return beginning(orthonormalize(oracle.rng().standard_normal((oracle.n, columns))))


@dataclass(frozen=True)
class BlockKrylov(Randomized):
    """Randomized block Krylov iteration: the best of all that so many products can reach.

    Q = orth[Y, AA'Y, ..., (AA')^q Y] for Y = AG and a Gaussian G, built block by block; the result
    is the leading eigenvectors of Q'AA'Q (Rayleigh-Ritz). The blocks are orthonormalized as they
    come, since raw powers would lose all but the largest directions. It ends where the residuals,
    which cost no further product, are below the tolerance.

    It cannot be stepped: there is a decomposition at every checkpoint, each with its own time.

    Notes
    -----
    With blocks of b columns, flops of a product: 4stb; to orthonormalize the q-th against those
    before it twice, 8sqb² and a QR (s, b); and 9(qb)³ for the eigenpairs. Memory: the samples, and
    2sqb doubles.

    References
    ----------
    Musco and Musco 2015, "Randomized block Krylov methods for stronger and faster approximate
    singular value decomposition", Algorithm 2.
    """

    name: ClassVar[str] = "block-krylov"
    source: ClassVar[str] = "Musco and Musco 2015, Algorithm 2"

    def pairs(self, space: Space, W: Any, k: int) -> Pairs:
        """Return the k leading Ritz pairs of the Krylov space."""
        return krylov_pairs(space, W, k)

    def following(self, space: Space, pairs: Pairs, most: int) -> Space | None:
        """Return the Krylov space with the directions that the last product adds."""
        return grown(space, pairs, most)

    def pairs_flops(self, s: int, m: int, width: int, k: int) -> int:
        """Return the flops of `pairs`."""
        return krylov_pairs_flops(s, m, width, k)

    def following_flops(self, s: int, m: int, width: int) -> int:
        """Return the flops of `following`."""
        return grown_flops(s, m, width)


@dataclass(frozen=True)
class SubspaceIteration(Randomized):
    """Randomized subspace iteration, with Rayleigh and Ritz at each step.

    Q <- orth(AA'Q), from orth(AG) for a Gaussian G; the result is the leading eigenvectors of
    Q'AA'Q. It ends where the residuals are below the tolerance.

    It cannot be stepped: there is a decomposition at every checkpoint, each with its own time.

    Notes
    -----
    With b columns, flops of a step: 4stb for the product, 4sb² + 9b³ for the eigenpairs, and a QR
    (s, b). Memory: the samples, and 3sb doubles.

    References
    ----------
    Halko, Martinsson and Tropp 2011, "Finding structure with randomness", Algorithm 4.4.
    """

    name: ClassVar[str] = "subspace-iteration"
    source: ClassVar[str] = "Halko, Martinsson and Tropp 2011, Algorithm 4.4"

    def pairs(self, space: Space, W: Any, k: int) -> Pairs:
        """Return the k leading Ritz pairs of the last block."""
        return subspace_pairs(space, W, k)

    def following(self, space: Space, pairs: Pairs, most: int) -> Space:
        """Return the span of the last product."""
        del space, most
        return beginning(orthonormalize(pairs.rest))

    def pairs_flops(self, s: int, m: int, width: int, k: int) -> int:
        """Return the flops of `pairs`."""
        del width
        return subspace_pairs_flops(s, m, k)

    def following_flops(self, s: int, m: int, width: int) -> int:
        """Return the flops of `following`."""
        del width
        return flops.qr(s, m)
