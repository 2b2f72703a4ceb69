"""The block version of the generalized power method, with arrays of any library.

All rows are evaluated at each step, and thresholded: the formulae are those of
`orthobench_gpower._kernels.kernels`, which leaves out rows that cannot be active.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from orthobench.contract import namespace, polar


class DenseAscent(NamedTuple):
    """The ascent of a block: a point, and the gradient there.

    Attributes
    ----------
    rows : array, shape (n, N)
        The data, features by samples.
    bound : float
        The value that |a_i'x_j| of an active row exceeds.
    hard : bool
        Whether active rows enter by their products (l0) or by the excess over the bound (l1).
    weights : array, shape (m,)
        Squared weights mu_j² of the columns.
    X : array, shape (m, N)
        The point, transposed: orthonormal rows.
    gradient : array, shape (m, N)
        Half the gradient at the point, transposed.
    value : array, shape ()
        The objective at the point.
    active : array of bool, shape (n, m)
        Whether each row is active for each column.
    """

    rows: Any
    bound: float
    hard: bool
    weights: Any
    X: Any
    gradient: Any
    value: Any
    active: Any


def begin(rows: Any, bound: float, hard: bool, weights: Any, X: Any) -> DenseAscent:
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


def next_point(ascent: DenseAscent) -> Any:
    """Return the polar factor of the gradient, transposed."""
    return polar(ascent.gradient.T).T


def first_point(rows: Any, longest: float, norms: Any, others: Any) -> Any:
    """Return the first of the longest rows, shape (N, 1), and other columns beside it.

    Parameters
    ----------
    rows : array, shape (n, N)
    longest : float
        The least length of a row that counts as longest.
    norms : array, shape (n,)
    others : array, shape (N, m - 1)
    """
    xp = namespace(rows)
    first = xp.argmax(xp.astype(norms >= longest, xp.int32))
    row = xp.take(rows, xp.reshape(first, (1,)), axis=0)
    return xp.concat([row.T, others], axis=1)
