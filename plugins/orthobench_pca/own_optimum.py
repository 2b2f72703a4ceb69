"""A run's last point as the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.contract import Array
from orthobench_pca.matrices import Dense
from orthobench_pca.oracle import PCAOracle
from orthobench_pca.scatter import leading, rank_update

LEAST = 5e9
"""Minimum number of multiplications for the covariance."""

SAMPLED, PROBES = 20, 3
"""Sampled rows for each column, and number of directions to multiply."""

INVARIANT = 1e-12
"""Largest relative error of the optimum that a residual may allow."""


@dataclass(frozen=True)
class Reference:
    """The optimum with which points are compared.

    Attributes
    ----------
    optimal : float
        The sum of the k leading eigenvalues of Z'Z.
    gap : float
        Eigenvalue k less the next, over the first.
    vectors : ndarray, shape (n, k)
        The leading eigenvectors.
    moment : ndarray, shape (n, n), optional
        Z'Z, if it was formed.
    off : float
        Sine of the largest possible angle to the true vectors.
    """

    optimal: float
    gap: float
    vectors: Array
    moment: Array | None = None
    off: float = 0.0


def own_optimum(oracle: PCAOracle, points: list[Array]) -> tuple[Reference, list[Array]] | None:
    """Return a reference from the last point, and Z'Z times each; None if it is not optimal.

    The last of the points (n, k), V, is the optimum if its columns span an invariant subspace of C
    = Z'Z, beyond which C is smaller. With the residual R and the eigengap D the optimum is off by
    at most |R|²/D, and the subspace by an angle of |R|/D (Parlett 1998, sections 11.7 and 11.9).

    A pass in float64 with k columns for each point and 4 more, and `SAMPLED` n³ flops.
    """
    tall = isinstance(oracle.matrix, Dense) and oracle.rows >= 4 * SAMPLED * oracle.n
    if not tall or len(points) < 2 or oracle.rows * oracle.n**2 < LEAST:
        return None
    *others, V = points
    mean, moment, share = _sampled(oracle)
    outside, largest = _beyond(moment, V)
    products = np.split(
        _products(oracle, np.hstack([V, outside, *others]), mean),
        np.cumsum([V.shape[1], PROBES, *(U.shape[1] for U in others[:-1])]),
        axis=1,
    )
    W, of_outside, *of_others = products
    ritz = V.T @ W
    found = [share * largest, float(np.linalg.eigvalsh(outside.T @ of_outside)[-1])]
    for U, product in zip(others, of_others, strict=True):
        rest = product - W @ (V.T @ U)
        found.append(float(np.linalg.norm(rest - V @ (V.T @ rest), 2)))
    values = np.linalg.eigvalsh(ritz)
    gap, residual = float(values[0]) - max(found), float(np.linalg.norm(W - V @ ritz))
    total = float(values.sum())
    if gap <= 0 or residual**2 > INVARIANT * gap * total:
        return None
    reference = Reference(
        total + residual**2 / gap, gap / float(values[-1]), V, None, residual / gap
    )
    return reference, [*of_others, W]


def _sampled(oracle: PCAOracle) -> tuple[Array, Array, float]:
    some = np.asarray(oracle.X[:: oracle.rows // (SAMPLED * oracle.n)], np.float64)
    mean = some.mean(axis=0) if oracle.center else np.zeros(oracle.n)
    Z = some - mean
    if oracle.scale is not None:
        Z /= oracle.scale
    C = np.triu(rank_update(Z, None))
    return mean, C + np.triu(C, 1).T, oracle.rows / len(some)


def _beyond(moment: Array, V: Array) -> tuple[Array, float]:
    """Return leading eigenvectors, orthogonal to V, of a matrix there, and the first eigenvalue."""
    rest = moment - V @ (V.T @ moment)
    rest -= (rest @ V) @ V.T
    values, vectors = leading((rest + rest.T) / 2, PROBES)
    return vectors, float(values[0])


def _products(oracle: PCAOracle, K: Array, near: Array) -> Any:
    """Return Z'ZK in one pass; `near` is near the mean, which another column gives."""
    scale = np.ones(oracle.n) if oracle.scale is None else oracle.scale
    W = K / scale[:, None]
    columns = np.column_stack([W, np.zeros(oracle.n)])
    found, sums, _ = oracle.matrix.normal_times(columns, np.append(near @ W, -1.0))
    if oracle.center:
        found = found - np.outer(found[:, -1], sums / oracle.rows)
    return found[:, :-1] / scale[:, None]
