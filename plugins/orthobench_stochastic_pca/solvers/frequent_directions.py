"""Frequent Directions: a sketch of few rows with a bounded error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import (
    Array,
    BlockOracle,
    SampleOracle,
    Solution,
    State,
    Status,
    Summary,
    SummarySolver,
    UsageError,
    complete,
    flops,
    parameter,
)
from orthobench_stochastic_pca._kernels.sums import second_moment
from orthobench_stochastic_pca.blocks import fail_unless_finite
from orthobench_stochastic_pca.solvers.batch_pca import gram_flops, leading_rows

NARROW = 16
"""Number of features, in units of `size`, up to which a block is shrunk at once."""


@dataclass(slots=True, kw_only=True)
class SketchState(State):
    """The sketch, and the samples since it was shrunk.

    Attributes
    ----------
    rows : ndarray, shape (2 size, d)
        The sketch, then samples: `filled` rows are in use.
    shrinking : int
        Number of flops of all shrinking so far.
    """

    start: Array
    rows: Array
    filled: int = 0
    shrinking: int = 0


@dataclass(frozen=True, kw_only=True)
class Sketch(Summary):
    """The sketch of some blocks, shape (< size, d)."""

    sketch: Array


@dataclass(frozen=True)
class FrequentDirections(SummarySolver[SampleOracle, SketchState, Sketch]):
    """PCA of a sketch B of the samples A, which is deterministic and can be merged.

    Samples fill a buffer of 2l rows, l = `size`. When it is full, s² <- max(s² - s_l², 0) for its
    singular values, which leaves l - 1 rows. So 0 <= A'A - B'B <= |A - A_j|² / (l - j) for all j <
    l, with the best approximation A_j of rank j. Samples of rank below l are kept exactly. Blocks
    are sketched separately (`sketched`), and sketches merged, within the same bound. On flat
    spectra `size` should be ten times k.

    Notes
    -----
    After each l + 1 samples 12l²d + 72l³ flops. The decomposition for the solution is counted once.
    Memory: 4ld doubles.

    References
    ----------
    Liberty 2013, "Simple and deterministic matrix sketching"; Ghashami, Liberty, Phillips and
    Woodruff 2016, "Frequent Directions", Algorithm 3.1 with a buffer of 2l rows. Liberty shrinks by
    the square of s_{l/2} instead, with another constant.
    """

    size: int = parameter(50, help="rows of the sketch", low=2, grid=(10, 25, 50, 100, 200))

    name: ClassVar[str] = "frequent-directions"
    source: ClassVar[str] = "Ghashami, Liberty, Phillips and Woodruff 2016"
    merge_error: ClassVar[float] = 0.2
    batch = 1

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> SketchState:
        """Start with an empty sketch.

        Raises
        ------
        UsageError
            If `size` is not above k.
        """
        del rng
        self._check_size(oracle.k)
        return SketchState(start=oracle.start.copy(), rows=np.zeros((2 * self.size, oracle.n)))

    def advance(self, oracle: SampleOracle, state: SketchState, count: int) -> None:
        samples = oracle.take(count)
        state.work.steps += count
        state.work.samples += count
        fail_unless_finite(state, samples)
        while len(samples) and state.status is Status.RUNNING:
            room = len(state.rows) - state.filled
            part, samples = samples[:room], samples[room:]
            state.rows[state.filled : state.filled + len(part)] = part
            state.filled += len(part)
            if state.filled == len(state.rows):
                kept = shrunk(state.rows, self.size)
                state.rows[: len(kept)], state.filled = kept, len(kept)
                state.shrinking += gram_flops(2 * self.size, oracle.n, len(kept))
        state.work.flops = state.shrinking + gram_flops(state.filled, oracle.n, oracle.k)

    def solution(self, state: SketchState) -> Solution:
        k = state.start.shape[1]
        return Solution(complete(leading_rows(state.rows[: state.filled], k), state.start, k))

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> Sketch:
        self._check_size(oracle.k)
        sketch, spent = sketched(block, self.size)
        return Sketch(rows=len(block), sketch=sketch, flops=spent)

    def merge(self, a: Sketch, b: Sketch) -> Sketch:
        both = np.concatenate([a.sketch, b.sketch])
        sketch = shrunk(both, self.size)
        spent = 0 if sketch is both else gram_flops(len(both), both.shape[1], len(sketch))
        return Sketch(rows=a.rows + b.rows, sketch=sketch, flops=a.flops + b.flops + spent)

    def finish(self, oracle: BlockOracle, summary: Sketch) -> Solution:
        return Solution(complete(leading_rows(summary.sketch, oracle.k), oracle.start, oracle.k))

    def flops(self, oracle: BlockOracle, summary: Sketch) -> int:
        return summary.flops + gram_flops(len(summary.sketch), oracle.n, oracle.k)

    def _check_size(self, k: int) -> None:
        if self.size <= k:
            raise UsageError(f"size must be above k = {k}, not {self.size}")


def shrunk(rows: Array, size: int) -> Array:
    """Return fewer than `size` rows whose second moment is close to that of rows (m, d) from below.

    2m²d + 9m³ + 2m(size - 1)d flops. A singular value below 1e-8 times the largest may be lost.
    """
    if len(rows) < size:
        return rows
    values, vectors = np.linalg.eigh(rows @ rows.T)
    large = values[:-size:-1]
    least = max(float(values[-size]), 0.0)
    scales = np.sqrt(np.maximum(large - least, 0.0) / np.where(large > 0, large, 1.0))
    kept: Array = (vectors[:, :-size:-1] * scales).T @ rows
    return kept


def sketched(block: NDArray[np.floating[Any]], size: int) -> tuple[Array, int]:
    """Return the sketch (< size, d) of a block of samples, and its flops.

    Up to `NARROW` times `size` features the block is shrunk by its second moment, else after each
    `size` samples. Only the moment of float32 samples is computed in float32.
    """
    rows, d = block.shape
    if rows > d and d <= NARROW * size:
        return _shrunk_moment(second_moment(block), size), flops.gemm(d, d, rows) + flops.eigh(d)
    sketch, spent = np.zeros((0, d)), 0
    for begin in range(0, rows, size):
        both = np.concatenate([sketch, block[begin : begin + size]])
        sketch = shrunk(both, size)
        spent += 0 if sketch is both else gram_flops(len(both), both.shape[1], len(sketch))
    return sketch, spent


def _shrunk_moment(moment: Array, size: int) -> Array:
    """Return `shrunk` of the upper triangle of a second moment."""
    from scipy.linalg import eigh

    d = len(moment)
    values, vectors = eigh(
        moment, lower=False, subset_by_index=(max(0, d - size), d - 1), overwrite_a=True
    )
    least = max(float(values[0]), 0.0) if d >= size else 0.0
    kept = np.flatnonzero(values > least)[::-1][: size - 1]
    return np.asarray(np.sqrt(values[kept] - least)[:, None] * vectors[:, kept].T)
