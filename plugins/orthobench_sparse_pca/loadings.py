"""The loadings that explain most variance in a given sparsity pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from orthobench_kit.arrays import inner

from orthobench.tools.arrays import Array, identity, is_plain, namespace
from orthobench.tools.geometry import polar, unit_columns

TOLERANCE = 1e-8
"""Relative gain of the objective at which `solve_for_z` ends."""

SWEEPS = 300
"""Maximum number of iterations of `solve_for_z`."""

EXPECTED_SWEEPS = 10
"""Usual number of iterations, for the choice of the cheaper form."""


def solve_for_z(A: Any, pattern: Any, start: Any = None, mu: Any = None) -> Any:
    """Return the loadings in a sparsity pattern that explain most variance.

    A local maximizer of tr(X'A'ZN), N = diag(mu), over X'X = I and unit columns of Z that are zero
    outside the pattern, by alternation. For one component it is the leading singular vector of A
    restricted to the pattern. AU may replace A, for any orthogonal U.

    Parameters
    ----------
    A : array, shape (d, N)
        Features by samples; of NumPy, or all arguments of another library.
    pattern : array of bool, shape (d, m), m <= N
        Places of loadings. An empty column gives a column of zeros.
    start : array, shape (N, m), optional
        The first X, orthonormal [default: the first m unit vectors].
    mu : array, shape (m,), optional
        Weights of the components [default: ones].

    Returns
    -------
    array, shape (d, m)
        Columns of unit length, or of zeros.

    Notes
    -----
    An iteration costs a polar decomposition (N, m), and the cheaper of 4rNm flops for r nonempty
    rows, or 2N²m with Gram matrices, which once cost 2N² for each entry of the pattern. It ends if
    the objective gains less than 1e-8 of itself, or after 300 iterations.

    References
    ----------
    Journée, Nesterov, Richtárik and Sepulchre 2010, Algorithm 6. Shalit and Chechik (2014,
    Algorithms 2 and 5) leave the data of ``solveForZ(AU, gamma)`` open; here they are AU.
    """
    if not is_plain(A):
        X = identity(A.shape[1], A)[:, : pattern.shape[1]] if start is None else start
        return _alternated(A, pattern, X, mu)
    rows, columns = np.flatnonzero(pattern.any(axis=1)), np.flatnonzero(pattern.any(axis=0))
    Z = np.zeros(pattern.shape)
    if not len(columns):
        return Z
    X = np.eye(A.shape[1], pattern.shape[1]) if start is None else start
    own, weights = np.ix_(rows, columns), None if mu is None else mu[columns]
    Z[own] = _alternated(np.ascontiguousarray(A[rows]), pattern[own], X[:, columns], weights)
    return Z


def _alternated(A: Any, inside: Any, X: Any, mu: Any) -> Any:
    scores, before = _scores(A, inside), -np.inf
    for _ in range(SWEEPS):
        projected = scores(X)
        projected = projected if mu is None else projected * mu
        new = polar(projected)
        value = float(inner(new, projected))
        if value <= before * (1 + TOLERANCE):
            break
        X, before = new, value
    return _best_loadings(A, inside, X)


def _best_loadings(A: Any, inside: Any, X: Any) -> Any:
    xp, scores = namespace(A), A @ X
    return unit_columns(xp.where(inside, scores, xp.zeros_like(scores)))


def _scores(A: Any, inside: Any) -> Callable[[Any], Any]:
    """Return the map from X to A'Z for the best Z, in the form that takes fewer flops.

    For one column it is Gx / sqrt(x'Gx), with the Gram matrix G of the rows in the pattern.
    """
    (r, n), m = A.shape, inside.shape[1]
    if not is_plain(A) or (
        np.count_nonzero(inside) * n + EXPECTED_SWEEPS * m * n > 2 * EXPECTED_SWEEPS * r * m
    ):
        return lambda X: A.T @ _best_loadings(A, inside, X)
    grams = np.stack([(own := A[rows]).T @ own for rows in inside.T])

    def scores(X: Array) -> Array:
        products = np.matmul(grams, X.T[:, :, None])[:, :, 0]
        squares = np.einsum("ij,ij->i", products, X.T)
        norms = np.sqrt(np.maximum(squares, 0.0))
        projected: Array = products / np.where(norms > 0, norms, 1.0)[:, None]
        return projected.T

    return scores
