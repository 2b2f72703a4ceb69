"""How runs end: where the gradient is small, or rounding; where F vanishes; where they cycle."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from orthobench.contract import Array, State, Status, parameter, subspace_error
from orthobench.families.symmetric_tucker import MomentOracle, SymmetricTensorOracle

VANISHING = 1e-13
"""A core this small, relative to what it would be without cancellation, is rounding."""

LOOKED_AT = 64
"""Samples, at least, that say what a core would be without cancellation."""

TRUSTED = 10.0
"""A gradient is rounding unless it is so many times what the last bit of Q makes of it."""

VOID = 0.01
"""F is rounding where the last bit of Q changes its gradient by more than this share of F."""

MOVED = 1e-6
"""Least distance of two subspaces that is a step, not the end of convergence."""

RETURNS = 8
"""So many returns in a row are a cycle."""


def tolerance_parameter() -> Any:
    """Declare the parameter ``tolerance`` of a solver that sees the whole tensor."""
    return parameter(
        1e-12, low=0.0, help="relative gradient |grad F| / F to end at; 0 never ends there"
    )


def relative_gradient(slope: float, value: float) -> float:
    """Return |grad F| / F (section 4.2 of Jin et al. 2022); infinite where F vanishes.

    Where F does, its gradient does too: there F is least, and a method must not end.
    """
    return slope / value if value > 0 else inf


def fail_where_it_vanishes(
    state: State, oracle: SymmetricTensorOracle, Q: Array, size: float, inside: int
) -> None:
    """Fail the run where a core is zero at the first basis, but for rounding, or not finite.

    Of samples x, |M ·(I, ..., Q, ...)| is rounding where it is at most 1e-13 of the mean of
    |x|^(d - m) |Q'x|^m, with m times Q.

    Parameters
    ----------
    state : State
    oracle : SymmetricTensorOracle
    Q : ndarray, shape (n, r)
        The first basis.
    size : float
        |X ·(Q, ..., Q)| of methods that follow the gradient of F, which vanishes with it; or
        |X ·(I, Q, ..., Q)|.
    inside : int
        m, d or d - 1.
    """
    if not np.isfinite(size):
        state.status, state.reason = Status.FAILED, "the objective is not finite at the first basis"
        return
    least = 0.0
    if isinstance(oracle, MomentOracle):
        rows = oracle.X[:: max(1, len(oracle.X) // LOOKED_AT)]
        sizes = _lengths(rows @ Q) ** inside
        if inside < oracle.order:
            sizes *= _lengths(rows) ** (oracle.order - inside)
        least = VANISHING * float(sizes.mean())
    if size <= least:
        state.status = Status.FAILED
        state.reason = (
            "the objective vanishes at the first basis, up to rounding: try another start; "
            "samples that are symmetric about zero have no moments of odd order"
        )


def _lengths(rows: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def next_numbers(Q: Array) -> Array:
    """Return `Q` with its entries moved to the next numbers up and down, by turns."""
    toward = np.where(np.arange(Q.size) % 2, np.inf, -np.inf).reshape(Q.shape)
    return np.nextafter(Q, toward)


def end_in_rounding(state: State, noise: float, slope: float, value: float, *, stuck: bool) -> None:
    """Set the status where a step has gained nothing that counts, by what rounding does here.

    The gradient is computed anew with every entry of Q moved to the next number up or down. If
    that changes it by a hundredth of F, all of F is rounding, and the run has failed. If it changes
    it by a tenth of itself, the gradient is rounding, and the run has converged. Else there is more
    to gain, and to be `stuck` is to fail.

    Parameters
    ----------
    state : State
    noise : float
        By how much the gradient has changed at `next_numbers`.
    slope, value : float
        |grad F| and F, in the same unit.
    stuck : bool
        Whether no step was found at all.
    """
    if noise > VOID * value:
        state.status = Status.FAILED
        state.reason = "the objective is zero up to rounding"
    elif slope <= TRUSTED * noise:
        state.status = Status.CONVERGED
    elif stuck:
        state.status = Status.FAILED
        state.reason = (
            f"no step raises the objective, but the relative gradient, "
            f"{relative_gradient(slope, value):.1e}, is not rounding"
        )


def count_returns(returns: int, bases: tuple[Array, Array, Array], least: float) -> int:
    """Return how many steps in a row have led back to where the step before began.

    Parameters
    ----------
    returns : int
        How many had before this one.
    bases : tuple of ndarray, shape (n, r)
        Before the last step, before this one, and now.
    least : float
        A step that ends closer to the subspace before the last than this times its length returns.

    Notes
    -----
    8nr² flops, which are not counted: they are no part of a method.
    """
    before, last, now = bases
    step = subspace_error(last, now)
    back = step > MOVED and subspace_error(before, now) <= least * step
    return returns + 1 if back else 0


def fail_where_it_cycles(state: State, returns: int, advice: str) -> None:
    """Fail the run where eight steps in a row have returned.

    Parameters
    ----------
    state : State
    returns : int
        Of `count_returns`.
    advice : str
        What to do about it.
    """
    if returns >= RETURNS and state.status is Status.RUNNING:
        state.status = Status.FAILED
        since = state.work.steps - RETURNS
        state.reason = f"oscillates between two subspaces since step {since}: {advice}"
