"""The state of `pgd`, and how a step of its rule "ascending" is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.contract import State
from orthobench.tools.arrays import inner, like
from orthobench_tucker._kernels.adagrad import GAMMA_0
from orthobench_tucker._kernels.ascending import CUT, SMALLEST, Iterate, next_step_size, sufficient


@dataclass(slots=True, kw_only=True)
class PGDState(State):
    """The iterate, and the step size.

    Attributes
    ----------
    iterate : Iterate
        The basis with its gradient.
    before : array, shape (r, n)
        Q' before the last step.
    squares : array, shape (r,)
        For each column gamma_0², to which AdaGrad adds the squares of its gradients.
    lipschitz : float
        L (`PGD`) under the rule "constant"; else zero.
    step_size : float
        s of the rule "ascending" (`orthobench_tucker._kernels.ascending`).
    accepted : int
        Number of steps that this rule has accepted in a row since s changed.
    raised : bool
        Whether the last step raised F.
    returns : int
        Number of steps in a row that have led back to the subspace before the last.
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
    """Return whether a step raises F enough, and change the state: its iterate, or s.

    Parameters
    ----------
    state : PGDState
    trial : Iterate
        After the step.
    order : int
        d.
    largest : float
        The initial value of s.
    """
    if sufficient(state.iterate, trial, order, state.step_size):
        state.iterate = trial
        state.step_size, state.accepted = next_step_size(state.step_size, largest, state.accepted)
        return True
    state.step_size, state.accepted = max(state.step_size / CUT, SMALLEST), 0
    return False
