"""Results of canonical correlation analysis and of pencils."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from orthobench_kit.signs import signs

from orthobench.contract import Array, Result, Solution
from orthobench_cca.oracle import Centred, PairsMatrices, halves

if TYPE_CHECKING:
    from orthobench_cca.pencil import PencilOracle


@dataclass(frozen=True, repr=False, eq=False)
class CCAResult(Result):
    """Canonical variables of pairs.

    Attributes
    ----------
    x_weights, y_weights : ndarray, shapes (p, k) and (q, k)
        A'(S_xx + ridge I)A = B'(S_yy + ridge I)B = I with covariances of divisor N, in descending
        order of correlations. In each column of A the entry of largest absolute value is positive.
        Columns beyond the rank of a side are zero.
    correlations : ndarray, shape (k,)
        Diagonal of A'S_xy B, not negative; without a ridge those of the scores.
    """

    x_weights: Annotated[Array, "scores of unit variance, the largest correlation first"]
    y_weights: Annotated[Array, "scores of unit variance, the largest correlation first"]
    correlations: Annotated[Array, "of each pair of scores, 0 to 1"]


def canonical_variables(oracle: PairsMatrices, solution: Solution) -> CCAResult:
    """Return the canonical variables in the spans of A and B; 2N(p + q)k + 12Nk² flops."""
    return variables(oracle, *halves(solution.point, oracle.p))


def variables(oracle: PairsMatrices, A: Array, B: Array) -> CCAResult:
    """Return the min(r, s) canonical variables in the spans of A (p, r) and B (q, s)."""
    parts = zip(oracle.sides, (A, B), strict=True)
    (A, U), (B, V) = (_whitened(side, weights, oracle.ridge) for side, weights in parts)
    left, correlations, right = np.linalg.svd(U.T @ V, full_matrices=False)
    A, B = A @ left, B @ right.T
    flips = signs(A)
    return CCAResult(A * flips, B * flips, correlations)


def _whitened(side: Centred, weights: Array, ridge: float) -> tuple[Array, Array]:
    """Return weights A of the same span with A'(S + ridge I)A = I, and their scores over root N."""
    weights = weights / np.maximum(np.abs(weights).max(axis=0), np.finfo(np.float64).tiny)
    scores = side.times(weights) / np.sqrt(side.data.shape[0])
    rows = np.vstack([scores, np.sqrt(ridge) * weights])
    _, sizes, turned = np.linalg.svd(np.linalg.qr(rows, mode="r"))
    kept = sizes > max(rows.shape) * np.finfo(np.float64).eps * sizes[0]
    root = turned.T[:, : len(sizes)] * np.divide(1, sizes, where=kept, out=np.zeros_like(sizes))
    return weights @ root, scores @ root


@dataclass(frozen=True, repr=False, eq=False)
class PencilResult(Result):
    """Generalized eigenvectors of symmetric matrices A and B.

    Attributes
    ----------
    vectors : ndarray, shape (n, k)
        X with X'BX = I and X'AX diagonal, the largest eigenvalue first. In each column the entry
        of largest absolute value is positive.
    values : ndarray, shape (k,)
        The eigenvalues x'Ax.
    """

    vectors: Annotated[Array, "columns of unit length in the metric B, the largest value first"]
    values: Annotated[Array, "eigenvalues, unit of A over that of B"]


def eigenvectors(oracle: PencilOracle, solution: Solution) -> PencilResult:
    """Return the Ritz vectors in the span of a point; 4n²k flops."""
    from scipy.linalg import eigh

    X = np.linalg.qr(solution.point)[0]
    values, turned = eigh(X.T @ oracle.A @ X, X.T @ oracle.B @ X)
    X = X @ turned[:, ::-1]
    return PencilResult(X * signs(X), values[::-1])
