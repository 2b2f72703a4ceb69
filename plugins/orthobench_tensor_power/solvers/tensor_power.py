"""The robust tensor power method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from orthobench_orthogonal_tensor import STARTS, TensorOracle, decomposition

from orthobench.contract import (
    Array,
    Solution,
    Solver,
    State,
    Status,
    complete,
    flops,
    parameter,
    polar,
    unit_columns,
)

NULL = 1e-12
"""Norm of a deflated tensor, relative to that of T, below which no factors are left."""


@dataclass(slots=True, kw_only=True)
class TensorPowerState(State):
    """The factors found, the deflated tensor, and the restarts for the next factor.

    `start` (n, n) completes solutions by its last columns; `norm` is |T|, `deflated` T less the
    components found, packed. The factors (n, found) are orthogonal up to noise. The `thetas` (n,
    m) are the restarts still running, or the one being refined, for `iterations` of this phase;
    `best` (n,) is that of largest T(theta, theta, theta) so far, `best_value`.
    """

    rng: np.random.Generator
    start: Array
    norm: float
    deflated: Array
    factors: Array
    weights: Array
    thetas: Array
    iterations: int = 0
    refining: bool = False
    best: Array
    best_value: float = -np.inf


@dataclass(frozen=True)
class TensorPower(Solver[TensorOracle, TensorPowerState]):
    """Robust tensor power method: theta <- T(I, theta, theta) / |.|, with restarts and deflation.

    For each factor: `iterations` = N iterations from each of `restarts` starts, and as many more
    from the result of largest weight T(theta, theta, theta); that component is then subtracted
    from T. A step is one contraction T(I, theta, theta), for all restarts still running or for the
    refinement, which ends early when theta moves by at most `tolerance`, a restart at the square
    root of that. The run ends after n factors, or when the norm of the deflated tensor is 1e-12 of
    that of T.

    The orthonormal q_i of solutions maximize sum_i w_i <q_i, u_i> for the factors found, completed
    by the common start; weights are T(q, q, q). The start ``"contraction"`` takes the eigenvectors
    of T(I, I, w), T deflated and w random.

    Notes
    -----
    2n³m + 2n²m + 5nm flops for an iteration of m restarts, 2n³ + n² + n for a deflation; the
    symmetry of T halves what is computed. Memory: n³/2 doubles for the deflated tensor.

    References
    ----------
    Anandkumar, Ge, Hsu, Kakade and Telgarsky 2014, "Tensor decompositions for learning latent
    variable models", Algorithm 1.
    """

    restarts: int = parameter(30, help="starts for each factor", low=1)
    iterations: int = parameter(30, help="iterations from each start, and to refine", low=1)
    tolerance: float = parameter(
        1e-12, help="theta has converged when it moves by no more; 0 for all iterations", low=0.0
    )
    start: str = parameter(
        "random",
        help="starts: random, standard basis vectors, or eigenvectors of a random T(I, I, w)",
        choices=STARTS,
    )

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "tensor-power"
    source: ClassVar[str] = (
        "Anandkumar, Ge, Hsu, Kakade and Telgarsky 2014, Algorithm 1 (robust tensor power method)"
    )

    def init(self, oracle: TensorOracle, rng: np.random.Generator) -> TensorPowerState:
        from orthobench_tensor_power._kernels.contractions import norm, packed

        n, deflated = oracle.n, packed(oracle.T)
        state = TensorPowerState(
            rng=rng,
            start=oracle.start.copy(),
            norm=norm(deflated),
            deflated=deflated,
            factors=np.empty((n, 0)),
            weights=np.empty(0),
            thetas=np.empty((n, 0)),
            best=np.empty(n),
        )
        self._restart(state)
        return state

    def step(self, oracle: TensorOracle, state: TensorPowerState) -> None:
        from orthobench_tensor_power._kernels.contractions import power_iteration

        thetas, values, moved = power_iteration(state.deflated, state.thetas)
        state.work.steps += 1
        state.work.flops += iteration_flops(oracle.n, len(values))
        tolerance = self.tolerance if state.refining else self.tolerance**0.5
        ended = (moved <= tolerance) | (state.iterations == self.iterations)
        state.iterations += 1
        if state.refining and ended[0]:
            self._deflate(state, float(values[0]))
        elif ended.any():
            self._end(state, ended, thetas, values)
        else:
            state.thetas = thetas

    def solution(self, state: TensorPowerState) -> Solution:
        from orthobench_tensor_power._kernels.contractions import contracted

        found, n = len(state.weights), len(state.start)
        Q = complete(polar(state.factors * state.weights), state.start, n)
        Q[:, found:] = Q[:, found:] @ polar(Q[:, found:].T @ state.start[:, found:])
        weights = np.einsum("ai,ai->i", Q, contracted(state.deflated, Q))
        return decomposition(Q, weights + state.weights @ (state.factors.T @ Q) ** 3)

    def _end(
        self, state: TensorPowerState, ended: NDArray[np.bool_], thetas: Array, values: Array
    ) -> None:
        best = int(np.where(ended, values, -np.inf).argmax())
        if values[best] > state.best_value:
            state.best, state.best_value = thetas[:, best].copy(), float(values[best])
        state.thetas = np.compress(~ended, thetas, axis=1)
        if ended.all():
            state.thetas, state.iterations, state.refining = state.best[:, None], 1, True

    def _deflate(self, state: TensorPowerState, weight: float) -> None:
        from orthobench_tensor_power._kernels.contractions import deflate

        n = len(state.start)
        left = deflate(state.deflated, state.thetas[:, 0].copy(), weight)
        state.work.flops += deflation_flops(n)
        state.factors = np.hstack([state.factors, state.thetas])
        state.weights = np.append(state.weights, weight)
        if len(state.weights) == n or left <= NULL * state.norm:
            state.status = Status.CONVERGED
        else:
            self._restart(state)

    def _restart(self, state: TensorPowerState) -> None:
        state.thetas = self._starts(state)
        state.iterations, state.refining, state.best_value = 0, False, -np.inf

    def _starts(self, state: TensorPowerState) -> Array:
        n, L = len(state.start), self.restarts
        if self.start == "random":
            return unit_columns(state.rng.standard_normal((n, L)))
        if self.start == "identity":
            columns = len(state.weights) * L + np.arange(min(L, n))
            return np.ascontiguousarray(np.eye(n)[:, columns % n])
        bases = [_eigenvectors(state) for _ in range(-(-L // n))]
        return np.ascontiguousarray(np.hstack(bases)[:, :L])


def _eigenvectors(state: TensorPowerState) -> Array:
    """Return the eigenvectors of T(I, I, w), T deflated, w random, largest |eigenvalue| first."""
    from orthobench_tensor_power._kernels.contractions import weighted_slices

    w = state.rng.standard_normal(len(state.start))
    state.work.flops += flops.gemm(len(w) ** 2, 1, len(w)) + flops.eigh(len(w))
    values, vectors = np.linalg.eigh(weighted_slices(state.deflated, w / np.linalg.norm(w)))
    return np.asarray(vectors[:, np.argsort(-np.abs(values), kind="stable")])


def iteration_flops(n: int, m: int) -> int:
    """Return the flops of one power iteration of m vectors: 2n³m + 2n²m + 5nm."""
    return flops.gemm(n * n, m, n) + flops.gemm(n, m, n) + 5 * n * m


def deflation_flops(n: int) -> int:
    """Return the flops of T - w u ⊗ u ⊗ u: 2n³ + n² + n."""
    return 2 * n**3 + n**2 + n
