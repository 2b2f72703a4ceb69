"""Sparse loadings: the variance that they explain, and their weights for a given pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.parameters import parameter
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import polar

TOLERANCE = 1e-8
"""Relative gain of the objective below which `solve_for_z` ends."""

SWEEPS = 300
"""Most alternating steps of `solve_for_z`."""

DEPENDENT = 1e-10
"""A component that adds less than this share of its scores' length repeats those before it."""

EXPECTED_SWEEPS = 10
"""As many as it usually takes: what preparing for them may cost."""


def gamma_parameter(default: float, unit: str) -> Any:
    """Declare the parameter ``gamma``, the relative penalty, of a solver of sparse PCA.

    All have the same values worth trying: which of them give the density that is asked for
    depends on the data and the method.

    Parameters
    ----------
    default : float
    unit : str
        What it is relative to.
    """
    return parameter(
        default,
        help="penalty; loadings are fewer where it is larger",
        unit=unit,
        low=0.0,
        below=1.0,
        grid=(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8),
    )


def loadings_parameter() -> Any:
    """Declare the parameter ``loadings`` of a solver that finds U, and Z from it."""
    return parameter(
        "filled",
        choices=("filled", "thresholded"),
        help="Z in the pattern found: what explains most variance, or AU less the penalty",
    )


def normalized(Z: Array) -> Array:
    """Return the columns of `Z` at unit length; those that are zero stay zero.

    Parameters
    ----------
    Z : ndarray, shape (d, m)
    """
    norms = np.linalg.norm(Z, axis=0)
    unit: Array = Z / np.where(norms > 0, norms, 1.0)
    return unit


def solve_for_z(
    A: Array,
    pattern: NDArray[np.bool_],
    start: Array | None = None,
    mu: Array | None = None,
) -> Array:
    """Fill a sparsity pattern with the loadings that explain most variance.

    A local maximizer of tr(X'A'ZN), N = diag(mu), over X'X = I and unit columns of Z that are
    zero outside the pattern, by alternating between the two. For one component, or components
    whose rows of A are uncorrelated with those of all others, that is the leading singular vector
    of A restricted to the pattern.

    Givens methods and the generalized power method both end with it. They may pass AU for A,
    for any orthogonal U: the loadings are the same.

    Parameters
    ----------
    A : ndarray, shape (d, N)
        The data, features by samples.
    pattern : ndarray of bool, shape (d, m)
        Where loadings may differ from zero; a column without any gives a zero column. m <= N.
    start : ndarray, shape (N, m), optional
        The orthonormal X to begin with; the first m unit vectors by default, which suits AU.
    mu : ndarray, shape (m,), optional
        Weights of the components; ones by default.

    Returns
    -------
    ndarray, shape (d, m)
        Unit columns, or zero where the pattern is empty.

    Notes
    -----
    Each step 4 r N m flops for r rows of the pattern that are not empty, or 2 N² m with the Gram
    matrices of the columns' rows, 2 N² a non-zero once, whichever is less; and those of a polar
    decomposition (N, m). Ends where the objective gains less than 1e-8 of itself, or after 300.

    References
    ----------
    Journée, Nesterov, Richtárik and Sepulchre 2010, Algorithm 6. The call
    ``solveForZ(AU, gamma)`` of Shalit and Chechik (2014, Algorithms 2 and 5) names no data;
    here the pattern is found first, and AU are the data.
    """
    rows, columns = np.flatnonzero(pattern.any(axis=1)), np.flatnonzero(pattern.any(axis=0))
    Z = np.zeros(pattern.shape)
    if not len(columns):
        return Z
    inside = pattern[np.ix_(rows, columns)]
    X = np.eye(A.shape[1], pattern.shape[1]) if start is None else start
    weights = np.ones(pattern.shape[1]) if mu is None else mu
    Z[np.ix_(rows, columns)] = _filled(
        np.ascontiguousarray(A[rows]), inside, X[:, columns], weights[columns]
    )
    return Z


def _filled(A: Array, inside: NDArray[np.bool_], X: Array, weights: Array) -> Array:
    """Alternate between Z and X until the objective no longer gains."""
    scores, before = _scores(A, inside), -np.inf
    for _ in range(SWEEPS):
        projected = scores(X) * weights
        new = polar(projected)
        value = float(np.vdot(new, projected))
        if value <= before * (1 + TOLERANCE):
            break
        X, before = new, value
    return _loadings(A, inside, X)


def _loadings(A: Array, inside: NDArray[np.bool_], X: Array) -> Array:
    """Return the best Z for X."""
    return normalized(np.where(inside, A @ X, 0.0))


def _scores(A: Array, inside: NDArray[np.bool_]) -> Callable[[Array], Array]:
    """Return the map from X to A'Z for the best Z, in the form that takes fewer flops.

    For one column it is G x / sqrt(x'Gx), where G is the Gram matrix A'A in the rows of its
    pattern: Z itself is needed at the end only.
    """
    (r, n), m = A.shape, inside.shape[1]
    through_gram = np.count_nonzero(inside) * n + EXPECTED_SWEEPS * m * n
    if through_gram > 2 * EXPECTED_SWEEPS * r * m:
        return lambda X: A.T @ _loadings(A, inside, X)
    grams = np.stack([_gram(A[rows]) for rows in inside.T])

    def scores(X: Array) -> Array:
        products = np.matmul(grams, X.T[:, :, None])[:, :, 0]
        squares = np.einsum("ij,ij->i", products, X.T)
        norms = np.sqrt(np.maximum(squares, 0.0))
        projected: Array = products / np.where(norms > 0, norms, 1.0)[:, None]
        return projected.T

    return scores


def _gram(rows: Array) -> Array:
    return rows.T @ rows


def explained_variance(A: Array, Z: Array) -> float:
    """Return |A'Z|², the variance of each component summed: variance shared counts twice.

    Parameters
    ----------
    A : ndarray, shape (d, N)
    Z : ndarray, shape (d, m)
        Unit columns.
    """
    return float(np.linalg.norm(A.T @ Z)) ** 2


def adjusted_variance(A: Array, Z: Array) -> float:
    """Return the adjusted variance: what each component explains beyond those before it.

    sum_j R_jj² of the QR decomposition of the scores A'Z. It depends on the order of the columns:
    they are taken by the variance each explains alone, largest first, ties by index.

    Parameters
    ----------
    A : ndarray, shape (d, N)
    Z : ndarray, shape (d, m)
        Unit columns. More than N of them add nothing.

    Notes
    -----
    2dNm + 4Nm² flops. By Gram-Schmidt, twice: Householder reflections give a component that
    repeats others a direction of its own, which takes variance from those after it.

    References
    ----------
    Zou, Hastie and Tibshirani 2006, section 3.4, where the order is that of the components.
    """
    scores = A.T @ Z
    alone = np.einsum("ij,ij->j", scores, scores)
    basis = np.empty(scores.shape, order="F")
    total, rank = 0.0, 0
    for j in np.argsort(-alone, kind="stable"):
        before, rest = basis[:, :rank], scores[:, j]
        for _ in range(2):
            rest = rest - before @ (before.T @ rest)
        beyond = float(rest @ rest)
        if beyond > DEPENDENT**2 * alone[j]:
            basis[:, rank] = rest / np.sqrt(beyond)
            total, rank = total + beyond, rank + 1
    return total
