"""PCA of all samples seen so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import (
    Array,
    ArraySolver,
    BlockOracle,
    SampleOracle,
    Solution,
    State,
    Status,
    Summary,
    SummarySolver,
    complete,
    copied,
    flops,
    is_plain,
    namespace,
    orthonormalize,
)
from orthobench.tools.arrays import in_rows
from orthobench_stochastic_pca._kernels.sums import NULL, Samples, second_moment

BLOCK = 256
"""Number of samples that are added to the second moment at once."""


@dataclass(slots=True, kw_only=True)
class BatchState(State):
    """The samples so far: whole blocks summed in a moment, the recent ones as they are.

    Attributes
    ----------
    start : array, shape (d, k)
        Completes the solution while the samples span fewer than k dimensions.
    summed : int
        Number of samples in `moment`.
    moment : array, shape (d, d), or None
        The sum of xx'; the upper triangle in Fortran order in NumPy.
    """

    start: Any
    recent: list[Any] = field(default_factory=list)
    summed: int = 0
    moment: Any = None


@dataclass(frozen=True, kw_only=True)
class MomentSum(Summary):
    """The sum of second moments xx', or the samples if they are at most as many as features.

    `values` are samples (rows, d), or the upper triangle (d(d + 1)/2,), column by column.
    """

    values: NDArray[np.floating[Any]]

    @classmethod
    def of(cls, block: Samples) -> MomentSum:
        """Return the summary of samples."""
        rows, d = block.shape
        return cls(rows=rows, values=block.copy() if rows <= d else packed(block))

    def triangle(self) -> Array:
        """Return the upper triangle of the sum."""
        if self.values.ndim == 2:
            return packed(self.values)
        return np.asarray(self.values, dtype=np.float64)


@dataclass(frozen=True)
class BatchPCA(
    SummarySolver[SampleOracle, BatchState, MomentSum], ArraySolver[SampleOracle, BatchState]
):
    """Batch PCA, the empirical risk minimizer: leading eigenvectors of the empirical moment.

    A step only collects a sample. Reading the solution computes the eigendecomposition, and is
    timed as reading: up to d samples of their Gram matrix, else of the (d, d) second moment. The
    moments of blocks merge without loss.

    Notes
    -----
    d² flops a sample; at most 9d³ to read a solution. Only one batch PCA of the samples so far
    counts in ``work.flops`` (`erm_flops`). Memory: d² doubles, and as many for the samples before
    it.

    References
    ----------
    Arora, Cotter and Srebro 2013, section 2.
    """

    name: ClassVar[str] = "batch-pca"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 2"
    batch = 1

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> BatchState:
        del rng
        return BatchState(start=copied(oracle.start))

    def advance(self, oracle: SampleOracle, state: BatchState, count: int) -> None:
        samples = copied(oracle.take(count))
        if is_plain(samples) and not np.isfinite(np.vdot(samples, samples)):
            state.status, state.reason = Status.FAILED, "a sample is not finite"
            return
        state.recent.append(samples)
        state.work.steps += count
        state.work.samples += count
        state.work.flops = erm_flops(state.work.samples, oracle.n, oracle.k)
        if state.work.samples >= max(oracle.n, state.summed + BLOCK):
            _sum_up(state)

    def solution(self, state: BatchState) -> Solution:
        d, k = state.start.shape
        if not state.work.samples:
            return Solution(copied(state.start))
        X = namespace(state.start).concat(state.recent)
        if state.moment is None and X.shape[0] <= d:
            return Solution(complete(leading_rows(X, k), state.start, k))
        return Solution(_leading(_with(state.moment, X), k)[1])

    def summarize(self, oracle: BlockOracle, block: Samples) -> MomentSum:
        del oracle
        return MomentSum.of(block)

    def merge(self, a: MomentSum, b: MomentSum) -> MomentSum:
        if a.values.ndim == b.values.ndim == 2:
            return MomentSum.of(np.concatenate([a.values, b.values]))
        return MomentSum(rows=a.rows + b.rows, values=a.triangle() + b.triangle())

    def finish(self, oracle: BlockOracle, summary: MomentSum) -> Solution:
        values = np.asarray(summary.values, dtype=np.float64)
        if values.ndim == 1:
            return Solution(_leading(unpacked(values), oracle.k)[1])
        return Solution(complete(leading_rows(values, oracle.k), oracle.start, oracle.k))

    def flops(self, oracle: BlockOracle, summary: MomentSum) -> int:
        return erm_flops(summary.rows, oracle.n, oracle.k)


def erm_flops(n: int, d: int, k: int) -> int:
    """Return the flops of batch PCA of n samples: 2nd² + 9d³, or `gram_flops` if that is less."""
    return min(flops.gemm(d, d, n) + flops.eigh(d), gram_flops(n, d, k))


def gram_flops(n: int, d: int, k: int) -> int:
    """Return the flops of `leading_rows`."""
    return flops.gemm(n, n, d) + flops.eigh(n) + flops.gemm(d, k, n)


def packed(rows: Samples) -> Array:
    """Return the upper triangle of the second moment of samples, (d(d + 1)/2,)."""
    from scipy.linalg.lapack import dtrttp

    return np.asarray(dtrttp(second_moment(rows))[0])


def unpacked(values: Array) -> Array:
    """Return a matrix in Fortran order with this upper triangle."""
    from scipy.linalg.lapack import dtpttr

    d = int(np.sqrt(2 * len(values)))
    return np.asarray(dtpttr(d, values)[0])


def _sum_up(state: BatchState) -> None:
    """Move whole blocks of the recent samples into the second moment."""
    rows = namespace(state.start).concat(state.recent)
    whole = rows.shape[0] // BLOCK * BLOCK
    for begin in range(0, whole, BLOCK):
        state.moment = _added(state.moment, rows[begin : begin + BLOCK, :])
    state.recent = [copied(rows[whole:, :])]
    state.summed += whole


def _with(moment: Any, rows: Any) -> Any:
    """Return the sum of a second moment, which stays, and that of rows."""
    if not rows.shape[0]:
        return moment
    return _added(moment.copy(order="F") if is_plain(moment) else moment, rows)


def _added(moment: Any, rows: Any) -> Any:
    """Return the sum of a second moment and that of rows, in NumPy in place."""
    if not is_plain(rows):
        own = rows.T @ rows
        return own if moment is None else moment + own
    from scipy.linalg.blas import dsyrk

    d = rows.shape[1]
    summed = np.zeros((d, d), order="F") if moment is None else moment
    return dsyrk(1.0, rows.T, beta=1.0, c=summed, overwrite_c=1)


def _leading(C: Any, k: int) -> tuple[Any, Any]:
    """Return the k leading eigenpairs, descending, of an upper triangle."""
    if not is_plain(C):
        xp = namespace(C)
        values, vectors = xp.linalg.eigh(C)
        return xp.flip(values[-k:]), xp.flip(vectors[:, -k:], axis=1)
    from scipy.linalg import eigh

    last = len(C) - 1
    values, vectors = eigh(C, lower=False, subset_by_index=(last + 1 - k, last))
    return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


def leading_rows(X: Any, k: int) -> Any:
    """Return the leading right singular vectors (d, <= k) of rows (n, d), from their Gram matrix.

    Fewer than k if X has a lower rank. 2n²d + 9n³ + 2ndk flops.
    """
    xp, (n, _) = namespace(X), X.shape
    if n == 0 or not xp.any(X != 0):
        return X.T[:, :0]
    X = X / xp.max(xp.abs(X))
    values, vectors = _leading(X @ X.T, min(k, n))
    rank = int(xp.count_nonzero(values > NULL * float(xp.finfo(X.dtype).eps) * n * values[0]))
    return orthonormalize(X.T @ in_rows(vectors[:, :rank]))
