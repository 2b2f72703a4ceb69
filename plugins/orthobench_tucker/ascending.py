"""The step-size rule "ascending" of `pgd`: which steps are accepted, and the next step size.

A step has gamma = s over the length of each column of the gradient. It is accepted if F gains at
least a tenth of the first-order gain of a step of size 1 / tr(Q'∇F)::

    min(s, 1) |V|² / (10 (2d F + |V|)),        V = (I - QQ') ∇F.

A nonnegative gain is not enough: orthogonal iteration on diag(1, -1) alternates for ever at the
same F. A rejected step is tried again with a tenth of s, and accepted at the latest once all gamma
are below 1/L (see the page of `pgd`). After three accepted steps in a row s doubles, up to its
initial value.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from orthobench_kit.arrays import inner, like

from orthobench.contract import State, namespace
from orthobench_tucker._kernels.arrays import GAMMA_0, units
from orthobench_tucker.objective import RESOLVED, gain

SUFFICIENT = 0.1
"""Minimum share of the first-order gain at which a step is accepted."""

CUT, GROWTH = 10.0, 2.0
"""Divisor of s after a rejected step, and factor by which s grows again."""

PATIENCE = 3
"""Number of accepted steps in a row before s grows."""

SMALLEST = 1e-16
"""Minimum s."""

ROUNDING = 1e-14
"""Fall of F, relative to F, that counts as rounding."""


class Iterate(NamedTuple):
    """A basis Q' (r, n) with F and ∇F = QP + V: `inner` is P (r, r), `tangent` V' (r, n)."""

    basis: Any
    inner: Any
    tangent: Any
    objective: float
    relative_gradient: float


@dataclass(slots=True, kw_only=True)
class PGDState(State):
    """The iterate, and the step size.

    Attributes
    ----------
    before : array, shape (r, n)
        Q' before the last step.
    squares : array, shape (r,)
        Sum of the squared gradients of each column, from gamma_0² on (AdaGrad).
    lipschitz : float
        L (`PGD`) under the rule "constant"; else zero.
    step_size : float
        s of the rule "ascending".
    accepted, returns : int
        Number of steps in a row accepted since s changed, and that returned (`count_returns`).
    """

    iterate: Iterate
    before: Any
    squares: Any
    lipschitz: float
    step_size: float
    accepted: int = 0
    raised: bool = True
    returns: int = 0

    @property
    def basis(self) -> Any:
        """Q', shape (r, n)."""
        return self.iterate.basis

    @property
    def objective(self) -> float:
        """F(Q)."""
        return self.iterate.objective

    @property
    def relative_gradient(self) -> float:
        """The relative gradient."""
        return self.iterate.relative_gradient


def first_state(iterate: Iterate, step_size: float, lipschitz: float = 0.0) -> PGDState:
    """Return the state before the first step."""
    first = GAMMA_0**2 * float(
        inner(iterate.inner, iterate.inner) + inner(iterate.tangent, iterate.tangent)
    )
    return PGDState(
        iterate=iterate,
        before=iterate.basis,
        squares=like(np.full(iterate.basis.shape[0], first), iterate.basis),
        lipschitz=lipschitz,
        step_size=step_size,
    )


def accepts(state: PGDState, trial: Iterate, order: int, largest: float) -> bool:
    """Return whether a step raises F enough, and change the iterate, or s."""
    if not sufficient(state.iterate, trial, order, state.step_size):
        state.step_size, state.accepted = max(state.step_size / CUT, SMALLEST), 0
        return False
    state.iterate = trial
    state.accepted += 1
    if state.step_size < largest and state.accepted >= PATIENCE:
        state.step_size, state.accepted = min(GROWTH * state.step_size, largest), 0
    return True


def sufficient(current: Iterate, trial: Iterate, order: int, step_size: float) -> bool:
    """Return whether F gains enough in a step for it to be accepted.

    Near rounding the gain is taken from the gradients (`objective.gain`), and a step that halves
    the gradient is accepted unless F falls by more than rounding.
    """
    F, relative = current.objective, current.relative_gradient
    least = SUFFICIENT * min(step_size, 1.0) * relative * relative * F / (2 * order + relative)
    gained, coarser = trial.objective - F, units(current.basis)
    resolved = RESOLVED * sqrt(coarser)
    if abs(gained) <= resolved * F:
        if 2 * trial.relative_gradient <= relative and gained >= -ROUNDING * coarser * F:
            return True
        gained = gain(F, trial.objective, end_slopes(current, trial), resolved)
    return gained >= least


def end_slopes(current: Iterate, trial: Iterate) -> tuple[float, float]:
    """Return the derivatives of F at both ends of the curve that starts along Y (Q'Y)^-1 - Q.

    Infinite if Q'Y has no inverse. 6nr² flops, and the inverse of an (r, r) matrix.
    """
    cosines = current.basis @ trial.basis.T
    try:
        inverse = namespace(cosines).linalg.inv(cosines)
    except np.linalg.LinAlgError:
        return np.inf, np.inf
    first = inner(current.tangent @ trial.basis.T, inverse.T)
    last = inner(trial.tangent @ current.basis.T, inverse)
    return float(first), -float(last)


def unresolved(current: Iterate) -> bool:
    """Return whether gains of F are near rounding."""
    return current.relative_gradient**2 <= RESOLVED * sqrt(units(current.basis))
