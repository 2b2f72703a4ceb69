"""The objective F(Q) = |X ·(Q, ..., Q)|² on the Grassmannian, its derivatives, and stopping rules.

Points are subspaces, given by orthonormal bases Q (n, r). Tangent vectors V (n, r) are horizontal:
Q'V = 0. With W = X ·(I, Q, ..., Q), a column for each distinct monomial of degree d - 1, their
multiplicities c, C = diag(c), S = Q'W, and dW the derivative of W in the direction V::

    F = tr(S C S')

    ∇F = 2d W C S'

    grad F = (I - QQ') ∇F = 2d (W - QS) C S'

    Hess F[V] = 2d (I - QQ') (dW C S' + W C dS') - V (Q'∇F),    dS = V'W + Q'dW

All come from W - QS, so that nothing cancels if the gradient is small. Jin, Kileel, Kolda and Ward
(2022) have ∇F as equation 6, and grad F and Hess F as equations 27 and 41, in terms of QQ'. The
tensor is divided by a unit, the norm of the core at the first point of a run, against overflow and
underflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, inf, isfinite, sqrt
from typing import Any

import numpy as np
from orthobench_kit.arrays import like
from orthobench_kit.geometry import subspace_error

from orthobench.contract import Array, State, Status, flops, is_plain, namespace, parameter
from orthobench_tucker import MomentOracle, SymmetricTensorOracle
from orthobench_tucker._kernels.partial_cores import PartialCores, core_of_pairs
from orthobench_tucker.sample_moments import core_norm_squared, monomials

RESOLVED = 1e-9
"""Minimum relative change of F for an accurate difference."""

WEAKEST = 1e-3
"""Minimum eigenvalue of the core's metric, relative to the largest."""

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


@dataclass(frozen=True, slots=True)
class Point:
    """A basis with the derivatives of F there, all but `pairs` divided by the unit.

    Attributes
    ----------
    Q : ndarray, shape (n, r)
    S : ndarray, shape (r, N)
        Q'W, the core unfolded along its first index.
    normal : ndarray, shape (n, N)
        W - QS.
    value : float
        F.
    gradient : ndarray, shape (n, r)
        grad F, horizontal.
    B : ndarray, shape (r, r)
        Q'∇F = 2d S C S', symmetric and positive semidefinite; its trace is 2d F.
    pairs : ndarray, shape (N', n, n), optional
        `PartialCores.pairs`, if Hessian-vector products use it.
    """

    Q: Array
    S: Array
    normal: Array
    unit: float
    value: float
    gradient: Array
    B: Array
    pairs: Array | None = None

    @property
    def slope(self) -> float:
        """|grad F|."""
        return float(np.linalg.norm(self.gradient))

    @property
    def relative_gradient(self) -> float:
        """|grad F| / F (section 4.2); infinite if F vanishes."""
        return relative_gradient(self.slope, self.value)


@dataclass(slots=True, kw_only=True)
class AscentState(State):
    """The point of an ascent."""

    point: Point


def evaluate(
    cores: PartialCores, Q: Array, unit: float | None = None, *, pairs: bool = False
) -> Point:
    """Return the value of F and its gradient at an orthonormal basis Q (n, r), which is not copied.

    The tensor is divided by `unit`, by default the norm of its core here. `pairs` prepares for many
    Hessian-vector products. `evaluation_flops`; memory 2nN, and n² N' for the pairs of an explicit
    tensor.
    """
    order = cores.order
    Y = cores.pairs(Q) if pairs else None
    W = cores.at(Q) if Y is None else core_of_pairs(Y, Q, order)
    S = Q.T @ W
    if unit is None:
        unit = sqrt(core_norm_squared(S, order)) or 1.0
    value, gradient, B, normal = derivatives(W / unit, S / unit, Q, order)
    return Point(Q, S / unit, normal, unit, value, gradient, (B + B.T) / 2, Y)


def derivatives(W: Array, S: Array, Q: Array, order: int) -> tuple[float, Array, Array, Array]:
    """Return F, grad F, Q'∇F and W - QS of a partial core W, (n, N), and of S = Q'W.

    `_kernels.ascent.evaluated` is the same, compiled.
    """
    weighted = _weighted(S, order)
    B = S @ weighted.T
    normal = W - Q @ S
    gradient = normal @ weighted.T
    gradient -= Q @ (Q.T @ gradient)
    return float(np.trace(B)) / (2 * order), gradient, B, normal


def hessian(cores: PartialCores, point: Point, V: Array) -> Array:
    """Return Hess F[V] of a horizontal V (n, r)."""
    Q, S, order = point.Q, point.S, cores.order
    dW = cores.along(Q, V, point.pairs) / point.unit
    dS = V.T @ point.normal + Q.T @ dW
    H = dW @ _weighted(S, order).T + point.normal @ _weighted(dS, order).T
    H -= Q @ (Q.T @ H)
    H -= V @ point.B
    return np.asarray(H)


def gain(
    before: float, after: float, slopes: tuple[float, float], resolved: float = RESOLVED
) -> float:
    """Return the gain of F from `before` to `after` along a curve with `slopes` at both ends.

    The difference or, if it and the slopes are at most `resolved` times F, the trapezoidal rule
    with the slopes, which then is far more accurate (Hager and Zhang 2005, the approximate Armijo
    condition). The curve's parameter goes from 0 to 1.
    """
    difference = after - before
    first, last = slopes
    if max(abs(first), abs(last), abs(difference)) > resolved * before:
        return difference
    return (first + last) / 2


def evaluation_flops(cores: PartialCores, rank: int, *, pairs: bool = False) -> int:
    """Return the flops of `evaluate`."""
    N = comb(rank + cores.order - 2, cores.order - 1)
    W = cores.pairs_flops(rank) if pairs else cores.at_flops(rank)
    return W + derivatives_flops(cores.n, rank, N)


def derivatives_flops(n: int, rank: int, size: int) -> int:
    """Return the flops of S and `derivatives`: 6nrN + 4nr² + 2r²N, N = `size`."""
    within = 2 * flops.gemm(n, rank, rank) + flops.gemm(rank, rank, size)
    return 3 * flops.gemm(n, rank, size) + within


def hessian_flops(cores: PartialCores, rank: int) -> int:
    """Return the flops of `hessian` at a point with pairs."""
    n, N = cores.n, comb(rank + cores.order - 2, cores.order - 1)
    return cores.along_flops(rank) + 4 * flops.gemm(n, rank, N) + 3 * flops.gemm(n, rank, rank)


def _weighted(S: Array, order: int) -> Array:
    weighted: Array = S * (2 * order * monomials(len(S), order - 1).multiplicities)
    return weighted


def preconditioned_parameter() -> Any:
    """Declare the parameter ``preconditioned`` of a second-order solver."""
    return parameter(True, help="begin with Q'∇F as the Hessian, not the identity")


def core_metric(B: Array, preconditioned: bool) -> tuple[Array, float]:
    """Return the inverse of the metric of the core (r, r), positive definite, and its scale.

    The Hessian of -F maps V to V B, B = Q'∇F, up to terms that vanish if the tensor has rank r. B
    is divided by its largest eigenvalue, the scale, and eigenvalues below 1e-3 are raised to that.
    Without `preconditioned` the metric is the identity.
    """
    values, vectors = np.linalg.eigh(B)
    scale = float(values[-1])
    if not preconditioned:
        return np.eye(len(B)), scale
    return (vectors / np.maximum(values / scale, WEAKEST)) @ vectors.T, scale


def check_point(state: AscentState, tolerance: float) -> None:
    """End the run if F is not finite, or the gradient is small."""
    point = state.point
    n, r = point.Q.shape
    if not isfinite(point.value):
        state.status = Status.FAILED
        state.reason = "the objective is not finite; rescale the data"
    elif n == r or point.slope == 0 or 0 < point.relative_gradient <= tolerance:
        state.status = Status.CONVERGED


def check_first_point(state: AscentState, oracle: SymmetricTensorOracle, tolerance: float) -> None:
    """End the run if F vanishes, or as `check_point` does."""
    point = state.point
    size = point.unit * sqrt(point.value)
    fail_if_vanishing(state, oracle, point.Q, size, oracle.order)
    if state.status is Status.RUNNING:
        check_point(state, tolerance)


def check_stalled(cores: PartialCores, state: AscentState, *, stuck: bool) -> None:
    """End the run after a step without a gain, if the gradient is rounding (`stop_at_rounding`).

    One evaluation, which is counted. `stuck` says whether no step was found.
    """
    point = state.point
    state.work.flops += evaluation_flops(cores, point.Q.shape[1])
    near = evaluate(cores, perturbed(point.Q), point.unit)
    noise = float(np.linalg.norm(near.gradient - point.gradient))
    stop_at_rounding(state, noise, point.slope, point.value, stuck=stuck)


def tolerance_parameter() -> Any:
    """Declare the parameter ``tolerance`` of a whole-tensor solver."""
    return parameter(1e-12, low=0.0, help="relative gradient |grad F| / F to end at; 0: never")


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
    F. If the noise is above a hundredth of F, the run has failed; if it is above a tenth of the
    gradient, the run has converged. Otherwise a `stuck` method, one without a step, has failed.
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
