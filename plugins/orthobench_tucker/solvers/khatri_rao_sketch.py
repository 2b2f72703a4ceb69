"""The Khatri-Rao sketch: a Tucker basis from one pass over samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import (
    AnyProblem,
    Array,
    BlockOracle,
    Solution,
    State,
    Status,
    SummarySolver,
    UsageError,
    complete,
    flops,
    orthonormalize,
    parameter,
    unit_columns,
)
from orthobench_tucker import MomentOracle, MomentStream, SymmetricTucker
from orthobench_tucker.sample_moments import integer_power, sample_blocks
from orthobench_tucker.streaming import BlockSum, added

OVERSAMPLING = 10
"""Default number of columns of a sketch beyond the rank."""

ROWS = 128
"""Number of samples in a block, few enough for OpenBLAS not to pack."""

SEEN = 1e-12
"""Singular value that is rounding, relative to the largest."""


@dataclass(slots=True, kw_only=True)
class SketchState(State):
    """The sketch of the samples so far.

    Attributes
    ----------
    start : ndarray, shape (n, r)
        Orthonormal columns that complete solutions.
    factors : ndarray, shape (d - 1, n, m)
        The Gaussian vectors.
    sums : ndarray, shape (n, m)
        The sketch times the number of samples; after power steps mat(M) mat(M)' times the last
        basis.
    """

    start: Array
    factors: Array
    sums: Array
    powered: bool = False


@dataclass(frozen=True)
class KhatriRaoSketch(SummarySolver[MomentStream, SketchState, BlockSum]):
    """Khatri-Rao sketch: leading left singular vectors of mat(M)Ω, Ω of Gaussian rank-one columns.

    Column j of the sketch is the mean of x (x'w_1j) ... (x'w_(d-1)j) over the samples x, with
    Gaussian vectors w. Columns get unit length before the singular value decomposition, since
    products of Gaussians are heavy-tailed. `power` steps Q <- orth(mat(M) mat(M)'Q), all in the
    last step of the pass, need all samples at once. `batch` changes only rounding.

    Notes
    -----
    2nbdm + (d - 2)bm flops a step of b samples, m = r + `oversampling`, 6nm² + 20m³ for a solution,
    and 2p²(n + m) a power step. Memory: (d + 1)nm doubles.

    References
    ----------
    Saibaba, Verma and Ballard 2025, "Improved analysis of Khatri-Rao random projections and
    applications" (arXiv 2507.23207), their range finder for Tucker bases, on the moment of samples.
    The unit columns are this project's.
    """

    oversampling: int = parameter(OVERSAMPLING, help="columns of the sketch beyond r", low=0)
    power: int = parameter(0, help="power steps after the pass, from all samples at once", low=0)
    batch: int = parameter(100, help="samples a step", low=1)

    name: ClassVar[str] = "khatri-rao-sketch"
    source: ClassVar[str] = "Saibaba, Verma and Ballard 2025"

    def refuses(self, problem: AnyProblem) -> str | None:
        streamed = isinstance(problem, SymmetricTucker) and problem.streamed
        if self.power and (streamed or self.place.reduces):
            return "does power steps here, which need all samples at once, and they only stream"
        return super().refuses(problem)

    def init(self, oracle: MomentStream, rng: np.random.Generator) -> SketchState:
        """Draw the Gaussian vectors.

        Raises
        ------
        UsageError
            If power steps are asked for, and samples are a stream.
        """
        if self.power and not isinstance(oracle, MomentOracle):
            raise UsageError("power steps need all samples at once: take power = 0")
        factors = self._factors((oracle.n, oracle.k, oracle.order), rng)
        return SketchState(
            start=oracle.start.copy(), factors=factors, sums=np.zeros(factors.shape[1:])
        )

    def step(self, oracle: MomentStream, state: SketchState) -> None:
        X = oracle.take(self.batch)
        state.sums += sketch_of(X, state.factors)
        state.work.steps += 1
        state.work.samples += len(X)
        n, columns = state.sums.shape
        state.work.flops += sketch_flops(len(X), n, columns, oracle.order) + n * columns
        if not np.isfinite(state.sums).all():
            state.status = Status.FAILED
            state.reason = "the sketch overflows: rescale the samples to lengths near one"
        elif self.power and isinstance(oracle, MomentOracle):
            self._iterate_at_the_end(oracle, state)

    def solution(self, state: SketchState) -> Solution:
        Z = state.sums if state.powered else unit_columns(state.sums)
        rank = state.start.shape[1]
        return Solution(complete(leading_directions(Z, rank), state.start, rank))

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> BlockSum:
        factors = self._factors(oracle.sizes, oracle.rng())
        n, columns = factors.shape[1:]
        spent = sketch_flops(len(block), n, columns, oracle.sizes[2])
        return BlockSum(rows=len(block), total=block_sketch(block, factors), flops=spent)

    def merge(self, a: BlockSum, b: BlockSum) -> BlockSum:
        return added(a, b)

    def finish(self, oracle: BlockOracle, summary: BlockSum) -> Solution:
        found = leading_directions(unit_columns(summary.total), oracle.k)
        return Solution(complete(found, oracle.start, oracle.k))

    def flops(self, oracle: BlockOracle, summary: BlockSum) -> int:
        return summary.flops + flops.svd(oracle.n, summary.total.shape[1])

    def _factors(self, sizes: tuple[int, ...], rng: np.random.Generator) -> Array:
        n, rank, order = sizes
        return rng.standard_normal((order - 1, n, min(n, rank + self.oversampling)))

    def _iterate_at_the_end(self, oracle: MomentOracle, state: SketchState) -> None:
        if state.work.samples < len(oracle.X):
            return
        state.sums = unit_columns(state.sums)
        for _ in range(self.power):
            state.sums = power_step(oracle.X, orthonormalize(state.sums), oracle.order)
            n, columns = state.sums.shape
            state.work.flops += power_flops(len(oracle.X), n, columns, oracle.order)
        state.powered, state.status = True, Status.COMPLETE


def sketch_of(X: NDArray[np.floating[Any]], factors: NDArray[np.floating[Any]]) -> Array:
    """Return the sum of x (x'w_1j) ... (x'w_(d-1)j) over samples (p, n), shape (n, m).

    `factors` is (d - 1, n, m). `sketch_flops`; memory pm.
    """
    products = X @ factors[0]
    for vectors in factors[1:]:
        products *= X @ vectors
    return np.asarray(X.T @ products)


def block_sketch(block: NDArray[np.floating[Any]], factors: Array) -> Array:
    """Return `sketch_of` many samples (p, n), summed in float64."""
    total, vectors = np.zeros(factors.shape[1:]), factors.astype(block.dtype, copy=False)
    for begin in range(0, len(block), ROWS):
        total += sketch_of(block[begin : begin + ROWS], vectors)
    return total


def sketch_flops(p: int, n: int, columns: int, order: int) -> int:
    """Return 2pndm + (d - 2)pm, the flops of `sketch_of`, m columns."""
    return order * flops.gemm(p, columns, n) + (order - 2) * p * columns


def leading_directions(Z: Array, rank: int) -> Array:
    """Return at most `rank` leading left singular vectors above rounding."""
    left, values, _ = np.linalg.svd(Z, full_matrices=False)
    found = int(np.count_nonzero(values > SEEN * values[0])) if values[0] > 0 else 0
    return np.asarray(left[:, : min(rank, found)])


def power_step(X: Array, Q: Array, order: int) -> Array:
    """Return X'((XX')^[d-1] XQ) / p² of samples X (p, n), for Q (n, m); `power_flops`."""
    inside, result = X @ Q, np.zeros(Q.shape)
    for block in sample_blocks(X, len(X)):
        result += block.T @ (integer_power(block @ X.T, order - 1) @ inside)
    return result / len(X) ** 2


def power_flops(p: int, n: int, columns: int, order: int) -> int:
    """Return 2p²n + 2p²m + (d - 2)p² + 4pnm, m columns."""
    return p * p * (2 * n + 2 * columns + order - 2) + 4 * p * n * columns


def sketched_basis(X: Array, order: int, rank: int, rng: np.random.Generator) -> Array:
    """Return nearly the leading left singular vectors of mat(M), from one pass over samples (p, n).

    Shape (n, r), or fewer columns if the moment has a lower rank; memory (d + 1)nm doubles.
    """
    columns = min(X.shape[1], rank + OVERSAMPLING)
    factors = rng.standard_normal((order - 1, X.shape[1], columns))
    Z = block_sketch(X, factors)
    return leading_directions(unit_columns(Z), rank)


def sketched_basis_flops(p: int, n: int, rank: int, order: int) -> int:
    """Return the flops of `sketched_basis`."""
    columns = min(n, rank + OVERSAMPLING)
    return sketch_flops(p, n, columns, order) + flops.svd(n, columns)
