"""Randomized PCA of all samples so far: block Krylov and subspace iteration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from math import inf
from operator import iadd
from typing import Any, ClassVar, NamedTuple

import numpy as np

from orthobench.contract import (
    ArraySolver,
    SampleOracle,
    Solution,
    State,
    Status,
    complete,
    copied,
    flops,
    in_rows,
    is_plain,
    like,
    namespace,
    orthonormalize,
    parameter,
)
from orthobench_stochastic_pca.mini_batches import fail_unless_finite

SMALL_PRODUCT = 1_000_000
"""Multiplications up to which OpenBLAS uses its small-matrix kernel, which is twice as fast."""

NARROWEST = 8
"""Columns of a panel below which products are not split."""

NULL = 450
"""A singular value up to this times the rounding unit times the largest is rounding."""


@dataclass(slots=True, kw_only=True)
class CollectedState(State):
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
class Randomized(ArraySolver[SampleOracle, CollectedState]):
    """Base of the methods that decompose all samples at each checkpoint, from a random block.

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

    needs: ClassVar[type[SampleOracle]] = SampleOracle
    reruns: ClassVar[bool] = True
    readings: ClassVar[float] = inf
    batch = 1

    @abstractmethod
    def ritz(self, A: Any, Q: Any, k: int) -> Ritz:
        """Return k approximate eigenpairs of AA' from an orthonormal block Q of at least k."""

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> CollectedState:
        """Start without samples."""
        start, seed = copied(oracle.start), int(rng.integers(2**31))
        return CollectedState(start=start, seed=seed, X=copied(start.T[:0, :]), basis=start)

    def advance(self, oracle: SampleOracle, state: CollectedState, count: int) -> None:
        """Take `count` samples, and decompose all so far."""
        xp = namespace(state.X)
        state.X = xp.concat([state.X, oracle.take(count)])
        state.work.steps += count
        state.work.samples += count
        fail_unless_finite(state, state.X)
        if state.status is Status.RUNNING and xp.any(state.X != 0):
            found, state.work.flops = self.fit(state.X, oracle.k, state.seed)
            state.basis = complete(found, state.start, oracle.k)

    def step(self, oracle: SampleOracle, state: CollectedState) -> None:
        """Take one sample, and decompose all."""
        self.advance(oracle, state, 1)

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
        Y = reduce(iadd, (A[:, panel] @ G[panel, :] for panel in _panels(A, s * columns)))
        found = self.ritz(A, orthonormalize(Y), min(k, s))
        rank = int(namespace(A).count_nonzero(found.values > _null(A) * found.values[0]))
        U = in_rows(found.vectors[:, :rank])
        count = found.flops + flops.gemm(s, columns, t) + flops.qr(s, columns)
        if not wide:
            return U, count
        m = U.shape[1]
        return orthonormalize(A.T @ U), count + flops.gemm(t, m, s) + flops.qr(t, m)


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

    def ritz(self, A: Any, Q: Any, k: int) -> Ritz:
        """Return the k leading Ritz pairs of the Krylov space."""
        xp, (s, b) = namespace(A), Q.shape
        basis, T, count = Q, Q[:0, :0], 0
        for products in range(1, self.iterations + 1):
            W, m = _product(A, Q), basis.shape[1]
            T = _bordered(T, basis.T @ W)
            values, Y = _leading(T, k)
            rest = W - basis @ T[:, -W.shape[1] :]
            residuals = xp.linalg.vector_norm(rest @ Y[-W.shape[1] :, :], axis=0)
            count += 2 * flops.gemm(s, Q.shape[1], A.shape[1] + m) + flops.eigh(m)
            count += flops.gemm(s, k, Q.shape[1])
            width = min(b, s - m)
            if _done(residuals, values, self.tolerance) or not width:
                break
            if products < self.iterations:
                Q = _new_directions(basis, rest, _null(A) * values[0])[:, :width]
                count += flops.svd(*rest.shape) + 2 * flops.gemm(s, rest.shape[1], m)
                count += flops.qr(s, rest.shape[1])
                if not Q.shape[1]:  # the space is invariant
                    break
                basis = xp.concat([basis, Q], axis=1)
        return Ritz(values, basis @ Y, count + flops.gemm(s, k, Y.shape[0]))


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

    def ritz(self, A: Any, Q: Any, k: int) -> Ritz:
        """Return the k leading Ritz pairs of the last block."""
        xp, (s, b) = namespace(A), Q.shape
        count = 0
        for products in range(1, self.iterations + 1):
            W = _product(A, Q)
            T = Q.T @ W
            values, Y = _leading(T, k)
            residuals = xp.linalg.vector_norm(W @ Y - Q @ (Y * values), axis=0)
            count += 2 * flops.gemm(s, b, A.shape[1]) + flops.gemm(s, b, b) + flops.eigh(b)
            count += 2 * flops.gemm(s, k, b)
            if products == self.iterations or _done(residuals, values, self.tolerance):
                break
            Q = orthonormalize(W)
            count += flops.qr(s, b)
        return Ritz(values, Q @ Y, count + flops.gemm(s, k, b))


def _product(A: Any, Q: Any) -> Any:
    """Return AA'Q; NumPy reads A once, in panels that stay in the cache."""
    panels = _panels(A, Q.shape[0] * Q.shape[1])
    return reduce(iadd, (A[:, panel] @ (A[:, panel].T @ Q) for panel in panels))


def _panels(A: Any, size: int) -> Iterator[slice]:
    """Yield ranges of columns of A whose products with a matrix of so many entries are small."""
    columns: int = A.shape[1]
    width = SMALL_PRODUCT // size
    width = width if is_plain(A) and width >= NARROWEST else columns
    for first in range(0, columns, width):
        yield slice(first, min(first + width, columns))


def _leading(T: Any, k: int) -> tuple[Any, Any]:
    """Return the k leading eigenpairs of a symmetric matrix, largest first."""
    xp = namespace(T)
    values, vectors = xp.linalg.eigh(T)
    return xp.flip(values[-k:]), xp.flip(vectors[:, -k:], axis=1)


def _done(residuals: Any, values: Any, tolerance: float) -> bool:
    return bool(namespace(values).max(residuals) <= tolerance * values[0])


def _bordered(T: Any, column: Any) -> Any:
    """Return a symmetric matrix with a further block, from the last columns of the result."""
    xp, m = namespace(column), T.shape[0]
    if not m:
        return column
    return xp.concat([xp.concat([T, column[:m, :].T]), column], axis=1)


def _new_directions(basis: Any, block: Any, rounding: Any) -> Any:
    """Return an orthonormal basis of what a block, once orthogonalized, adds to a basis.

    It is orthogonalized again: in directions where the block is small, little of the basis that is
    left in it is much. Directions where it is rounding are dropped.
    """
    xp = namespace(block)
    left, values, _ = xp.linalg.svd(block, full_matrices=False)
    Q = in_rows(left[:, : int(xp.count_nonzero(values > rounding))])
    return orthonormalize(Q - basis @ (basis.T @ Q))


def _null(A: Any) -> float:
    """Return what a singular value of rounding is up to, relative to the largest."""
    return NULL * float(namespace(A).finfo(A.dtype).eps)
