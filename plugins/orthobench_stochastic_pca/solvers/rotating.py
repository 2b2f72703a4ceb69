"""Oja's method and GROUSE: each sample rotates one direction of the basis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import (
    Array,
    ArraySolver,
    BlockOracle,
    SampleOracle,
    Solution,
    SummarySolver,
    copied,
    is_plain,
    parameter,
)
from orthobench.tools.arrays import in_rows
from orthobench_stochastic_pca import EntryOracle
from orthobench_stochastic_pca._kernels.blocks import BLOCK, BlockState, advance_blocks, fail_on_nan
from orthobench_stochastic_pca._kernels.low_rank_sums import LowRankSum, leading_basis, merged
from orthobench_stochastic_pca._kernels.rotation_rules import GEODESIC, KRASULINA, OJA
from orthobench_stochastic_pca.entries import entry_flops, rotated_by_entries
from orthobench_stochastic_pca.mini_batches import moderated
from orthobench_stochastic_pca.schedule import UNKNOWN, Scheduled, Unit

CONVERTED = 1024
"""Samples of a block of float32 that are in float64 at once: whole blocks of `BLOCK`."""


class Basis(NamedTuple):
    """The iterate of a method that rotates its basis.

    Attributes
    ----------
    rows : array, shape (k, d)
        U': orthonormal rows.
    drift : float
        Bound on the orthogonality defect of U; of NumPy's arrays only.
    unit : Unit
        That of the steps.
    """

    rows: Any
    drift: float = 0.0
    unit: Unit = UNKNOWN


@dataclass(frozen=True)
class Rotating(Scheduled, ArraySolver[SampleOracle, BlockState[Basis]]):
    """Base of the methods that rotate one direction of U towards each sample.

    Class attributes
    ----------------
    angle : int
        `OJA`, `GEODESIC` or `KRASULINA`.

    Notes
    -----
    In blocks of b = 16 samples 2(k + b/2)d + 2k(k + b)d/b flops a sample, all in matrix products.
    Memory: 2(k + b)d doubles. ``work.flops`` counts one rotation a sample
    (`flops_per_sample`). Elsewhere than in NumPy each sample takes products of its own.
    """

    batch = 1
    angle: ClassVar[int]

    @staticmethod
    def flops_per_sample(d: int, k: int) -> int:
        """Return the flops of a rotation, 6dk + 8d + k.

        2dk for each of w, p and the rank-one update; 8d for r, |r|, |p| and the new direction.
        """
        return 6 * d * k + 8 * d + k

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> BlockState[Basis]:
        """Start at ``oracle.start``."""
        del rng
        return BlockState.initial(Basis(copied(in_rows(oracle.start.T))), oracle.n)

    def advance(self, oracle: SampleOracle, state: BlockState[Basis], count: int) -> None:
        """Take `count` samples, with one rotation each."""
        samples = oracle.take(count)
        if is_plain(samples):
            samples = moderated(state, samples) if self.relative else samples
            advance_blocks(state, samples, BLOCK, self._rotated)
            fail_on_nan(state, state.iterate.drift)
        else:
            self._rotate_elsewhere(state, samples)
        state.work.flops += count * self.flops_per_sample(oracle.n, oracle.k)

    def solution(self, state: BlockState[Basis]) -> Solution:
        """Return the basis, shape (d, k)."""
        return Solution(copied(in_rows(state.iterate.rows.T)))

    def _rotated(self, basis: Basis, samples: Array, first: int) -> Basis:
        """Return the basis after the samples."""
        from orthobench_stochastic_pca._kernels.rotations import rotate_blocks

        etas, unit = self.etas_along(first + 1, samples, basis.unit)
        return Basis(*rotate_blocks(basis.rows, basis.drift, samples, etas, self.angle), unit)

    def _rotate_elsewhere(self, state: BlockState[Basis], samples: Any) -> None:
        from orthobench_stochastic_pca._kernels.rotating_arrays import rotate

        first, count = state.work.samples, samples.shape[0]
        etas, unit = self.etas_along(first + 1, samples, state.iterate.unit)
        rows = rotate(state.iterate.rows, samples, etas, first, self.angle)
        state.iterate = Basis(rows, unit=unit)
        state.work.steps += count
        state.work.samples += count


@dataclass(frozen=True)
class Oja(Rotating, SummarySolver[SampleOracle, BlockState[Basis], LowRankSum]):
    """Oja's method with orthonormalization, also called the stochastic power method.

    U <- P(U + eta_t x x'U), where P is the projection onto the matrices with orthonormal columns:
    the polar factor, which spans the same subspace as the Q factor. The change has rank one. So,
    with w = U'x, the polar factor is exactly U after a rotation in the plane of Uw and the residual
    x - Uw, by the angle arctan(eta_t |w||x - Uw| / (1 + eta_t |w|²)), which takes O(dk) flops.

    Krasulina's form steps along the residual only, U <- P(U + eta_t (x - Uw) w'), so that U stays
    where all samples are in its span: the angle is arctan(eta_t |w||x - Uw|).

    A sample orthogonal to U, or in its span, changes nothing.

    With blocks it is an approximation of the method: each block is gone through from the start,
    with t counted from 1, and the result is the leading eigenvectors of the average of UU' over
    the blocks, weighted by their samples, of which each merge keeps the best approximation of rank
    k. Averaging takes away the scatter of the blocks' subspaces, not what they have in common.

    Parameters
    ----------
    step, schedule, relative
        The step sizes (`orthobench_stochastic_pca.schedule.Scheduled`).
    form : {"oja", "krasulina"}

    References
    ----------
    Arora, Cotter and Srebro 2013, equation 3.1; Oja and Karhunen 1985. Krasulina 1969, and for
    k > 1 Tang 2019, "Exponentially convergent stochastic k-PCA without variance reduction",
    Algorithm 1. Averages: Fan, Wang, Wang and Zhu 2019, "Distributed estimation of principal
    eigenspaces", Algorithm 1.
    """

    form: str = parameter(
        "oja",
        help="whether steps are along the sample or its residual",
        choices=("oja", "krasulina"),
    )

    name: ClassVar[str] = "oja"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, equation 3.1"
    merge_error: ClassVar[float] = 0.9

    @property
    def angle(self) -> int:  # type: ignore[override]
        """That of the form."""
        return KRASULINA if self.form == "krasulina" else OJA

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> LowRankSum:
        """Return the basis after a block, its rows as long as the root of the number of samples."""
        basis = Basis(in_rows(oracle.start.T))
        for begin in range(0, len(block), CONVERTED):
            samples = np.array(block[begin : begin + CONVERTED], dtype=np.float64, order="C")
            basis = self._rotated(basis, samples, begin)
        rows, (k, d) = len(block), basis.rows.shape
        factor = np.sqrt(rows) * basis.rows
        spent = rows * self.flops_per_sample(d, k)
        return LowRankSum(rows=rows, rank=k, factor=factor, lost=0.0, flops=spent)

    def merge(self, a: LowRankSum, b: LowRankSum) -> LowRankSum:
        """Return the best approximation of rank k of the sum of two averages."""
        return merged(a, b)

    def finish(self, oracle: BlockOracle, summary: LowRankSum) -> Solution:
        """Return the leading eigenvectors of the average, shape (d, k)."""
        return Solution(leading_basis(summary, oracle.start))


@dataclass(frozen=True)
class GrassmannianSGD(Rotating):
    """Stochastic gradient descent on the Grassmannian along geodesics: GROUSE.

    With w = U'x, p = Uw and r = x - p, the step rotates U in the plane of p and r by the angle
    eta_t |p||r|: U + ((cos a - 1) p/|p| + sin a r/|r|) w'/|w|.

    Where entries are missing (`orthobench_stochastic_pca.EntryOracle`), w are the
    least-squares coefficients of the observed entries, and r is zero at the others. Fewer observed
    entries than columns say nothing, and change nothing.

    A sample orthogonal to U, or in its span, changes nothing.

    Parameters
    ----------
    step, schedule, relative
        The step sizes (`orthobench_stochastic_pca.schedule.Scheduled`).

    References
    ----------
    Balzano, Nowak and Recht 2010, "Online identification and tracking of subspaces from highly
    incomplete information", Algorithm 1.
    """

    name: ClassVar[str] = "grassmannian-sgd"
    source: ClassVar[str] = "Balzano, Nowak and Recht 2010, Algorithm 1"
    angle: ClassVar[int] = GEODESIC

    def advance(self, oracle: SampleOracle, state: BlockState[Basis], count: int) -> None:
        """Take `count` samples, by their observed entries where others are missing."""
        if not isinstance(oracle, EntryOracle):
            super().advance(oracle, state, count)
            return
        samples = oracle.take(count)
        advance_blocks(state, samples, BLOCK, partial(self._rotated_by_entries, oracle))
        fail_on_nan(state, state.iterate.drift)
        seen = int(np.count_nonzero(oracle.observed(samples)))
        state.work.flops += entry_flops(count, seen, oracle.n, oracle.k)

    def _rotated_by_entries(
        self, oracle: EntryOracle, basis: Basis, samples: Array, first: int
    ) -> Basis:
        """Return the basis after samples with missing entries."""
        if not np.isfinite(samples).all():
            return Basis(basis.rows, np.nan)
        etas, unit = self.etas_along(first + 1, samples, basis.unit)
        rows = rotated_by_entries(basis.rows, samples, oracle.observed(samples), etas)
        return Basis(rows, unit=unit)
