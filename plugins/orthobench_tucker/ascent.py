"""What the second-order methods share: their state, their end, and the metric of the core."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from orthobench.arrays import Array
from orthobench.parameters import parameter
from orthobench.solver import State, Status
from orthobench_tucker.objective import Point, evaluate, evaluation_flops
from orthobench_tucker.partial_cores import PartialCores

WEAKEST = 1e-3
"""Smallest eigenvalue of the metric of the core, relative to the largest."""

TRUSTED = 10.0
"""A gradient is rounding unless it is so many times what the last bit of Q makes of it."""

VOID = 0.01
"""F is rounding where the last bit of Q changes its gradient by more than this share of F."""


@dataclass(slots=True, kw_only=True)
class AscentState(State):
    """Where the ascent is.

    Attributes
    ----------
    point : Point
    """

    point: Point


def tolerance_parameter() -> Any:
    """Declare the parameter ``tolerance`` of a second-order solver."""
    return parameter(
        1e-12, low=0.0, help="relative gradient |grad F| / F to end at; 0 never ends there"
    )


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
    elif point.value <= 0:
        state.status = Status.FAILED
        state.reason = "the objective is zero at the first basis, and so flat; try another start"
    elif n == r or point.slope == 0 or 0 < point.relative_gradient <= tolerance:
        state.status = Status.CONVERGED


def settle_stalled(cores: PartialCores, state: AscentState, *, stuck: bool) -> None:
    """Set the status where a step has gained nothing that counts, by what rounding does here.

    F and its gradient are computed anew with every entry of Q moved to the next number up or
    down. If that changes the gradient by a hundredth of F, all of F is rounding, and the run has
    failed. If it changes it by a tenth of itself, the gradient is rounding, and the run has
    converged. Else there is more to gain, and to be `stuck` is to fail.

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
    if noise > VOID * point.value:
        state.status = Status.FAILED
        state.reason = f"the objective, {point.value * point.unit**2:.3g}, is zero up to rounding"
    elif point.slope <= TRUSTED * noise:
        state.status = Status.CONVERGED
    elif stuck:
        state.status = Status.FAILED
        state.reason = (
            f"no step raises the objective, but the relative gradient, "
            f"{point.relative_gradient:.1e}, is not rounding"
        )


def next_numbers(Q: Array) -> Array:
    """Return `Q` with its entries moved to the next numbers up and down, by turns."""
    toward = np.where(np.arange(Q.size) % 2, np.inf, -np.inf).reshape(Q.shape)
    return np.nextafter(Q, toward)
