"""What the methods on the convex relaxation share: step sizes, averaging, rounding."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from orthobench.contract import Array, complete, parameter
from orthobench.families.stochastic_pca import RelaxedSolution
from orthobench_stochastic_pca.rank_updates import RankUpdates, SpectrumState
from orthobench_stochastic_pca.rounding import filled, sampled
from orthobench_stochastic_pca.schedule import Scheduled
from orthobench_stochastic_pca.spectrum import Iterate


@dataclass(frozen=True)
class Relaxed(Scheduled, RankUpdates):
    """Base of the methods on {0 <= M <= I, tr M = k} (equation 3.3).

    Parameters
    ----------
    rounding : str
        The subspace that a solution gives: the k leading eigenvectors of M, or a corner of the
        feasible set drawn so that M is its expectation (Lemma 3.1). The draw is a function of
        the solver's seed and the number of steps.
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
        """Return the subspace and M, or the average of all M where that is asked for."""
        values, vectors, floor = self._spectrum(state)
        if self.rounding == "leading":
            point = complete(vectors, state.start, state.start.shape[1])
        else:
            point = self._sampled(state, values, vectors, floor)
        return RelaxedSolution(point, vectors=vectors, values=values, floor=floor)

    def _spectrum(self, state: SpectrumState) -> tuple[Array, Array, float]:
        """Return M's eigenvalues, descending, eigenvectors (d, m) and floor, in fresh arrays."""
        tracked = state.iterate
        if tracked.total is not None and state.work.steps:
            values, vectors = tracked.total.spectrum()
            return np.minimum(values / state.work.steps, 1.0), vectors, 0.0
        values, floor = self.eigenvalues(tracked.matrix)
        return values[::-1].copy(), np.ascontiguousarray(tracked.matrix.basis[::-1].T), floor

    def _sampled(self, state: SpectrumState, values: Array, vectors: Array, floor: float) -> Array:
        vectors, values = filled(vectors, values, floor, state.start)
        rng = np.random.default_rng([state.seed, state.work.steps])
        chosen = sampled(values, state.start.shape[1], rng)
        return np.ascontiguousarray(vectors[:, chosen])


def average_parameter() -> bool:
    """Declare the parameter ``average``."""
    declared: bool = parameter(
        False, help="read the solution off the average of all iterates, not the last one"
    )
    return declared


def start_parameter() -> str:
    """Declare the parameter ``start``."""
    declared: str = parameter(
        "zero",
        help="the first M: zero, or the projection onto a random subspace",
        choices=("zero", "random"),
    )
    return declared
