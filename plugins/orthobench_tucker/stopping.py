"""Stopping rules: small or rounded gradients, vanishing objectives, cycles."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from orthobench.contract import State, Status, is_plain, namespace, parameter
from orthobench.tools.arrays import like
from orthobench.tools.geometry import subspace_error
from orthobench_tucker import MomentOracle, SymmetricTensorOracle

VANISHING = 1e-13
"""Size of a core that is rounding, relative to its size without cancellation."""

LOOKED_AT = 64
"""Minimum number of samples for that size."""

TRUSTED = 10.0
"""Minimum ratio of a gradient to its rounding."""

VOID = 0.01
"""Rounding of the gradient, relative to F, above which F is rounding."""

MOVED = 1e-6
"""Minimum distance between two subspaces that counts as a step."""

RETURNS = 8
"""Number of returns that make a cycle."""


def tolerance_parameter() -> Any:
    """Declare the parameter ``tolerance`` of a whole-tensor solver."""
    return parameter(
        1e-12, low=0.0, help="relative gradient |grad F| / F to end at; 0 never ends there"
    )


def relative_gradient(slope: float, value: float) -> float:
    """Return |grad F| / F (Jin et al. 2022, section 4.2); infinite if F is zero."""
    return slope / value if value > 0 else inf


def fail_if_vanishing(
    state: State, oracle: SymmetricTensorOracle, Q: Any, size: float, inside: int
) -> None:
    """Fail the run if a core at the first basis Q (n, r) is not finite, or zero up to rounding.

    For samples x, a core with m = `inside` factors Q is rounding if its norm `size` is at most
    1e-13 of the mean of |x|^(d - m) |Q'x|^m. Here m is d for methods that follow the gradient of F,
    else d - 1.
    """
    if not np.isfinite(size):
        state.status, state.reason = Status.FAILED, "the objective is not finite at the first basis"
        return
    least = 0.0
    if isinstance(oracle, MomentOracle):
        rows = oracle.X[:: max(1, oracle.X.shape[0] // LOOKED_AT), :]
        sizes = _lengths(rows @ Q) ** inside
        if inside < oracle.order:
            sizes = sizes * _lengths(rows) ** (oracle.order - inside)
        least = VANISHING * float(namespace(sizes).mean(sizes))
    if size <= least:
        state.status = Status.FAILED
        state.reason = (
            "the objective vanishes at the first basis, up to rounding: try another start; "
            "samples that are symmetric about zero have no moments of odd order"
        )


def _lengths(rows: Any) -> Any:
    xp = namespace(rows)
    return xp.sqrt(np.einsum("ij,ij->i", rows, rows) if is_plain(rows) else xp.sum(rows**2, axis=1))


def perturbed(Q: Any) -> Any:
    """Return `Q` with every entry moved to the next float, up and down in turn."""
    n, r = Q.shape
    toward = np.where(np.arange(n * r) % 2, np.inf, -np.inf).reshape(n, r)
    return namespace(Q).nextafter(Q, like(toward, Q))


def stop_at_rounding(
    state: State, noise: float, slope: float, value: float, *, stuck: bool
) -> None:
    """Set the status after a step without a significant gain, by the rounding of the gradient.

    `noise` is the norm of the change of the gradient at `perturbed`, `slope` |grad F| and `value`
    F. If the noise is above a hundredth of F, F is rounding, and the run has failed. If it is above
    a tenth of the gradient, that is rounding, and the run has converged. Otherwise a `stuck`
    method, one without a step, has failed, and any other goes on.
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


def count_returns(returns: int, bases: tuple[Any, Any, Any], least: float) -> int:
    """Return the number of steps in a row that led back to the subspace before the last.

    `bases` are those before the last step, before this one, and now, each (n, r). A step returns if
    it ends closer to the first than `least` times its length. 8nr² flops, which do not count.
    """
    before, last, now = bases
    step = subspace_error(last, now)
    back = step > MOVED and subspace_error(before, now) <= least * step
    return returns + 1 if back else 0


def fail_if_cycling(state: State, returns: int, advice: str) -> None:
    """Fail the run after eight returns in a row, with advice."""
    if returns >= RETURNS and state.status is Status.RUNNING:
        state.status = Status.FAILED
        since = state.work.steps - RETURNS
        state.reason = f"oscillates between two subspaces since step {since}: {advice}"
