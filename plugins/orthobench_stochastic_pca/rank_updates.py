"""M <- projection of (M + eta xx'), sample by sample, for all methods that keep a spectrum.

``work.flops`` counts Algorithm 1 of Arora, Cotter and Srebro (2013), sample by sample. The
coordinates, the residual and its norm take 4dm + 2d. The eigenproblem of size n, m + 1 with a
residual and m without, takes 9n³, and the m' eigenvectors of positive projected eigenvalues 2dnm'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from orthobench.contract import Array, SampleOracle
from orthobench_stochastic_pca._kernels.iterates import BLOCK, Iterate, Projection
from orthobench_stochastic_pca.blocks import BlockState, advance_blocks, fail_on_nan, moderated
from orthobench_stochastic_pca.schedule import UNKNOWN, Unit

MIN_ROWS = 256
"""Minimum number of rows of factors that are compressed."""


class FactoredSum(NamedTuple):
    """A sum S of positive semidefinite matrices P'P, given by their factors P; immutable.

    Memory: at most about 2d times the rank of S, or d² doubles once that rank exceeds d / 2.

    Attributes
    ----------
    factors : tuple of ndarray, shapes (g, d)
        The compressed part, then the factors added since.
    rows, limit : int
        Number of rows of all factors, and that above which they are compressed.
    dense : ndarray, shape (d, d), or None
        S itself, once its rank exceeds d / 2.
    """

    factors: tuple[Array, ...] = ()
    rows: int = 0
    limit: int = MIN_ROWS
    dense: Array | None = None

    def plus(self, P: Array) -> FactoredSum:
        """Return the sum with P'P added for P (g, d), which is not copied."""
        if self.dense is not None:
            return self._replace(dense=self.dense + P.T @ P)
        grown = self._replace(factors=(*self.factors, P), rows=self.rows + len(P))
        if grown.rows <= self.limit:
            return grown
        values, vectors = grown.spectrum()
        d, rank = vectors.shape
        if 2 * rank > d:
            return FactoredSum(dense=(vectors * values) @ vectors.T)
        factor = np.ascontiguousarray((vectors * np.sqrt(values)).T)
        return FactoredSum((factor,), rank, max(MIN_ROWS, 2 * rank))

    def spectrum(self) -> tuple[Array, Array]:
        """Return the eigenvalues of S above rounding, descending, and eigenvectors (d, r)."""
        if self.dense is not None:
            values, vectors = np.linalg.eigh(self.dense)
            keep = values > len(values) * np.finfo(float).eps * values[-1]
            return values[keep][::-1], vectors[:, keep][:, ::-1]
        _, s, Vt = np.linalg.svd(np.concatenate(self.factors), full_matrices=False)
        keep = s**2 > len(s) * np.finfo(float).eps * s[:1] ** 2
        return s[keep] ** 2, Vt[keep].T


@dataclass(frozen=True)
class SummedIterate:
    """The iterate, the unit of the steps and, for averages, the sum of all M."""

    matrix: Iterate
    total: FactoredSum | None = None
    unit: Unit = UNKNOWN


@dataclass(slots=True, kw_only=True)
class SpectrumState(BlockState[SummedIterate]):
    """The state of a method that keeps a spectrum.

    `start` (d, k) completes a basis of lower rank; `seed` is that of sampled rounding.
    """

    start: Array
    projection: Projection
    seed: int


def begun(
    oracle: SampleOracle,
    rng: np.random.Generator,
    projection: Projection,
    first: Iterate,
    average: bool = False,
) -> SpectrumState:
    """Return the state before the first sample."""
    iterate = SummedIterate(first, FactoredSum() if average else None)
    return SpectrumState(
        iterate=iterate,
        base=iterate,
        pending=np.empty((0, oracle.n)),
        start=oracle.start,
        projection=projection,
        seed=int(rng.integers(2**63)),
    )


Steps = Callable[[int, Array, Unit], tuple[Array, Unit]]
"""Step sizes for samples, and the unit after them: `Scheduled.etas_along`."""


def update(
    oracle: SampleOracle,
    state: SpectrumState,
    count: int,
    steps: Steps,
    block: int = BLOCK,
    relative: bool = True,
) -> None:
    """Take `count` samples, with one update each; changes the state in place.

    `block` is the number of samples in a block. With `relative`, results do not depend on the unit
    of the samples.
    """
    from orthobench_stochastic_pca._kernels.updates import update_blocks

    def process(iterate: SummedIterate, samples: Array, first: int) -> SummedIterate:
        etas, unit = steps(first + 1, samples, iterate.unit)
        matrix, total = iterate.matrix, iterate.total
        size = len(samples) if total is None else block
        for begin in range(0, len(samples), size):
            part = slice(begin, begin + size)
            matrix, P = update_blocks(
                matrix, samples[part], etas[part], block, state.projection, total is not None
            )
            total = total and total.plus(P)
        return SummedIterate(matrix, total, unit)

    samples = oracle.take(count)
    advance_blocks(state, moderated(state, samples) if relative else samples, block, process)
    fail_on_nan(state, state.iterate.matrix.drift)
    state.work.flops = state.iterate.matrix.flops


def scaled_identity(d: int, factor: float) -> Iterate:
    """Return `factor` times the identity."""
    return Iterate(np.empty((0, d)), np.empty(0), factor)


def on_subspace(U: Array, value: float, full: bool) -> Iterate:
    """Return `value` times the projection onto the span of U; `full` if the trace of M is k."""
    basis = np.array(U.T, order="C")
    return Iterate(basis, np.full(len(basis), value), 0.0, full)
