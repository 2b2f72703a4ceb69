"""The state, the stopping rules and the metric that second-order methods share."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any

import numpy as np

from orthobench.contract import Array, State, Status, parameter
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels.partial_cores import PartialCores
from orthobench_tucker.objective import Point, evaluate, evaluation_flops
from orthobench_tucker.stopping import fail_if_vanishing, perturbed, stop_at_rounding

WEAKEST = 1e-3
"""Least eigenvalue of the metric of the core, relative to the largest."""


@dataclass(slots=True, kw_only=True)
class AscentState(State):
    """The point of an ascent.

    Attributes
    ----------
    point : Point
        The present basis with the derivatives of F.
    """

    point: Point


def preconditioned_parameter() -> Any:
    """Declare the parameter ``preconditioned`` of a second-order solver."""
    return parameter(True, help="Q'∇F as the first Hessian, in place of a multiple of the identity")


def core_metric(B: Array, preconditioned: bool) -> tuple[Array, float]:
    """Return the inverse of the metric of the core, and its scale.

    The Hessian of -F maps V to V B, B = Q'∇F, up to terms with W - QS, which vanish where the
    tensor has the rank sought. With B as the Hessian a Newton step is one of the power iteration,
    Q <- orth ∇F. So B is a good first Hessian. Here it is scaled to a largest eigenvalue of one,
    and eigenvalues below 1e-3 are raised to that, since a core may lack some directions.

    Parameters
    ----------
    B : ndarray, shape (r, r)
    preconditioned : bool
        Without it the metric is the identity.

    Returns
    -------
    ndarray, shape (r, r)
        Symmetric and positive definite.
    float
        The largest eigenvalue of B.

    Notes
    -----
    9r³ flops.
    """
    values, vectors = np.linalg.eigh(B)
    scale = float(values[-1])
    if not preconditioned:
        return np.eye(len(B)), scale
    return (vectors / np.maximum(values / scale, WEAKEST)) @ vectors.T, scale


def check_point(state: AscentState, tolerance: float) -> None:
    """End the run where F is not finite at the present point, or the gradient is small there."""
    point = state.point
    n, r = point.Q.shape
    if not isfinite(point.value):
        state.status = Status.FAILED
        state.reason = "the objective is not finite; rescale the data"
    elif n == r or point.slope == 0 or 0 < point.relative_gradient <= tolerance:
        state.status = Status.CONVERGED


def check_first_point(state: AscentState, oracle: SymmetricTensorOracle, tolerance: float) -> None:
    """End the run where F vanishes at the first point, or as `check_point` does."""
    point = state.point
    size = point.unit * sqrt(point.value)
    fail_if_vanishing(state, oracle, point.Q, size, oracle.order)
    if state.status is Status.RUNNING:
        check_point(state, tolerance)


def check_stalled(cores: PartialCores, state: AscentState, *, stuck: bool) -> None:
    """End the run after a step without a significant gain, where the gradient is rounding.

    See `orthobench_tucker.stopping.stop_at_rounding`.

    Parameters
    ----------
    cores : PartialCores
    state : AscentState
    stuck : bool
        Whether no step was found at all.

    Notes
    -----
    One evaluation of F and its gradient, which is counted.
    """
    point = state.point
    state.work.flops += evaluation_flops(cores, point.Q.shape[1])
    near = evaluate(cores, perturbed(point.Q), point.unit)
    noise = float(np.linalg.norm(near.gradient - point.gradient))
    stop_at_rounding(state, noise, point.slope, point.value, stuck=stuck)
