"""Incremental PCA: one pass, block after block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, Status, complete, flops, parameter
from orthobench_pca.base import PCASolver, PCAState
from orthobench_pca.oracle import PCAOracle


@dataclass(slots=True, kw_only=True)
class IncrementalState(PCAState):
    """A summary of the `seen` rows so far, and their mean (n,).

    `kept` (m, n) are singular values times right singular vectors of the centred rows.
    """

    kept: Array
    mean: Array
    seen: int = 0


@dataclass(frozen=True)
class IncrementalPCA(PCASolver[IncrementalState]):
    """A singular value decomposition of the summary and each block of rows.

    One more row accounts for the moving mean.

    Notes
    -----
    With b rows of a block and m kept, flops of a step: an SVD (b + m + 1, d). Memory: (b + 2m)d
    numbers. One pass.

    References
    ----------
    Ross, Lim, Lin and Yang 2008, "Incremental learning for robust visual tracking", section 3.1.
    """

    name: ClassVar[str] = "incremental-pca"
    source: ClassVar[str] = "Ross, Lim, Lin and Yang 2008, section 3.1"

    block: int = parameter(0, help="rows of a block; 0: five times the components kept", low=0)
    oversampling: int = parameter(10, help="components kept beyond those sought", low=0)

    def init(self, oracle: PCAOracle, rng: np.random.Generator) -> IncrementalState:
        kept = np.empty((0, oracle.n), oracle.matrix.dtype)
        mean = np.zeros(oracle.n)
        return IncrementalState(basis=oracle.start, rng=rng, kept=kept, mean=mean)

    def step(self, oracle: PCAOracle, state: IncrementalState) -> None:
        most, n, seen = oracle.k + self.oversampling, oracle.n, state.seen
        end = min(seen + (self.block or 5 * most), oracle.rows)
        rows: Any = oracle.matrix.rows(seen, end)
        oracle.count((end - seen) / oracle.rows)
        if oracle.scale is not None:
            rows = rows / oracle.scale.astype(rows.dtype)
        parts = [state.kept, rows]
        if oracle.center:
            mean = rows.mean(axis=0, dtype=np.float64)
            move = np.sqrt(seen * (end - seen) / end) * (state.mean - mean)
            parts = [state.kept, rows - mean.astype(rows.dtype), move.astype(rows.dtype)[None]]
            state.mean = state.mean + (mean - state.mean) * ((end - seen) / end)
        _, lengths, Vt = np.linalg.svd(np.concatenate(parts), full_matrices=False)
        state.kept = lengths[:most, None] * Vt[:most]
        some = lengths[: oracle.k] > np.finfo(lengths.dtype).eps * n * lengths[0]
        found = Vt[: oracle.k][some].T
        state.basis = complete(found, oracle.start.astype(found.dtype), oracle.k)
        state.seen, state.passes = end, oracle.passes
        state.work.steps += 1
        state.work.flops += flops.svd(end - seen + len(state.kept), n)
        if end == oracle.rows:
            state.status = Status.COMPLETE
