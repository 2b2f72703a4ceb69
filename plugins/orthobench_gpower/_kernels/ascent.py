"""The iterate of the generalized power method, with bounds on when inactive rows can change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array


class Ascent(NamedTuple):
    """The ascent of one component or of a block: a point, and the gradient there.

    Row i of the data is active for column j if |a_i'x_j| exceeds the bound; only active rows enter
    objective and gradient. An inactive row is evaluated again only when x_j has moved far enough
    since its last evaluation to have made it active, by |a_i'x| <= |a_i'y| + |a_i| |x - y|. So the
    iterates are those of the method without this screening, up to the order of summation.

    Attributes
    ----------
    rows : ndarray, shape (n, N), C order
        The data, features by samples.
    norms : ndarray, shape (n,)
        Norms of the rows.
    inverse_norms : ndarray, shape (n,)
        Their inverses; zero for a norm of at most the bound.
    bound : float
        The value that |a_i'x_j| of an active row exceeds, the same for all columns.
    hard : bool
        Whether active rows enter by their products a_i'x_j (l0) or by the excess over the bound
        (l1): hard or soft thresholding.
    weights : ndarray, shape (m,)
        Squared weights mu_j² of the columns.
    X : ndarray, shape (m, N)
        The point, transposed: orthonormal rows.
    gradient : ndarray, shape (m, N)
        Half the gradient at the point, transposed.
    value : ndarray, shape (1,)
        The objective at the point.
    path : ndarray, shape (m,)
        Length of the path that each column has moved along so far.
    due : ndarray, shape (m, n)
        The path length at which a row must be evaluated again: -inf if it is active, inf if its
        norm is at most the bound.
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
        """Whether each row is active for each column at the point, shape (n, m)."""
        return np.isneginf(self.due.T)
