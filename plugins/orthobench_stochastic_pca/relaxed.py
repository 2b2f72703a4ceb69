"""The base of the methods on the convex relaxation: step sizes, rounding and averaging."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, complete, parameter
from orthobench_stochastic_pca import RelaxedSolution
from orthobench_stochastic_pca._kernels.rounding import fill_trace, sampled
from orthobench_stochastic_pca._kernels.spectrum import Iterate
from orthobench_stochastic_pca.rank_updates import RankUpdates, SpectrumState
from orthobench_stochastic_pca.schedule import Scheduled


@dataclass(frozen=True)
class Relaxed(Scheduled, RankUpdates):
    """Base of the methods on the relaxation {0 <= M <= I, tr M = k}.

    Parameters
    ----------
    rounding : {"leading", "sampled"}
        The subspace of a solution: that of the k leading eigenvectors of M, or a corner (an
        extreme point) of the feasible set, drawn at random such that its expectation is M. The
        draw is a function of the solver's seed and the number of steps.

    References
    ----------
    Arora, Cotter and Srebro 2013, problem 3.3 and Lemma 3.1.
    """

    rounding: str = parameter(
        "leading",
        help="how a subspace is read off M: its leading eigenvectors, or a sampled corner",
        choices=("leading", "sampled"),
    )

    @abstractmethod
    def eigenvalues(self, matrix: Iterate) -> tuple[Array, float]:
        """Return M's eigenvalues, in the iterate's order, and that of all other directions."""

    def solution(self, state: SpectrumState) -> RelaxedSolution:
        """Return the subspace and M, or the average of all M if the solver averages."""
        values, vectors, floor = self._spectrum(state)
        if self.rounding == "leading":
            point = complete(vectors, state.start, state.start.shape[1])
        else:
            point = self._sampled(state, values, vectors, floor)
        return RelaxedSolution(point, vectors=vectors, values=values, floor=floor)

    def _spectrum(self, state: SpectrumState) -> tuple[Array, Array, float]:
        """Return M's eigenvalues, descending, eigenvectors (d, m) and floor, in fresh arrays."""
        iterate = state.iterate
        if iterate.total is not None and state.work.steps:
            values, vectors = iterate.total.spectrum()
            return np.minimum(values / state.work.steps, 1.0), vectors, 0.0
        values, floor = self.eigenvalues(iterate.matrix)
        return values[::-1].copy(), np.ascontiguousarray(iterate.matrix.basis[::-1].T), floor

    def _sampled(self, state: SpectrumState, values: Array, vectors: Array, floor: float) -> Array:
        """Return the subspace of a sampled corner, shape (d, k)."""
        vectors, values = fill_trace(vectors, values, floor, state.start)
        rng = np.random.default_rng([state.seed, state.work.steps])
        chosen = sampled(values, state.start.shape[1], rng)
        return np.ascontiguousarray(vectors[:, chosen])


@dataclass(frozen=True)
class Averaging(Relaxed):
    """Base of the methods on the relaxation that may start anywhere and average.

    Parameters
    ----------
    start : {"zero", "random"}
        The first M: zero, or a multiple of the projection onto the oracle's random start.
    average : bool
        Read the solution off the mean of M(1), ..., M(t), step 3 of section 3.1.

    Notes
    -----
    The average costs 2(m + b)²m flops a sample more, at rank m in blocks of b samples, and memory
    d times its rank.

    References
    ----------
    Arora, Cotter and Srebro 2013, section 3.1.
    """

    start: str = parameter(
        "zero",
        help="the first M: zero, or the projection onto a random subspace",
        choices=("zero", "random"),
    )
    average: bool = parameter(
        False, help="read the solution off the average of all iterates, not the last one"
    )

    block: ClassVar[int] = 24

    @property
    def averages(self) -> bool:
        """Whether the iterates are summed."""
        return self.average
