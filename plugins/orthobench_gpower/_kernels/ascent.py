"""The iterate of the generalized power method, screened or dense."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, namespace


class Ascent(NamedTuple):
    """The ascent of one component or of a block: a point, and the gradient there.

    Row i of the data is active for column j if |a_i'x_j| exceeds the bound; only active rows
    matter. An inactive row is evaluated again only after x_j has moved far enough, by |a_i'x| <=
    |a_i'y| + |a_i| |x - y|. The iterates are those without screening, up to the order of
    summation.

    Attributes
    ----------
    rows, norms, inverse_norms : ndarray, shapes (n, N), C order, (n,) and (n,)
        Features by samples; inverses are zero if the norm is at most the bound.
    bound : float
        Minimum |a_i'x_j| of an active row.
    hard : bool
        Hard (l0) or soft (l1) thresholding.
    weights : ndarray, shape (m,)
        Squared weights mu_j² of the columns.
    X, gradient : ndarray, shape (m, N)
        The point, orthonormal rows, and half the gradient there, both transposed.
    value : ndarray, shape (1,)
        The objective at the point.
    path : ndarray, shape (m,)
        Length of each column's path so far.
    due : ndarray, shape (m, n)
        Path length at which to evaluate a row again: -inf if it is active, inf if its norm is at
        most the bound.
    """

    rows: Array
    norms: Array
    inverse_norms: Array
    bound: float
    hard: bool
    weights: Array
    X: Array
    gradient: Array
    value: Array
    path: Array
    due: Array

    @property
    def active(self) -> NDArray[np.bool_]:
        """Whether rows are active for columns, shape (n, m)."""
        return np.isneginf(self.due.T)


class DenseAscent(NamedTuple):
    """The ascent of a block in any library, with the fields of `Ascent` and `active` (n, m)."""

    rows: Any
    bound: float
    hard: bool
    weights: Any
    X: Any
    gradient: Any
    value: Any
    active: Any


def dense_ascent(rows: Any, bound: float, hard: bool, weights: Any, X: Any) -> DenseAscent:
    """Return the ascent at a point X (m, N); 4nNm flops."""
    xp = namespace(rows)
    scores = rows @ X.T
    sizes, none = xp.abs(scores), xp.zeros_like(scores)
    active = sizes > bound
    excess = xp.where(active, sizes - bound, none)
    factors = xp.where(active, scores, none) if hard else xp.where(scores < 0, -excess, excess)
    gains = excess * (sizes + bound) if hard else excess * excess
    gradient = (factors * weights).T @ rows
    return DenseAscent(rows, bound, hard, weights, X, gradient, xp.sum(gains * weights), active)


def dense_start(rows: Any, longest: float, norms: Any, others: Any) -> Any:
    """Return the longest row, shape (N, 1), next to the other columns."""
    xp = namespace(rows)
    first = xp.argmax(xp.astype(norms >= longest, xp.int32))
    row = xp.take(rows, xp.reshape(first, (1,)), axis=0)
    return xp.concat([row.T, others], axis=1)
