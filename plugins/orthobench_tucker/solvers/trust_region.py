"""Riemannian trust regions on the Grassmannian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, sqrt
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, Status, flops, orthonormalize, parameter
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels.partial_cores import PartialCores, partial_cores
from orthobench_tucker.objective import (
    RESOLVED,
    AscentState,
    Point,
    check_first_point,
    check_point,
    check_stalled,
    core_metric,
    evaluate,
    evaluation_flops,
    gain,
    hessian,
    hessian_flops,
    preconditioned_parameter,
    tolerance_parameter,
)
from orthobench_tucker.whole_tensor import WholeTensorSolver, form_parameter, start_parameter

ACCEPT, SHRINK, GROW = 0.1, 0.25, 0.75
"""Ratios of gain to prediction at which steps are accepted and the radius changes."""

KAPPA, THETA = 0.1, 1.0
"""A subproblem's residual falls by kappa, or by the relative gradient to the power theta."""

SMALLEST = 1e-16
"""Minimum radius, relative to the largest."""

FELL = 0.5
"""Ratio of gradients above which a gain near rounding has stalled."""


@dataclass(slots=True, kw_only=True)
class TrustRegionState(AscentState):
    """The point, the radius, and the number of Hessian-vector products."""

    radius: float
    products: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """The solution V (n, r) of a subproblem, and its predicted gain <g, V> + <V, HV> / 2.

    `bounded` says whether V lies on the boundary.
    """

    V: Array
    gain: float
    products: int
    bounded: bool


@dataclass(frozen=True)
class TrustRegion(WholeTensorSolver[TrustRegionState]):
    """The Riemannian trust-region method with truncated conjugate gradients.

    Each step approximately maximizes F + <grad F, V> + <V, Hess F[V]> / 2 within a radius, by the
    method of Steihaug and Toint, to a residual of min(0.1, |grad F| / F) times the initial one. The
    next point is orth(Q + V), if F gains at least a tenth of the prediction.

    With ``preconditioned``, this project's, the subproblem is posed in the scaled metric of V -> V
    (Q'∇F). Near rounding the gain comes from the derivatives at both ends (`gain`), not from
    Manopt's regularized ratio, which accepts every step there. The run also ends if the gradient is
    rounding (`stop_at_rounding`).

    Notes
    -----
    A step: one evaluation of F and its gradient, and a Hessian-vector product for each inner
    iteration. With samples a product costs up to two evaluations; with a tensor of order three or
    more it reads only `PartialCores.pairs`, n² C(r + d - 3, d - 2) doubles.

    References
    ----------
    Ishteva, Absil, Van Huffel and De Lathauwer 2011, for tensors of order three that need not be
    symmetric; here for symmetric tensors of any order, with the Hessian of Jin, Kileel, Kolda and
    Ward 2022, equation 41. The method and its constants are those of Absil, Baker and Gallivan
    2007.
    """

    form: str = form_parameter()
    start: str = start_parameter()
    radius: float = parameter(0.125, above=0.0, high=1.0, help="first radius, relative to sqrt(r)")
    inner: int | None = parameter(
        None, low=1, help="maximum number of Hessian-vector products of a step"
    )
    preconditioned: bool = preconditioned_parameter()
    tolerance: float = tolerance_parameter()

    name: ClassVar[str] = "trust-region"
    source: ClassVar[str] = "Ishteva, Absil, Van Huffel, De Lathauwer 2011"

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> TrustRegionState:
        cores = partial_cores(oracle, self.form)
        point = evaluate(cores, self.first_basis(oracle, rng), pairs=True)
        state = TrustRegionState(point=point, radius=self.radius * sqrt(oracle.k))
        check_first_point(state, oracle, self.tolerance)
        evaluation = evaluation_flops(cores, oracle.k, pairs=True)
        state.work.flops += self.start_flops(oracle) + evaluation
        return state

    def step(self, oracle: SymmetricTensorOracle, state: TrustRegionState) -> None:
        cores, point = partial_cores(oracle, self.form), state.point
        trial = self._subproblem(cores, state)
        new = evaluate(cores, orthonormalize(point.Q + trial.V), point.unit, pairs=True)
        slopes = (float(np.vdot(point.gradient, trial.V)), float(np.vdot(new.gradient, trial.V)))
        gained = gain(point.value, new.value, slopes)
        ratio = gained / trial.gain if trial.gain > 0 else -inf
        if not ratio >= SHRINK:
            state.radius /= 4
        elif ratio > GROW and trial.bounded:
            state.radius = min(2 * state.radius, sqrt(oracle.k))
        self._count(cores, state, trial)
        if ratio > ACCEPT:
            state.point = new
            check_point(state, self.tolerance)
        self._check_stalled(cores, state, point, trial)

    def solution(self, state: TrustRegionState) -> Solution:
        return Solution(state.point.Q.copy())

    def _subproblem(self, cores: PartialCores, state: TrustRegionState) -> Step:
        point = state.point
        n, r = point.Q.shape
        inverse, _ = core_metric(point.B, self.preconditioned)
        return truncated_cg(
            point.gradient,
            partial(hessian, cores, point),
            inverse,
            state.radius,
            min(KAPPA, point.relative_gradient**THETA),
            self.inner or (n - r) * r,
        )

    def _count(self, cores: PartialCores, state: TrustRegionState, trial: Step) -> None:
        n, r = state.point.Q.shape
        each = hessian_flops(cores, r) + flops.gemm(n, r, r) + 18 * n * r
        state.work.steps += 1
        state.products += trial.products
        state.work.flops += (
            trial.products * each
            + flops.eigh(r)
            + flops.qr(n, r)
            + evaluation_flops(cores, r, pairs=True)
        )

    def _check_stalled(
        self, cores: PartialCores, state: TrustRegionState, before: Point, trial: Step
    ) -> None:
        if state.status is not Status.RUNNING or self.tolerance == 0:
            return
        stuck = state.radius < SMALLEST * sqrt(before.Q.shape[1])
        unseen = trial.gain <= RESOLVED * before.value
        if stuck or (unseen and state.point.slope > FELL * before.slope):
            check_stalled(cores, state, stuck=stuck)


def truncated_cg(
    gradient: Array,
    product: Callable[[Array], Array],
    inverse: Array,
    radius: float,
    reduction: float,
    most: int,
) -> Step:
    """Maximize <g, V> + <V, HV> / 2 over |V|_M <= radius approximately, |V|_M² = <V, V M>.

    Conjugate gradients from zero, preconditioned by M. They end at the boundary if they cross it or
    meet a direction P with <P, HP> >= 0, else once the residual g + HV has fallen by `reduction`,
    in the norm of M^-1, or after `most` products. The `gradient` is g (n, r), `product` maps V to
    HV, and `inverse` is M^-1 (r, r), symmetric and positive definite. One product, 2nr² flops and
    about 18nr for each iteration.

    References
    ----------
    Steihaug 1983; Toint 1981; Absil, Baker and Gallivan 2007, Algorithm 2, in which lengths follow
    by recurrence as in Conn, Gould and Toint 2000, Algorithm 7.5.1.
    """
    V, HV = np.zeros_like(gradient), np.zeros_like(gradient)
    residual = gradient.copy()
    preconditioned = residual @ inverse
    P = preconditioned
    size = float(np.vdot(residual, preconditioned))
    enough = reduction * sqrt(size)
    vv, vp, pp = 0.0, 0.0, size  # <V, V>_M, <V, P>_M, <P, P>_M
    for taken in range(1, most + 1):
        HP = product(P)
        curvature = -float(np.vdot(P, HP))
        length = size / curvature if curvature > 0 else inf
        if vv + length * (2 * vp + length * pp) >= radius**2:
            reach = (sqrt(vp * vp + pp * (radius**2 - vv)) - vp) / pp
            return _step(gradient, V + reach * P, HV + reach * HP, taken, bounded=True)
        V += length * P
        HV += length * HP
        residual += length * HP
        vv += length * (2 * vp + length * pp)
        preconditioned = residual @ inverse
        before, size = size, float(np.vdot(residual, preconditioned))
        if sqrt(size) <= enough:
            break
        share = size / before
        vp, pp = share * (vp + length * pp), size + share * share * pp
        P = preconditioned + share * P
    return _step(gradient, V, HV, taken, bounded=False)


def _step(gradient: Array, V: Array, HV: Array, products: int, *, bounded: bool) -> Step:
    rise = float(np.vdot(gradient, V) + np.vdot(V, HV) / 2)
    return Step(V, rise, products, bounded)
