"""Sparse PCA with as many components as samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench_sparse_pca import SparsePCA, SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.oracle import gamma_parameter, loadings_parameter

from orthobench.contract import (
    AnyProblem,
    DataError,
    Solver,
    State,
    Status,
    UsageError,
    parameter,
    random_point,
)
from orthobench.tools.flops import gemm
from orthobench_givens._kernels.pairs import Pairs, round_robin, uniform_pairs
from orthobench_givens._kernels.sparse_columns import Columns, empty_columns


@dataclass(slots=True, kw_only=True)
class SparsePCAState(State):
    """AU, as `columns`, whose tally has the gain of the current pass, and its `pairs`.

    `done` pairs are rotated; `cyclic` is whether the pass has each pair once, and `value` the
    objective at its beginning.
    """

    columns: Columns
    rng: np.random.Generator
    pairs: Pairs
    done: int = 0
    cyclic: bool
    value: float


@dataclass(frozen=True)
class GivensSparsePCA(Solver[SparsePCAOracle, SparsePCAState]):
    """Riemannian coordinate maximization of sum_ij [|AU|_ij - gamma]²_+ over orthogonal U.

    A step rotates a pair of columns of AU by the best angle of the full circle; U is not stored. A
    pass is N(N-1)/2 steps. If a pass of random pairs gains at most `tolerance` of the objective, a
    pass through all pairs in cyclic order follows; if that gains as little, the method has
    converged.

    The printed algorithm ends with ``solveForZ(AU, gamma)``, Algorithm 6 of Journée et al. (2010),
    which needs A too: ``"filled"`` loadings are that algorithm with AU as the data;
    ``"thresholded"`` ones need only AU and gamma.

    Notes
    -----
    Rows of A of norm at most gamma are dropped at the start. Flops are counted over all d rows, as
    in the paper. A step takes 3d to find the rows that can contribute, 12d for each of usually 4
    to 17 values of the objective, 24d for each of 2 to 3 evaluations with derivatives, and 6d for
    the rotation. A random start costs 2dN². Memory: dN doubles, less the dropped rows.

    References
    ----------
    Shalit and Chechik 2014, Algorithm 2.
    """

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "givens-sparse-pca"
    source: ClassVar[str] = "Shalit and Chechik 2014, Algorithm 2"
    screens: ClassVar[bool] = True

    gamma: float = gamma_parameter(0.25, "largest row norm of A")
    start: str = parameter(
        "identity", choices=("identity", "random"), help="U at the start; a random one is uniform"
    )
    order: str = parameter(
        "random", choices=("random", "cyclic"),
        help="pairs drawn uniformly, or each once a pass in rounds of disjoint pairs",
    )  # fmt: skip
    tolerance: float = parameter(
        1e-6, low=0.0, help="converged when a pass over all pairs gains no more", unit="objective"
    )
    loadings: str = loadings_parameter()

    def refuses(self, problem: AnyProblem) -> str | None:
        reason = super().refuses(problem)
        if reason is None and isinstance(problem, SparsePCA) and problem.samples is not None:
            reason = _mismatch(problem.m, problem.samples)
        return reason

    def init(self, oracle: SparsePCAOracle, rng: np.random.Generator) -> SparsePCAState:
        """Compute AU at the start.

        UsageError if the numbers of components and samples differ; DataError if A is zero, or has
        a row norm that overflows.
        """
        n = oracle.samples
        reason = _mismatch(oracle.k, n)
        if reason is not None:
            raise UsageError(f"{self.name} {reason}")
        columns = self._columns(oracle)
        if self.start == "random":
            columns.array[:] = random_point(n, n, rng).T @ columns.array
        cyclic = self.order == "cyclic"
        state = SparsePCAState(
            columns=columns, rng=rng, pairs=_pass(n, cyclic, rng), cyclic=cyclic,
            value=columns.objective, status=Status.RUNNING if n > 1 else Status.CONVERGED,
        )  # fmt: skip
        state.work.flops = self._start_flops(oracle)
        return state

    def advance(self, oracle: SparsePCAOracle, state: SparsePCAState, count: int) -> None:
        while count > 0 and state.status is Status.RUNNING:
            pairs = state.pairs[state.done : state.done + count]
            state.columns.rotate(pairs)
            state.done += len(pairs)
            state.work.steps += len(pairs)
            count -= len(pairs)
            if state.done == len(state.pairs):
                self._end_pass(oracle.samples, state)
        state.work.flops = self._start_flops(oracle) + state.columns.flops

    def solution(self, state: SparsePCAState) -> SparseSolution:
        columns = state.columns
        Z = columns.loadings(len(columns.array), self.loadings)
        return SparseSolution(Z, gamma=columns.gamma)

    def _start_flops(self, oracle: SparsePCAOracle) -> int:
        return gemm(oracle.n, oracle.samples, oracle.samples) if self.start == "random" else 0

    def _columns(self, oracle: SparsePCAOracle) -> Columns:
        d, n = oracle.A.shape
        largest = float(oracle.norms.max())
        if not 0.0 < largest < np.inf:
            raise DataError(f"{self.name}: the largest row norm of A is {largest}: rescale A")
        gamma = self.gamma * largest
        contributing = oracle.norms > gamma if self.screens else np.ones(d, dtype=bool)
        features = np.flatnonzero(contributing)
        array = empty_columns(n, len(features))
        array[:, : len(features)] = oracle.A[features].T
        return Columns(array, features, d, gamma)

    def _end_pass(self, n: int, state: SparsePCAState) -> None:
        gain = state.columns.tally.gain
        flat = gain <= self.tolerance * state.value
        if flat and state.cyclic:
            state.status = Status.CONVERGED
            return
        state.value += gain
        state.columns.tally = state.columns.tally._replace(gain=0.0)
        state.done = 0
        if self.order == "random":
            state.cyclic, state.pairs = flat, _pass(n, flat, state.rng)


def _pass(n: int, cyclic: bool, rng: np.random.Generator) -> Pairs:
    """Return the pairs of a pass: each once, or the same number drawn at random."""
    return round_robin(n) if cyclic else uniform_pairs(n, n * (n - 1) // 2, rng)


def _mismatch(m: int, samples: int) -> str | None:
    if m == samples:
        return None
    return (
        f"needs as many components as samples, not m = {m} of {samples}: "
        "take givens-streaming-sparse-pca or gpower"
    )
