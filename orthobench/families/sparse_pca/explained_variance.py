"""The variance that sparse components explain."""

from __future__ import annotations

import numpy as np

from orthobench.tools.arrays import Array

DEPENDENT = 1e-10
"""Scores closer to the span of those before them than this, relative to their length, lie in it."""


def explained_variance(A: Array, Z: Array) -> float:
    """Return |A'Z|², the sum of the variances of the components.

    Variance that two correlated components share counts twice.

    Parameters
    ----------
    A : ndarray, shape (d, N)
        Features by samples.
    Z : ndarray, shape (d, m)
        Unit columns.

    Notes
    -----
    2dNm flops.
    """
    return float(np.linalg.norm(A.T @ Z)) ** 2


def adjusted_variance(A: Array, Z: Array) -> float:
    """Return the adjusted variance: what each component explains beyond those before it.

    sum_j R_jj² of the QR decomposition of the scores A'Z. It depends on the order of the columns:
    they are sorted by the variance that each explains alone, largest first, ties by index.

    Parameters
    ----------
    A : ndarray, shape (d, N)
        Features by samples.
    Z : ndarray, shape (d, m)
        Unit columns. No more than N of them can add variance.

    Notes
    -----
    2dNm + 4Nm² flops. By Gram-Schmidt with reorthogonalization: Householder reflections would
    give a component that depends on others a direction of its own, which takes variance from
    the components after it.

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
