"""The base of the methods on the convex relaxation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, SampleOracle, Solver, complete, parameter
from orthobench_stochastic_pca import RelaxedSolution
from orthobench_stochastic_pca._kernels.iterates import BLOCK, Iterate, Projection
from orthobench_stochastic_pca.rank_updates import SpectrumState, begun, update
from orthobench_stochastic_pca.schedule import Scheduled

ROUNDING = 1e-12
"""Weight or difference of the trace that is rounding."""

MANY = 24
"""Number of samples in a block of methods of unbounded rank."""


@dataclass(frozen=True)
class Relaxed(Scheduled, Solver[SampleOracle, SpectrumState]):
    """Base of the methods on the relaxation {0 <= M <= I, tr M = k}.

    Subclasses define the first M, and the projection of its eigenvalues after each step. With
    ``rounding="sampled"`` the subspace of a solution is a random corner (extreme point) of the
    feasible set, whose expectation is M; the seed and the number of steps determine it.

    Class attributes
    ----------------
    block : int
        Number of samples in a block.
    average : bool
        Whether the solution is read from the mean of all M. May be a parameter.

    References
    ----------
    Arora, Cotter and Srebro 2013, problem 3.3 and Lemma 3.1.
    """

    rounding: str = parameter(
        "leading",
        help="subspace of M: its leading eigenvectors, or a sampled corner",
        choices=("leading", "sampled"),
    )

    block: ClassVar[int] = BLOCK
    average = False
    batch = 1

    @abstractmethod
    def initial(self, oracle: SampleOracle) -> Iterate:
        """Return the iterate before the first sample."""

    @abstractmethod
    def projection(self, oracle: SampleOracle) -> Projection:
        """Return the projection of the eigenvalues."""

    def eigenvalues(self, matrix: Iterate) -> tuple[Array, float]:
        """Return M's eigenvalues, and that of all other directions."""
        return matrix.values, 0.0

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> SpectrumState:
        return begun(oracle, rng, self.projection(oracle), self.initial(oracle), self.average)

    def advance(self, oracle: SampleOracle, state: SpectrumState, count: int) -> None:
        update(oracle, state, count, self.etas_along, self.block, self.relative)

    def solution(self, state: SpectrumState) -> RelaxedSolution:
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
        vectors, values = fill_trace(vectors, values, floor, state.start)
        rng = np.random.default_rng([state.seed, state.work.steps])
        chosen = sampled(values, state.start.shape[1], rng)
        return np.ascontiguousarray(vectors[:, chosen])


def start_parameter() -> Any:
    """Declare the parameter ``start``."""
    return parameter(
        "zero",
        help="first M: zero, or a projection onto a random subspace",
        choices=("zero", "random"),
    )


def average_parameter() -> Any:
    """Declare the parameter ``average``."""
    return parameter(False, help="read the solution from the average of all iterates")


def corners(values: Array, k: int) -> Iterator[tuple[float, NDArray[np.intp]]]:
    """Decompose a feasible matrix into a convex combination of projections of rank k, its corners.

    `values` (n,) are eigenvalues in [0, 1] with sum k. Yields weights, which sum to one, each with
    the k eigenvectors that span the corner. At most n corners, O(n log n) operations each. Warmuth
    and Kuzmin 2008, Algorithm 2; Arora, Cotter and Srebro 2013, Lemma 3.1.
    """
    left, total = np.clip(values, 0.0, 1.0), 1.0
    while total > 0.0:
        order = np.argsort(-left, kind="stable")
        chosen, others = order[:k], order[k:]
        largest = left[others[0]] if len(others) else 0.0
        weight = min(left[chosen[-1]], total - largest)
        if weight <= ROUNDING or total - weight <= ROUNDING:
            weight = total
        yield float(weight), chosen
        left[chosen] = np.maximum(left[chosen] - weight, 0.0)
        total -= weight


def sampled(values: Array, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw a corner with its weight as probability."""
    threshold = rng.random()
    chosen = np.arange(k)
    for weight, chosen in corners(values, k):  # noqa: B007 - the last one is used
        threshold -= weight
        if threshold < 0.0:
            break
    return chosen


def fill_trace(vectors: Array, values: Array, floor: float, start: Array) -> tuple[Array, Array]:
    """Return eigenvectors and eigenvalues of a matrix of trace k, from which `sampled` can draw.

    `vectors` are (d, m), `values` (m,) descending, `start` (d, k) orthonormal. If the `floor` of
    all other directions is positive, they get eigenvectors too. If the trace is below k, one shift,
    clipped to [0, 1], raises the eigenvalues of the eigenvectors and of the directions of `start`
    (Arora, Cotter and Srebro 2013, Lemma 3.2).
    """
    from orthobench_stochastic_pca._kernels.projection import shift

    (d, m), k = vectors.shape, start.shape[1]
    if floor > 0.0 and m < d:
        basis, _ = np.linalg.qr(vectors, mode="complete")
        return np.hstack([vectors, basis[:, m:]]), np.append(values, np.full(d - m, floor))
    if values.sum() >= k - ROUNDING:
        return vectors, values
    n = min(m + k, d)
    spread = np.append(values, np.zeros(n - m))
    change = shift(np.ascontiguousarray(spread[::-1]), float(k))
    return complete(vectors, start, n), np.clip(spread + change, 0.0, 1.0)
