"""What the second-order methods share: their state, their end, and the metric of the core."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any

import numpy as np

from orthobench.contract import Array, State, Status, parameter
from orthobench.families.symmetric_tucker import SymmetricTensorOracle
from orthobench_tucker.endings import end_in_rounding, fail_where_it_vanishes, next_numbers
from orthobench_tucker.objective import Point, evaluate, evaluation_flops
from orthobench_tucker.partial_cores import PartialCores

WEAKEST = 1e-3
"""Smallest eigenvalue of the metric of the core, relative to the largest."""


@dataclass(slots=True, kw_only=True)
class AscentState(State):
    """Where the ascent is.

    Attributes
    ----------
    point : Point
    """

    point: Point


def preconditioned_parameter() -> Any:
    """Declare the parameter ``preconditioned`` of a second-order solver."""
    return parameter(
        True, help="begin from Q'∇F as the Hessian, in place of a multiple of the identity"
    )


def core_metric(B: Array, preconditioned: bool) -> tuple[Array, float]:
    """Return the inverse of the metric of the core, and its scale.

    The Hessian of -F is V B, B = Q'∇F, but for terms with W - QS, which vanish where the tensor
    has the rank sought; V B^-1 of the gradient is the step of the power iteration, Q <- orth ∇F.
    So B makes a good first Hessian. Here it is scaled to a largest eigenvalue of one, and
    eigenvalues below 1e-3 are raised to that: a core may lack some directions.

    Parameters
    ----------
    B : ndarray, shape (r, r)
    preconditioned : bool
        Otherwise the metric is the identity.

    Returns
    -------
    ndarray, shape (r, r)
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


def settle(state: AscentState, tolerance: float) -> None:
    """Set the status that a point leaves: at the end, nowhere, or on the way."""
    point = state.point
    n, r = point.Q.shape
    if not isfinite(point.value):
        state.status = Status.FAILED
        state.reason = "the objective is not finite; rescale the data"
    elif n == r or point.slope == 0 or 0 < point.relative_gradient <= tolerance:
        state.status = Status.CONVERGED


def settle_first(state: AscentState, oracle: SymmetricTensorOracle, tolerance: float) -> None:
    """Set the status that the first point leaves."""
    point = state.point
    size = point.unit * sqrt(point.value)
    fail_where_it_vanishes(state, oracle, point.Q, size, oracle.order)
    if state.status is Status.RUNNING:
        settle(state, tolerance)


def settle_stalled(cores: PartialCores, state: AscentState, *, stuck: bool) -> None:
    """Set the status where a step has gained nothing that counts (`endings.end_in_rounding`).

    Parameters
    ----------
    cores : PartialCores
    state : AscentState
    stuck : bool
        Whether no step was found at all.
    """
    point = state.point
    state.work.flops += evaluation_flops(cores, point.Q.shape[1])
    shaken = evaluate(cores, next_numbers(point.Q), point.unit)
    noise = float(np.linalg.norm(shaken.gradient - point.gradient))
    end_in_rounding(state, noise, point.slope, point.value, stuck=stuck)
