"""Riemannian trust regions on the Grassmannian, with exact Hessian-vector products."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf, sqrt
from typing import ClassVar

import numpy as np

from orthobench.contract import (
    AnyProblem,
    Solution,
    Solver,
    Status,
    flops,
    orthonormalize,
    parameter,
)
from orthobench.families.symmetric_tucker import SymmetricTensorOracle
from orthobench_tucker.endings import tolerance_parameter
from orthobench_tucker.objective import (
    RESOLVED,
    Point,
    evaluate,
    evaluation_flops,
    gain,
    hessian,
    hessian_flops,
)
from orthobench_tucker.partial_cores import (
    PartialCores,
    form_parameter,
    forming_flops,
    partial_cores,
    refusal,
)
from orthobench_tucker.second_order import (
    AscentState,
    core_metric,
    preconditioned_parameter,
    settle,
    settle_first,
    settle_stalled,
)
from orthobench_tucker.starts import first_basis, first_basis_flops, start_parameter
from orthobench_tucker.steihaug import Step, truncated_cg

ACCEPT, SHRINK, GROW = 0.1, 0.25, 0.75
"""Ratios of the gain to the one that the model predicts."""

KAPPA, THETA = 0.1, 1.0
"""The residual of a subproblem falls by the relative gradient to the power theta, or by kappa."""

SMALLEST = 1e-16
"""Radius, relative to the largest, at which no step is left."""

FELL = 0.5
"""A step that is too small to be seen in F has stalled unless the gradient falls to this share."""


@dataclass(slots=True, kw_only=True)
class TrustRegionState(AscentState):
    """Where the ascent is.

    Attributes
    ----------
    radius : float
        Of the trust region, in the metric of the subproblem.
    products : int
        Hessian-vector products so far.
    """

    radius: float
    products: int = 0


@dataclass(frozen=True)
class TrustRegion(Solver[SymmetricTensorOracle, TrustRegionState]):
    """The Riemannian trust-region method with truncated conjugate gradients.

    Each step maximizes the quadratic model F + <grad F, V> + <V, Hess F[V]> / 2 within a radius,
    roughly, by the method of Steihaug and Toint, with exact products; and goes to orth(Q + V), a
    retraction of second order, if F gains at least a tenth of what the model predicts. The
    subproblem is solved to a residual of min(0.1, |grad F| / F) times the first: then convergence
    to a nondegenerate maximum is quadratic. Saddle points are left along directions of
    positive curvature.

    With ``preconditioned``, which is this project's, the subproblem is posed in the metric of V
    -> V (Q'∇F), scaled; it then takes few products where a factor is stronger than others.
    Without it, in that of the identity, as in the paper.

    Where rounding shows in the difference of two values of F, the gain is taken from the
    derivatives at both ends (`orthobench_tucker.objective.gain`). It stands in place of the
    regularized ratio of Manopt, which takes every step there.

    Ends where the relative gradient |grad F| / F is at most `tolerance`, or where the gradient is
    found to be rounding (`orthobench_tucker.endings.end_in_rounding`): that is asked once no radius
    is left, and after steps that are too small to be seen in F and do not halve the gradient.

    Parameters
    ----------
    form, start : str
    radius : float
        First radius, relative to sqrt(r), which is the largest.
    inner : int, optional
        Hessian-vector products a step, at most; by default the dimension, (n - r) r.
    preconditioned : bool
    tolerance : float
        Zero to go on for ever.

    Notes
    -----
    A step costs one evaluation of F and its gradient, and a Hessian-vector product for each
    iteration of the conjugate gradients. With samples a product costs up to two evaluations; with
    an explicit tensor of order three or more it does not read the tensor, but what one evaluation
    has left of it (`orthobench_tucker.pair_cores`).

    References
    ----------
    Ishteva, Absil, Van Huffel and De Lathauwer 2011, there for tensors of order three that need not
    be symmetric; here for symmetric ones of any order, with the Hessian of Jin, Kileel, Kolda and
    Ward 2022, equation 41. The method and its constants are those of Absil, Baker and Gallivan
    2007.
    """

    form: str = form_parameter()
    start: str = start_parameter()
    radius: float = parameter(0.125, above=0.0, high=1.0, help="first radius, relative to sqrt(r)")
    inner: int | None = parameter(None, low=1, help="Hessian products a step, at most")
    preconditioned: bool = preconditioned_parameter()
    tolerance: float = tolerance_parameter()

    name: ClassVar[str] = "trust-region"
    needs: ClassVar[type[SymmetricTensorOracle]] = SymmetricTensorOracle  # type: ignore[type-abstract]
    source: ClassVar[str] = "Ishteva, Absil, Van Huffel, De Lathauwer 2011"

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: no tensor, no samples for this form or start, or too large a tensor."""
        return super().refuses(problem) or refusal(problem, self.form, self.start)

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> TrustRegionState:
        """Evaluate F at the first basis."""
        del rng
        cores = partial_cores(oracle, self.form)
        point = evaluate(cores, first_basis(oracle, self.start, self.form), pairs=True)
        state = TrustRegionState(point=point, radius=self.radius * sqrt(oracle.k))
        settle_first(state, oracle, self.tolerance)
        state.work.flops += (
            forming_flops(oracle, self.form)
            + first_basis_flops(oracle, self.start, self.form)
            + evaluation_flops(cores, oracle.k, pairs=True)
        )
        return state

    def step(self, oracle: SymmetricTensorOracle, state: TrustRegionState) -> None:
        """Solve one subproblem, and go where it says if F gains."""
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
            settle(state, self.tolerance)
        self._look_for_the_end(cores, state, point, trial)

    def solution(self, state: TrustRegionState) -> Solution:
        """Return Q, (n, r)."""
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

    def _look_for_the_end(
        self, cores: PartialCores, state: TrustRegionState, before: Point, trial: Step
    ) -> None:
        if state.status is not Status.RUNNING or self.tolerance == 0:
            return
        stuck = state.radius < SMALLEST * sqrt(before.Q.shape[1])
        unseen = trial.gain <= RESOLVED * before.value
        if stuck or (unseen and state.point.slope > FELL * before.slope):
            settle_stalled(cores, state, stuck=stuck)
