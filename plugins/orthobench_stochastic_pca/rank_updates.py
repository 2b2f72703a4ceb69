"""The base of all methods that keep a spectrum, changed by one rank-one update a sample."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, SampleOracle, Solver
from orthobench_stochastic_pca._kernels.blocks import BLOCK, BlockState, advance_blocks, fail_on_nan
from orthobench_stochastic_pca._kernels.factored_sum import FactoredSum
from orthobench_stochastic_pca._kernels.spectrum import Iterate, Projection
from orthobench_stochastic_pca.mini_batches import moderated
from orthobench_stochastic_pca.schedule import UNKNOWN, Unit


@dataclass(frozen=True)
class SummedIterate:
    """The iterate and, if the solver averages, the sum of all iterates M; immutable.

    Attributes
    ----------
    matrix : Iterate
    total : FactoredSum, optional
    unit : Unit
        That of the steps.
    """

    matrix: Iterate
    total: FactoredSum | None = None
    unit: Unit = UNKNOWN


@dataclass(slots=True, kw_only=True)
class SpectrumState(BlockState[SummedIterate]):
    """The state of a method that keeps a spectrum.

    Attributes
    ----------
    start : ndarray, shape (d, k)
        The oracle's start, which completes a basis of lower rank.
    projection : Projection
        The projection of the eigenvalues.
    seed : int
        Seed of sampled rounding.
    """

    start: Array
    projection: Projection
    seed: int


@dataclass(frozen=True)
class RankUpdates(Solver[SampleOracle, SpectrumState]):
    """Base of the methods M <- projection of (M + eta xx'), with a step for each sample.

    They are exact: working in blocks changes nothing but rounding.

    Class attributes
    ----------------
    block : int
        Samples in a block: more for methods of higher rank.
    relative : bool
        Whether results do not depend on the unit of the samples. May be a parameter.

    Notes
    -----
    At rank m, in blocks of b samples, about 2(m + b)(1 + m/b)d + 2m²(m + b) flops a sample, nearly
    all of them in matrix products. Memory: 3(m + b)d doubles.

    ``work.flops`` counts Algorithm 1 as the paper states it, sample by sample: 4dm + 2d for the
    coordinates, the residual and its norm; 9n³ for the eigenproblem of size n, which is m + 1
    where there is a residual and m otherwise; and 2dnm' for the m' eigenvectors that the projection
    leaves a positive eigenvalue. The others are multiplied by zero and are not formed. To form all
    n takes 2dn² instead: of that count ``work.flops`` of `msg` is 0.92 to 0.97 on digits.

    References
    ----------
    Arora, Cotter and Srebro 2013, Algorithm 1.
    """

    block: ClassVar[int] = BLOCK
    relative = True
    batch = 1

    @abstractmethod
    def projection(self, oracle: SampleOracle) -> Projection:
        """Return the projection of the eigenvalues, or raise if parameters do not fit."""

    @abstractmethod
    def initial(self, oracle: SampleOracle) -> Iterate:
        """Return the iterate before the first sample."""

    @abstractmethod
    def etas_along(self, first: int, samples: Array, unit: Unit) -> tuple[Array, Unit]:
        """Return the step sizes for samples from number `first` on, and the unit after them."""

    @property
    def averages(self) -> bool:
        """Whether the iterates are summed."""
        return False

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> SpectrumState:
        """Start at the initial iterate; `rng` gives the seed of sampled rounding."""
        projection = self.projection(oracle)
        iterate = SummedIterate(self.initial(oracle), FactoredSum() if self.averages else None)
        return SpectrumState(
            iterate=iterate,
            base=iterate,
            pending=np.empty((0, oracle.n)),
            start=oracle.start,
            projection=projection,
            seed=int(rng.integers(2**63)),
        )

    def advance(self, oracle: SampleOracle, state: SpectrumState, count: int) -> None:
        """Take `count` samples, with one update each."""

        def process(iterate: SummedIterate, samples: Array, first: int) -> SummedIterate:
            etas, unit = self.etas_along(first + 1, samples, iterate.unit)
            update = self._updated if iterate.total is None else self._summed
            return replace(update(iterate, samples, etas, state.projection), unit=unit)

        samples = oracle.take(count)
        samples = moderated(state, samples) if self.relative else samples
        advance_blocks(state, samples, self.block, process)
        fail_on_nan(state, state.iterate.matrix.drift)
        state.work.flops = state.iterate.matrix.flops

    def _updated(
        self, iterate: SummedIterate, samples: Array, etas: Array, projection: Projection
    ) -> SummedIterate:
        """Return the iterate after the samples."""
        from orthobench_stochastic_pca._kernels.updates import update_blocks

        updated, _ = update_blocks(
            iterate.matrix, samples, etas, self.block, projection, summing=False
        )
        return SummedIterate(updated)

    def _summed(
        self, iterate: SummedIterate, samples: Array, etas: Array, projection: Projection
    ) -> SummedIterate:
        """Return the iterate after the samples, and the sum of all iterates."""
        from orthobench_stochastic_pca._kernels.updates import update_blocks

        matrix, total = iterate.matrix, iterate.total or FactoredSum()
        for first in range(0, len(samples), self.block):
            block = slice(first, first + self.block)
            updated, P = update_blocks(
                matrix, samples[block], etas[block], self.block, projection, summing=True
            )
            matrix, total = updated, total.plus(P)
        return SummedIterate(matrix, total)


def scaled_identity(d: int, factor: float) -> Iterate:
    """Return `factor` times the identity.

    Parameters
    ----------
    d : int
        Length of a sample.
    factor : float
        0 for the zero matrix.

    Returns
    -------
    Iterate
    """
    return Iterate(np.empty((0, d)), np.empty(0), factor)


def on_subspace(U: Array, value: float, full: bool) -> Iterate:
    """Return `value` times the projection onto a subspace.

    Parameters
    ----------
    U : ndarray, shape (d, k)
        Orthonormal columns.
    value : float
    full : bool
        Whether the trace of M is k.

    Returns
    -------
    Iterate
    """
    basis = np.array(U.T, order="C")
    return Iterate(basis, np.full(len(basis), value), 0.0, full)
