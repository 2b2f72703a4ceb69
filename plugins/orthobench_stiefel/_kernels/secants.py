"""Limited-memory BFGS: directions from the last changes of the point and of its gradient.

The two-loop recursion for all matrices, with projections as transport (Huang, Gallivan and Absil
2015). The first approximation has one number per column (Gilbert and Lemaréchal 1989).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from orthobench_kit.arrays import inner, ratio, where
from orthobench_kit.stacks import transposed

from orthobench.contract import namespace
from orthobench_stiefel import projected

PAIRS = 5
"""Number of changes that are kept."""

CURVED = 1e-24
"""Minimum <S, Y>² of a pair, relative to |S|²|Y|²."""

SPREAD = 10.0
"""Maximum factor between the scales of a column and of all."""


class Pair(NamedTuple):
    """The changes S of the point and Y of its gradient, (n, p) or (m, n, p), and their curvature.

    `over` is 1/<S, Y>, or 0 for a pair to ignore; `step` is |<S, Y>|/|Y|² of the parts of both
    outside the span of X (of both if X is square), and `columns`, (1, p), its logarithm for each
    column.
    """

    S: Any
    Y: Any
    over: Any
    step: Any
    columns: Any


def pair(X: Any, S: Any, Y: Any, before: Any) -> Pair:
    """Return the pair of changes that end at X; 8np² + 16np flops.

    If its step vanishes, it keeps the previous one, `before`.
    """
    xp, product = namespace(X), inner(S, Y)
    counts = product * abs(product) > CURVED * inner(S, S) * inner(Y, Y)
    square = X.shape[-1] == X.shape[-2]
    outside, change = (A if square else A - X @ (transposed(X) @ A) for A in (S, Y))
    common = ratio(abs(inner(outside, change)), inner(change, change), before)
    common = where(common > 0, common, before)
    squares = xp.sum(change * change, axis=-2, keepdims=True)
    squares = xp.where(squares > 0, squares, xp.ones_like(squares))
    each = xp.sum(outside * change, axis=-2, keepdims=True) / squares
    each = xp.clip(each, common / SPREAD, common * SPREAD)
    over = ratio(1.0, where(counts, product, 0.0 * product), 0.0)
    return Pair(S, Y, over, common, xp.log(each))


def first_guess(X: Any, R: Any, pairs: Sequence[Pair], weight: float) -> Any:
    """Return R times a step for each column outside the span of X, and one within; 8np² flops.

    The steps are geometric means over the pairs, scaled to the mean step of the last pair. X
    skew(X'R) is multiplied by that step, and by the weight unless X is square.
    """
    xp, step = namespace(X), pairs[-1].step
    columns = sum(one.columns for one in pairs) / len(pairs)
    scales = step * xp.exp(columns - xp.mean(columns))
    XR = transposed(X) @ R
    moved = (R - X @ XR) * scales
    if X.shape[-1] == X.shape[-2]:
        weight = 1.0
    inside = (weight * step / 2) * (XR - transposed(XR)) - transposed(X) @ moved
    return moved + X @ inside


def direction(X: Any, R: Any, pairs: Sequence[Pair], weight: float) -> Any:
    """Return the tangent HR, with the BFGS approximation H of the inverse Hessian.

    Parameters
    ----------
    X, R : array, shape (n, p) or (m, n, p)
        A point, and its Riemannian gradient in the Euclidean metric.
    pairs : sequence of Pair
        The latest last.
    weight : float
        Weight of X skew(X'R) in the first approximation of H.
    """
    return projected(X, two_loop(R, pairs, lambda R: first_guess(X, R, pairs, weight)))


def two_loop(R: Any, changes: Sequence[Any], first: Callable[[Any], Any]) -> Any:
    """Return HR, with the BFGS approximation H of the inverse Hessian; 8np flops a change.

    `changes` are S, Y, 1/<S, Y>, the latest last, and `first` multiplies by the first
    approximation. Nocedal and Wright 2006, Algorithm 7.4.
    """
    parts = []
    for S, Y, over, *_ in reversed(changes):
        parts.append(over * inner(S, R))
        R = R - parts[-1] * Y
    R = first(R)
    for (S, Y, over, *_), part in zip(changes, reversed(parts), strict=True):
        R = R + (part - over * inner(Y, R)) * S
    return R
