"""Sums of matrices of which only the leading part is kept, with a bound on what is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, Summary, complete, flops, orthonormalize, unit_columns
from orthobench_stochastic_pca._kernels.moment_sums import CHUNK, second_moment

NULL = 450
"""An eigenvalue of an (n, n) matrix up to this times the rounding unit, times n, times the largest
is rounding."""


@dataclass(frozen=True, kw_only=True)
class LowRankSum(Summary):
    """A matrix F'F close to a sum of positive semidefinite matrices, from below.

    Attributes
    ----------
    rank : int
        k.
    factor : ndarray, shape (<= k, d)
        F: orthogonal rows, longest first.
    lost : float
        A bound on the largest eigenvalue of the sum less F'F.
    """

    rank: int
    factor: Array
    lost: float


def leading_part(rows: NDArray[np.floating[Any]], k: int) -> tuple[Array, float]:
    """Return the best approximation of X'X of rank k, as orthogonal rows, and the next eigenvalue.

    Parameters
    ----------
    rows : ndarray, shape (m, d)
        X, of float32 or float64.
    k : int

    Returns
    -------
    factor : ndarray, shape (<= k, d)
        In float64; fewer rows where X has a lower rank.
    lost : float
        The largest eigenvalue that is left out.

    Notes
    -----
    `leading_part_flops`: the eigenproblem is that of the smaller of XX' and X'X.
    """
    from scipy.linalg import eigh

    m, d = rows.shape
    if not m:
        return np.zeros((0, d)), 0.0
    small = min(m, d)
    gram = _inner_products(rows) if m < d else second_moment(rows)
    first = max(0, small - k - 1)
    values, vectors = eigh(
        gram, lower=False, subset_by_index=(first, small - 1), overwrite_a=True, check_finite=False
    )
    lost = max(float(values[0]), 0.0) if small > k else 0.0
    rounding = NULL * float(np.finfo(rows.dtype).eps) * small * values[-1]
    kept = np.flatnonzero(values > rounding)[::-1][:k]
    if m < d:
        weights = np.ascontiguousarray(vectors[:, kept].T, dtype=rows.dtype)
        return np.asarray(weights @ rows, dtype=np.float64), lost
    return np.asarray(np.sqrt(values[kept])[:, None] * vectors[:, kept].T), lost


def leading_part_flops(m: int, d: int, k: int) -> int:
    """Return the flops of `leading_part` in the cheaper of its two forms."""
    if m < d:
        return flops.gemm(m, m, d) + flops.eigh(m) + flops.gemm(k, d, m)
    return flops.gemm(d, d, m) + flops.eigh(d)


def low_rank_sum(block: NDArray[np.floating[Any]], k: int) -> LowRankSum:
    """Return the leading part of the second moment of a block."""
    factor, lost = leading_part(block, k)
    spent = leading_part_flops(len(block), block.shape[1], k)
    return LowRankSum(rows=len(block), rank=k, factor=factor, lost=lost, flops=spent)


def merged(a: LowRankSum, b: LowRankSum) -> LowRankSum:
    """Return the leading part of the sum of two leading parts.

    What is lost grows by the largest eigenvalue that the sum has beyond the k-th. So it is exact
    where all samples together span k dimensions.
    """
    both = np.concatenate([a.factor, b.factor])
    factor, lost = leading_part(both, a.rank)
    return LowRankSum(
        rows=a.rows + b.rows,
        rank=a.rank,
        factor=factor,
        lost=a.lost + b.lost + lost,
        flops=a.flops + b.flops + leading_part_flops(len(both), both.shape[1], a.rank),
    )


def leading_basis(summary: LowRankSum, start: Array) -> Array:
    """Return the k leading eigenvectors, completed from a start where the rank is lower."""
    basis = orthonormalize(unit_columns(summary.factor.T))
    return complete(basis, start, start.shape[1])


def _inner_products(rows: NDArray[np.floating[Any]]) -> Array:
    """Return XX', of which the upper triangle counts, in float64; by columns where in float32."""
    if rows.dtype == np.float64:
        return np.asarray(rows @ rows.T)
    total = np.zeros((len(rows), len(rows)))
    for begin in range(0, rows.shape[1], CHUNK):
        part = rows[:, begin : begin + CHUNK]
        total += part @ part.T
    return total
