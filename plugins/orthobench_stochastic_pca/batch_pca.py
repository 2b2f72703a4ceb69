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
"""Samples added to the second moment at once, at fixed places in the stream."""

NULL = 1e-13
"""An eigenvalue of the (n, n) Gram matrix up to this times n times the largest is rounding."""


@dataclass(slots=True, kw_only=True)
class BatchState(State):
    """The samples seen so far: the early ones summed in a moment, the recent ones as they are.

    Attributes
    ----------
    start : ndarray, shape (d, k)
        Completes the solution while the samples span fewer than k dimensions.
    recent : list of ndarray, shapes (rows, d)
        The samples not yet in `moment`.
    summed : int
        Number of samples in `moment`: whole blocks.
    moment : ndarray, shape (d, d), Fortran order, or None
        Upper triangle of the sum of xx' over these samples; None while there are none.
    """

    start: Array
    recent: list[Array] = field(default_factory=list)
    summed: int = 0
    moment: Array | None = None


@dataclass(frozen=True)
class BatchPCA(Solver[SampleOracle, BatchState]):
    """Batch PCA, the empirical risk minimizer: leading eigenvectors of the empirical moment.

    A step only collects a sample. The eigendecomposition takes place when the solution is read,
    and is timed as reading. Up to d samples their (n, n) Gram matrix is decomposed; with more, the
    (d, d) second moment, to which samples are added in blocks of 256.

    Notes
    -----
    d² flops a sample, since the moment is symmetric; at most 9d³ to read a solution. ``work.flops``
    counts one batch PCA of the samples so far (`erm_flops`), not every solution read. Memory: d²
    doubles for the moment, and as many for the samples before there is one.

    References
    ----------
    Arora, Cotter and Srebro 2013, section 2.
    """

    name: ClassVar[str] = "batch-pca"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 2"
    needs: ClassVar[type[SampleOracle]] = SampleOracle
    batch = 1

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> BatchState:
        """Start without samples."""
        del rng
        return BatchState(start=oracle.start.copy())

    def advance(self, oracle: SampleOracle, state: BatchState, count: int) -> None:
        """Collect `count` samples; fails on one that is not finite."""
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
        """Return the k leading eigenvectors, shape (d, k), largest eigenvalue first."""
        d, k = state.start.shape
        X = np.concatenate([np.empty((0, d)), *state.recent])
        if state.moment is None and len(X) <= d:
            return Solution(complete(_leading_rows(X, k), state.start, k))
        moment = np.zeros((d, d)) if state.moment is None else state.moment
        return Solution(_leading(_added(moment.copy(order="F"), X), k)[1])


def erm_flops(n: int, d: int, k: int) -> int:
    """Return the flops of batch PCA in the cheaper of its two forms.

    The second moment and its eigendecomposition, 2nd² + 9d³; or the Gram matrix, its
    eigendecomposition, and the products that turn the k leading vectors into those of the moment,
    2n²d + 9n³ + 2ndk.

    Parameters
    ----------
    n : int
        Samples.
    d : int
        Features.
    k : int
        Dimension of the subspace.

    Returns
    -------
    int
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
    """Return the k leading eigenvalues, descending, and eigenvectors of an upper triangle."""
    from scipy.linalg import eigh

    last = len(C) - 1
    values, vectors = eigh(C, lower=False, subset_by_index=(last + 1 - k, last))
    return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


def _leading_rows(X: Array, k: int) -> Array:
    """Return the leading right singular vectors of X, at most k: shape (d, <= k)."""
    n, d = X.shape
    if n == 0 or not X.any():
        return np.empty((d, 0))
    X = X / np.abs(X).max()
    values, vectors = _leading(X @ X.T, min(k, n))
    nonzero = values > NULL * n * values[0]
    return orthonormalize(X.T @ vectors[:, nonzero])
