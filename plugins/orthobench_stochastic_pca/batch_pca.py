"""Empirical risk minimization: PCA of all samples seen so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from orthobench.contract import (
    Array,
    SampleOracle,
    Solution,
    Solver,
    State,
    Status,
    complete,
    flops,
    orthonormalize,
)

BLOCK = 256
"""Samples that go into the second moment at once, at fixed places in the stream."""

NULL = 1e-13
"""An eigenvalue of the Gram matrix below this times the largest, and times n, is rounding."""


@dataclass(slots=True, kw_only=True)
class BatchState(State):
    """The samples seen so far, summed up or as they are.

    Attributes
    ----------
    start : ndarray, shape (d, k)
        What the solution is completed from while the samples span fewer than k dimensions.
    recent : list of ndarray (rows, d)
        The samples that `moment` does not hold.
    summed : int
        How many samples it holds: whole blocks.
    moment : ndarray, shape (d, d), Fortran order
        The upper triangle of the sum of xx' over them; None while they are none.
    """

    start: Array
    recent: list[Array] = field(default_factory=list)
    summed: int = 0
    moment: Array | None = None


@dataclass(frozen=True)
class BatchPCA(Solver[SampleOracle, BatchState]):
    """Batch PCA, the empirical risk minimizer: leading eigenvectors of the empirical moment.

    The samples are only collected on the clock. The eigendecomposition belongs to reading the
    solution, and is timed there. Of up to d samples the (n, n) Gram matrix is decomposed, of more
    the (d, d) second moment, to which samples are added in blocks of 256.

    ``work.flops`` is what batch PCA of the samples so far costs, decomposition included: it is
    that of one solution, not of all that were read.

    Notes
    -----
    d² flops a sample (a symmetric product); reading costs 9d³ at most. Memory: d² doubles.

    References
    ----------
    Arora, Cotter and Srebro 2013, section 2.
    """

    name: ClassVar[str] = "batch-pca"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 2"
    needs: ClassVar[type[SampleOracle]] = SampleOracle
    batch = 1

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> BatchState:
        """Begin with no samples."""
        del rng
        return BatchState(start=oracle.start.copy())

    def advance(self, oracle: SampleOracle, state: BatchState, count: int) -> None:
        """Collect `count` samples."""
        samples = oracle.take(count).copy()
        if not np.isfinite(np.vdot(samples, samples)):
            state.status, state.reason = Status.FAILED, "a sample is not finite"
            return
        state.recent.append(samples)
        state.work.steps += count
        state.work.samples += count
        state.work.flops = erm_flops(state.work.samples, oracle.n, oracle.k)
        if state.work.samples >= max(oracle.n, state.summed + BLOCK):
            _sum_up(state)

    def step(self, oracle: SampleOracle, state: BatchState) -> None:
        """Collect one sample."""
        self.advance(oracle, state, 1)

    def solution(self, state: BatchState) -> Solution:
        """Return the k leading eigenvectors, (d, k), leading first."""
        d, k = state.start.shape
        X = np.concatenate([np.empty((0, d)), *state.recent])
        if state.moment is None and len(X) <= d:
            return Solution(complete(_leading_rows(X, k), state.start, k))
        moment = np.zeros((d, d)) if state.moment is None else state.moment
        return Solution(_leading(_added(moment.copy(order="F"), X), k)[1])


def erm_flops(n: int, d: int, k: int) -> int:
    """Return the flops of batch PCA of n samples in the cheaper of its two forms.

    The second moment and its eigendecomposition, 2nd² + 9d³; or the Gram matrix, its
    decomposition and the k leading vectors taken back, 2n²d + 9n³ + 2ndk.
    """
    moment = flops.gemm(d, d, n) + flops.eigh(d)
    return min(moment, flops.gemm(n, n, d) + flops.eigh(n) + flops.gemm(d, k, n))


def _sum_up(state: BatchState) -> None:
    """Move whole blocks of the recent samples into the second moment."""
    d = len(state.start)
    if state.moment is None:
        state.moment = np.zeros((d, d), order="F")
    rows = np.concatenate(state.recent)
    whole = len(rows) // BLOCK * BLOCK
    for begin in range(0, whole, BLOCK):
        state.moment = _added(state.moment, rows[begin : begin + BLOCK])
    state.recent = [rows[whole:].copy()]
    state.summed += whole


def _added(moment: Array, rows: Array) -> Array:
    """Add the second moment of rows to the upper triangle of `moment`, in place."""
    from scipy.linalg.blas import dsyrk

    if not len(rows):
        return moment
    added: Array = dsyrk(1.0, rows.T, beta=1.0, c=moment, overwrite_c=1)
    return added


def _leading(C: Array, k: int) -> tuple[Array, Array]:
    """Return the k leading eigenvalues of an upper triangle, descending, and their vectors."""
    from scipy.linalg import eigh

    last = len(C) - 1
    values, vectors = eigh(C, lower=False, subset_by_index=(last + 1 - k, last))
    return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


def _leading_rows(X: Array, k: int) -> Array:
    """Return the leading right singular vectors of X (n, d): k, or as many as X has, (d, <= k)."""
    n, d = X.shape
    if n == 0 or not X.any():
        return np.empty((d, 0))
    X = X / np.abs(X).max()
    values, vectors = _leading(X @ X.T, min(k, n))
    held = values > NULL * n * values[0]
    return orthonormalize(X.T @ vectors[:, held])
