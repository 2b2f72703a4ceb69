"""Oja's method and GROUSE."""

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
    namespace,
    orthonormalize,
    parameter,
)
from orthobench.tools.arrays import in_rows
from orthobench_stochastic_pca import EntryOracle, Positions
from orthobench_stochastic_pca._kernels.iterates import BLOCK, Angle
from orthobench_stochastic_pca._kernels.sums import LowRankSum
from orthobench_stochastic_pca.blocks import BlockState, advance_blocks, fail_on_nan, moderated
from orthobench_stochastic_pca.schedule import UNKNOWN, Scheduled, Unit

CONVERTED = 1024
"""Number of samples of a block that are in float64 at once."""

CLEANED = 256
"""Number of samples before other libraries' bases are orthonormalized again."""

DEPENDENT = 64
"""Residual that is rounding there, in units of eps times the sample."""

LEFT = 1e-10
"""Residual of observed entries that is rounding, relative to them."""


class Basis(NamedTuple):
    """The iterate: `rows` are U' (k, d), `drift` bounds the orthogonality defect in NumPy."""

    rows: Any
    drift: float = 0.0
    unit: Unit = UNKNOWN


@dataclass(frozen=True)
class Rotating(Scheduled, ArraySolver[SampleOracle, BlockState[Basis]]):
    """Base of the methods that rotate one direction of U towards each sample, by `angle`.

    In blocks of b = 16 samples 2(k + b/2)d + 2k(k + b)d/b flops a sample; one rotation a sample
    counts in ``work.flops``. Memory: 2(k + b)d doubles.
    """

    batch = 1
    angle: ClassVar[Angle]

    @staticmethod
    def flops_per_sample(d: int, k: int) -> int:
        """Return the flops of a rotation, 6dk + 8d + k."""
        return 6 * d * k + 8 * d + k

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> BlockState[Basis]:
        del rng
        basis = Basis(copied(in_rows(oracle.start.T)))
        return BlockState(iterate=basis, base=basis, pending=np.empty((0, oracle.n)))

    def advance(self, oracle: SampleOracle, state: BlockState[Basis], count: int) -> None:
        samples = oracle.take(count)
        if is_plain(samples):
            samples = moderated(state, samples) if self.relative else samples
            advance_blocks(state, samples, BLOCK, self._rotated)
            fail_on_nan(state, state.iterate.drift)
        else:
            first = state.work.samples
            etas, unit = self.etas_along(first + 1, samples, state.iterate.unit)
            rows = rotated_elsewhere(state.iterate.rows, samples, etas, first, self.angle)
            state.iterate = Basis(rows, unit=unit)
            state.work.steps += count
            state.work.samples += count
        state.work.flops += count * self.flops_per_sample(oracle.n, oracle.k)

    def solution(self, state: BlockState[Basis]) -> Solution:
        return Solution(copied(in_rows(state.iterate.rows.T)))

    def _rotated(self, basis: Basis, samples: Array, first: int) -> Basis:
        from orthobench_stochastic_pca._kernels.rotations import rotate_blocks

        etas, unit = self.etas_along(first + 1, samples, basis.unit)
        return Basis(*rotate_blocks(basis.rows, basis.drift, samples, etas, self.angle), unit)


@dataclass(frozen=True)
class Oja(Rotating, SummarySolver[SampleOracle, BlockState[Basis], LowRankSum]):
    """Oja's method with orthonormalization, also called the stochastic power method.

    U <- P(U + eta_t x x'U), P the polar factor, which spans the same subspace as the Q factor. With
    w = U'x it is a rotation in the plane of Uw and x - Uw, by arctan(eta_t |w||x - Uw| / (1 + eta_t
    |w|²)), in O(dk) flops. Krasulina's form (`form`) is U <- P(U + eta_t (x - Uw) w'), by
    arctan(eta_t |w||x - Uw|).

    With blocks each block is used from the start, with t counted from 1. The result is the leading
    eigenvectors of the average of UU', weighted by samples; each merge keeps rank k.

    References
    ----------
    Arora, Cotter and Srebro 2013, equation 3.1; Oja and Karhunen 1985. Krasulina 1969, and for k >
    1 Tang 2019, "Exponentially convergent stochastic k-PCA without variance reduction", Algorithm
    1. Averages: Fan, Wang, Wang and Zhu 2019, "Distributed estimation of principal eigenspaces",
    Algorithm 1.
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
    def angle(self) -> Angle:  # type: ignore[override]
        """That of the form."""
        return Angle.KRASULINA if self.form == "krasulina" else Angle.OJA

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> LowRankSum:
        basis = Basis(in_rows(oracle.start.T))
        for begin in range(0, len(block), CONVERTED):
            samples = np.array(block[begin : begin + CONVERTED], dtype=np.float64, order="C")
            basis = self._rotated(basis, samples, begin)
        rows, (k, d) = len(block), basis.rows.shape
        factor = np.sqrt(rows) * basis.rows
        spent = rows * self.flops_per_sample(d, k)
        return LowRankSum(rows=rows, rank=k, factor=factor, lost=0.0, flops=spent)

    def merge(self, a: LowRankSum, b: LowRankSum) -> LowRankSum:
        return a.plus(b)

    def finish(self, oracle: BlockOracle, summary: LowRankSum) -> Solution:
        return summary.solution(oracle.start)


@dataclass(frozen=True)
class GrassmannianSGD(Rotating):
    """Stochastic gradient descent on the Grassmannian along geodesics: GROUSE.

    With w = U'x, p = Uw and r = x - p, the step rotates U in the plane of p and r by the angle
    eta_t |p||r|. If entries are missing (`EntryOracle`), w are the least-squares coefficients of
    the observed entries, and r is zero at the others.

    References
    ----------
    Balzano, Nowak and Recht 2010, "Online identification and tracking of subspaces from highly
    incomplete information", Algorithm 1.
    """

    name: ClassVar[str] = "grassmannian-sgd"
    source: ClassVar[str] = "Balzano, Nowak and Recht 2010, Algorithm 1"
    angle: ClassVar[Angle] = Angle.GEODESIC

    def advance(self, oracle: SampleOracle, state: BlockState[Basis], count: int) -> None:
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
        """Return the basis after samples; a Newton-Schulz step a block removes rounding."""
        if not np.isfinite(samples).all():
            return Basis(basis.rows, np.nan)
        etas, unit = self.etas_along(first + 1, samples, basis.unit)
        rows, observed = basis.rows, oracle.observed(samples)
        for begin in range(0, len(samples), BLOCK):
            part = slice(begin, begin + BLOCK)
            rows = rotated_by_entries(rows, samples[part], observed[part], etas[part])
            rows = 1.5 * rows - 0.5 * (rows @ rows.T) @ rows
        return Basis(rows, unit=unit)


def rotated_by_entries(rows: Array, samples: Array, observed: Positions, etas: Array) -> Array:
    """Return U' after samples with missing entries; `entry_flops`."""
    rows = rows.copy()
    for x, seen, eta in zip(samples, observed, etas, strict=True):
        w = np.linalg.lstsq(rows[:, seen].T, x[seen], rcond=None)[0]
        p, r = w @ rows, np.zeros(len(x))
        r[seen] = x[seen] - p[seen]
        r -= (rows @ r) @ rows  # the rounding of what cancelled
        onto, left = float(np.linalg.norm(p)), float(np.linalg.norm(r))
        if onto == 0 or left <= LEFT * float(np.linalg.norm(x[seen])):
            continue
        angle = eta * onto * left
        direction = (np.cos(angle) - 1) / onto * p + np.sin(angle) / left * r
        rows += np.outer(w / onto, direction)
    return rows


def entry_flops(samples: int, entries: int, d: int, k: int) -> int:
    """Return the flops of GROUSE, 2mk² + 6mk for m observed entries and 4dk + 8d for a sample."""
    return entries * (2 * k * k + 6 * k) + samples * (4 * d * k + 8 * d)


def rotated_elsewhere(U: Any, samples: Any, etas: Any, first: int, angle: Angle) -> Any:
    """Return orthonormal rows U (k, d) rotated towards samples, with arrays of any library.

    `first` is the number of samples before these. 10kd flops a sample, and once in 256 a QR.
    """
    xp = namespace(U)
    eps = float(xp.finfo(U.dtype).eps)
    steps = etas.tolist() if is_plain(etas) else etas
    for j in range(samples.shape[0]):
        x = samples[j, :]
        w = U @ x
        along = w @ U
        r = x - along
        r = r - (U @ r) @ U
        onto, left = xp.linalg.vector_norm(w), xp.linalg.vector_norm(r)
        moves = (onto > 0) & (left > DEPENDENT * eps * xp.linalg.vector_norm(x))
        one = xp.ones_like(onto)
        p, q = xp.where(moves, onto, one), xp.where(moves, left, one)
        turn = _angle(p, q, steps[j], angle)
        change = (-2 * xp.sin(turn / 2) ** 2 / p) * along + (xp.sin(turn) / q) * r
        U = xp.where(moves, U + (w / p)[:, None] * change[None, :], U)
        if (first + j + 1) % CLEANED == 0:
            U = orthonormalize(U.T).T
    return U


def _angle(p: Any, r: Any, eta: Any, kind: Angle) -> Any:
    xp = namespace(p)
    if kind is Angle.GEODESIC:
        return eta * p * r
    if kind is Angle.KRASULINA:
        return xp.atan(eta * p * r)
    return xp.atan2(eta * p * r, 1 + eta * p * p)
