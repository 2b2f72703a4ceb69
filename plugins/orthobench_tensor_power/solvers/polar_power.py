"""The simultaneous power iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.arrays import maximum, norm, where
from orthobench_kit.ending import EndingSolver, EndingState, finish_if, read_end, unless_ended
from orthobench_orthogonal_tensor import (
    TensorOracle,
    decomposition,
    first_point,
    first_point_flops,
    start_parameter,
)

from orthobench.contract import (
    Solution,
    copied,
    flops,
    is_plain,
    namespace,
    parameter,
    polar,
)
from orthobench.tools.geometry import diagonal_signs

ALLOWED_FAILURES = 2
"""Number of steps that may fail to raise the objective before the shift is turned on."""

ROUNDING = 1e-6
"""Relative gradient below which a lower objective may be rounding, and is no failed step."""


@dataclass(slots=True, kw_only=True)
class PolarPowerState(EndingState):
    """The factors U (n, n), orthonormal columns of nonnegative weights, with their contractions.

    The packed T is `tensor`, in other libraries than NumPy T unfolded (n, n²); `contracted` (n, n)
    has the columns T(I, u_i, u_i). The number `failures` counts steps that did not raise the
    objective; `shift` is the multiple of U added before the polar factor.
    """

    tensor: Any
    norm: Any
    U: Any
    contracted: Any
    weights: Any
    failures: Any = 0
    shift: Any = 0.0


@dataclass(frozen=True)
class PolarPower(EndingSolver[TensorOracle, PolarPowerState]):
    """Simultaneous power iteration: U <- polar([T(I, u_i, u_i)]_i), all factors at once.

    [T(I, u_i, u_i)]_i is a third of the gradient of sum_i T(u_i, u_i, u_i). Since T(I, u, u) =
    T(I, -u, -u), signed permutations of the factors, which are local maxima, become the global
    maximum in one step. The third step that fails to raise the objective turns on a shift, U <-
    polar([T(I, u_i, u_i)]_i + shift U): the mean weight, doubled at each failed step from then on.

    The method has converged when |skew(U'[T(I, u_i, u_i)]_i)| is at most `tolerance` |T|. The
    error of a factor of weight w is then at most about tolerance |T| / w.

    Notes
    -----
    2n⁴ + 4n³ flops and a polar factor, 28n³, a step; the symmetry of T halves the first. Memory:
    n³/2 doubles for the packed tensor; elsewhere than in NumPy 2n³, for T and products u_b u_c.

    References
    ----------
    The tensor power iteration of Anandkumar, Ge, Hsu, Kakade and Telgarsky 2014, Algorithm 1, on
    all factors at once. For a convex objective it is the gradient scheme of Journée, Nesterov,
    Richtárik and Sepulchre 2010, Algorithm 1, on the orthogonal group. The shift is that of Kolda
    and Mayo 2011 (SS-HOPM), on matrices.
    """

    start: str = start_parameter()
    tolerance: float = parameter(1e-13, help="relative gradient at convergence", low=0.0)

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "polar-power"
    source: ClassVar[str] = "Anandkumar et al. 2014, Algorithm 1, on all factors at once"

    def init(self, oracle: TensorOracle, rng: np.random.Generator) -> PolarPowerState:
        tensor, size = _tensor(oracle.T)
        U = first_point(oracle, self.start, rng)
        state = PolarPowerState(tensor=tensor, norm=size, U=U, contracted=U, weights=U[0, :])
        state.work.flops += first_point_flops(oracle.n, self.start)
        self._contract(state)
        read_end(oracle, state)
        return state

    def step(self, oracle: TensorOracle, state: PolarPowerState) -> None:
        value, n = _sum(state.weights), state.U.shape[0]
        moved = polar(state.contracted + state.shift * state.U)
        state.U = unless_ended(state, moved, state.U)
        state.work.steps += 1
        state.work.flops += flops.polar(n, n)
        gradient = self._contract(state)
        failed = (_sum(state.weights) <= value) & (gradient > ROUNDING)
        if failed is not False:
            state.failures = where(failed, state.failures + 1, state.failures)
            too_many = failed & (state.failures > ALLOWED_FAILURES)
            state.shift = where(too_many, maximum(2 * state.shift, value / n), state.shift)

    def solution(self, state: PolarPowerState) -> Solution:
        return decomposition(state.U, state.weights)

    def _contract(self, state: PolarPowerState) -> Any:
        xp = namespace(state.U)
        state.contracted = _contracted(state.tensor, state.U)
        inner = state.U.T @ state.contracted
        state.work.flops += contraction_flops(inner.shape[0])
        signs = diagonal_signs(inner)
        state.U = state.U * signs
        inner = inner * signs[:, None]
        state.weights = copied(inner.diagonal() if is_plain(inner) else xp.linalg.diagonal(inner))
        gradient = norm(inner - inner.T) / 2 / state.norm
        finish_if(state, gradient <= self.tolerance)
        return gradient


def _sum(weights: Any) -> Any:
    return float(weights.sum()) if is_plain(weights) else namespace(weights).sum(weights)


def _tensor(T: Any) -> tuple[Any, Any]:
    if not is_plain(T):
        n = T.shape[0]
        return namespace(T).reshape(T, (n, n * n)), norm(T)
    from orthobench_tensor_power._kernels.contractions import norm as norm_of_packed
    from orthobench_tensor_power._kernels.contractions import packed

    P = packed(T)
    return P, norm_of_packed(P)


def _contracted(tensor: Any, U: Any) -> Any:
    if not is_plain(U):
        n = U.shape[0]
        return tensor @ namespace(U).reshape(U[:, None, :] * U[None, :, :], (n * n, n))
    from orthobench_tensor_power._kernels.contractions import contracted

    return contracted(tensor, U)


def contraction_flops(n: int) -> int:
    """Return the flops of [T(I, u_i, u_i)]_i and U' times that: 2n⁴ + 4n³."""
    return flops.gemm(n * n, n, n) + 2 * flops.gemm(n, n, n)
