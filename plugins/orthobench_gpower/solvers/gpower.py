"""The generalized power method for sparse PCA."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.arrays import like
from orthobench_kit.ending import EndingSolver, EndingState, finish_if, unless_ended
from orthobench_sparse_pca import SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.delivery import delivers
from orthobench_sparse_pca.loadings import solve_for_z
from orthobench_sparse_pca.oracle import gamma_parameter, loadings_parameter

from orthobench.contract import (
    Array,
    ParameterError,
    Status,
    flops,
    is_plain,
    namespace,
    orthonormalize,
    parameter,
    polar,
    unit_columns,
)
from orthobench_gpower._kernels.ascent import Ascent, DenseAscent, dense_ascent, dense_start

EPS = float(np.finfo(np.float64).eps)

TIED = 1e-10
"""Relative difference below which two norms count as equal."""


@dataclass(slots=True, kw_only=True)
class GPowerState(EndingState):
    """The ascent of the block, or of the current component, on deflated data in a unit.

    `kept` (n,) are the features of the data, `unit` is a power of two that divides them, against
    overflow. In `loadings` (d, m) columns of unfinished components are zero, outside NumPy all.
    `component` is the number of finished ones.
    """

    ascent: Any
    kept: NDArray[np.intp]
    unit: float
    loadings: Array
    component: int = 0


@delivers
@dataclass(frozen=True)
class GPower(EndingSolver[SparsePCAOracle, GPowerState]):
    """Generalized power method: maximize a convex function of X on the sphere or X'X = I.

    With the rows a_i of A (features; in the paper columns) and X (N, m), the objective is sum_ij
    [mu_j |a_i'x_j| - g_j]²_+ for the l1 penalty, and sum_ij [(mu_j a_i'x_j)² - g_j]_+ for the l0
    penalty. A step moves X to the polar factor of the gradient. The greedy version finds
    components one after the other, on deflated data A <- A - z (z'A), from the longest row; a
    block also starts at random orthonormal columns.

    Parameters
    ----------
    mu : {"equal", "distinct"}
        Weights mu_j of the components of a block: all 1, or 1/j.
    gamma : float
        g_j = gamma mu_j |a| for l1 and gamma mu_j² |a|² for l0, with the norm |a| of the longest
        row, in the greedy version of deflated data. With 1 all loadings are zero.
    loadings : {"filled", "thresholded"}
        Those that explain most variance with the pattern, or A X, for l1 less the penalty, at unit
        length.

    Notes
    -----
    Flops, with dense data as the paper counts: 2dN for the norms and 4dNm at the start; 4dNm a
    step, and in a block a polar factor (N, m). In the greedy version m is 1, and all components
    but the last cost 4dN for the deflation. Computing Z from X is not counted; screening of rows
    computes less. Memory: the data once more, and dm doubles.

    References
    ----------
    Journée, Nesterov, Richtárik and Sepulchre 2010, Algorithms 1 to 6.
    """

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "gpower"
    source: ClassVar[str] = "Journée, Nesterov, Richtárik and Sepulchre 2010, Algorithms 2 to 6"

    penalty: str = parameter("l1", help="penalty on the loadings", choices=("l1", "l0"))
    block: bool = parameter(False, help="all components at once, not one after the other")
    mu: str = parameter(
        "equal",
        help="weights of the components of a block: 1 or 1/j",
        choices=("equal", "distinct"),
    )
    gamma: float = gamma_parameter(0.1, "the smallest penalty for which all loadings are zero")
    tolerance: float = parameter(
        1e-4, help="relative gain of the objective at convergence", low=0.0, below=1.0
    )
    loadings: str = loadings_parameter()

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if not self.block and self.mu != "equal":
            message = f"mu={self.mu} weighs the components of a block; set block=true, or leave mu"
            raise ParameterError("mu", message)
        if not self.block and self.place.moves:
            message = f"on={self.on} takes a block; set block=true, or on=numpy"
            raise ParameterError("on", message)

    def init(self, oracle: SparsePCAOracle, rng: np.random.Generator) -> GPowerState:
        if not is_plain(oracle.A):
            return self._init_elsewhere(oracle, rng)
        norms, kept = oracle.norms / oracle.unit, np.arange(oracle.n)
        if self.block:
            kept = np.flatnonzero(norms > self._bound(norms.max()))
        rows = np.array(oracle.A, order="C")
        rows = rows[kept] if len(kept) < len(rows) else rows
        rows /= oracle.unit
        others = rng.standard_normal((oracle.samples, oracle.k - 1 if self.block else 0))
        return self._started(oracle, self._begin(rows, norms[kept], others), kept)

    def _started(self, oracle: SparsePCAOracle, ascent: Any, kept: NDArray[np.intp]) -> GPowerState:
        loadings = np.zeros((oracle.n, oracle.k))
        state = GPowerState(ascent=ascent, kept=kept, unit=oracle.unit, loadings=loadings)
        state.work.flops = self._start_flops(oracle)
        return state

    def _init_elsewhere(self, oracle: SparsePCAOracle, rng: np.random.Generator) -> GPowerState:
        unit, rows = oracle.unit, oracle.A / oracle.unit
        longest = oracle.longest / unit
        others = like(rng.standard_normal((oracle.samples, oracle.k - 1)), rows)
        X = dense_start(rows, (1 - TIED) * longest, oracle.norms / unit, others)
        ascent = dense_ascent(
            rows, self._bound(longest), self.penalty == "l0", like(self._weights(oracle.k), rows),
            orthonormalize(X).T,
        )  # fmt: skip
        return self._started(oracle, ascent, np.arange(oracle.n))

    def step(self, oracle: SparsePCAOracle, state: GPowerState) -> None:
        if isinstance(state.ascent, Ascent):
            self.advance(oracle, state, 1)
            return
        now = state.ascent
        X = unless_ended(state, polar(now.gradient.T).T, now.X)
        state.ascent = dense_ascent(now.rows, now.bound, now.hard, now.weights, X)
        state.work.steps += 1
        state.work.flops += self._step_flops(oracle)
        finish_if(state, state.ascent.value - now.value <= self.tolerance * now.value)

    def advance(self, oracle: SparsePCAOracle, state: GPowerState, count: int) -> None:
        if isinstance(state.ascent, DenseAscent):
            super().advance(oracle, state, count)
            return
        from orthobench_gpower._kernels.kernels import ascend

        while count > 0 and state.status is Status.RUNNING:
            done, converged = ascend(state.ascent, self.tolerance, count)
            count -= done
            state.work.steps += done
            state.work.flops += done * self._step_flops(oracle)
            if converged:
                self._finish(oracle, state)

    def solution(self, state: GPowerState) -> SparseSolution:
        if isinstance(state.ascent, DenseAscent):
            return SparseSolution(self._loadings(state.ascent), gamma=self._absolute(state))
        Z = state.loadings.copy()
        if state.status is Status.RUNNING:
            last = state.component + len(state.ascent.X)
            Z[state.kept, state.component : last] = self._loadings(state.ascent)
        return SparseSolution(Z, gamma=self._absolute(state))

    def _loadings(self, ascent: Ascent | DenseAscent) -> Any:
        if self.loadings == "thresholded":
            return _thresholded(ascent)
        mu = namespace(ascent.weights).sqrt(ascent.weights)
        return solve_for_z(ascent.rows, ascent.active, ascent.X.T, mu)

    def _bound(self, longest: float) -> float:
        """Return the bound that |a_i'x| of an active row exceeds."""
        relative = self.gamma if self.penalty == "l1" else math.sqrt(self.gamma)
        return relative * float(longest)

    def _weights(self, m: int) -> Array:
        mu: Array = 1.0 / np.arange(1, m + 1) if self.mu == "distinct" else np.ones(m)
        return mu**2

    def _begin(self, rows: Array, norms: Array, others: Array) -> Ascent:
        from orthobench_gpower._kernels.kernels import begin

        # the first of equally long rows, as in standardized data
        x = rows[np.argmax(norms >= (1 - TIED) * norms.max())][:, None]
        X = np.ascontiguousarray(orthonormalize(np.hstack([x, others])).T)
        bound, weights = self._bound(norms.max()), self._weights(len(X))
        return begin(rows, norms, bound, self.penalty == "l0", weights, X)

    def _finish(self, oracle: SparsePCAOracle, state: GPowerState) -> None:
        ascent, done = state.ascent, state.component + len(state.ascent.X)
        Z = self._loadings(ascent)
        state.loadings[state.kept, state.component : done] = Z
        state.component = done
        if done < oracle.k:
            _deflate(ascent.rows, ascent.norms, Z[:, 0])
            state.work.flops += flops.gemm(oracle.n, oracle.samples, 2)
        if done == oracle.k or ascent.norms.max() <= oracle.samples * EPS:
            state.status = Status.CONVERGED
            return
        state.ascent = self._begin(ascent.rows, ascent.norms, np.empty((oracle.samples, 0)))
        state.work.flops += self._start_flops(oracle)

    def _absolute(self, state: GPowerState) -> float | None:
        shared = self.gamma == 0 or state.loadings.shape[1] == 1
        shared = shared or (self.block and self.mu == "equal")
        return state.ascent.bound * state.unit if shared and self.penalty == "l1" else None

    def _start_flops(self, oracle: SparsePCAOracle) -> int:
        m = oracle.k if self.block else 1
        return flops.gemm(oracle.n, oracle.samples, 1 + 2 * m)

    def _step_flops(self, oracle: SparsePCAOracle) -> int:
        m = oracle.k if self.block else 1
        factor = flops.polar(oracle.samples, m) if self.block else 0
        return flops.gemm(oracle.n, oracle.samples, 2 * m) + factor


def _thresholded(ascent: Ascent | DenseAscent) -> Any:
    """Return A X for active rows, for l1 less the bound, with columns of unit length."""
    if isinstance(ascent, DenseAscent):
        xp = namespace(ascent.X)
        scores = ascent.rows @ ascent.X.T
        excess = scores if ascent.hard else scores - xp.sign(scores) * ascent.bound
        return unit_columns(xp.where(ascent.active, excess, xp.zeros_like(excess)))
    active, rows = ascent.active, np.flatnonzero(ascent.active.any(axis=1))
    Z = np.zeros(active.shape)
    scores = ascent.rows[rows] @ ascent.X.T
    excess = np.abs(scores) - (0.0 if ascent.hard else ascent.bound)
    Z[rows] = np.where(active[rows], np.sign(scores) * np.maximum(excess, 0.0), 0.0)
    return unit_columns(Z)


def _deflate(rows: Array, norms: Array, z: Array) -> None:
    """Set A <- A - z (z'A) in place, and update the norms in the support."""
    support = np.flatnonzero(z)
    changed = rows[support]
    changed -= np.outer(z[support], z[support] @ changed)
    rows[support] = changed
    norms[support] = np.linalg.norm(changed, axis=1)
