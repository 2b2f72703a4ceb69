"""Sums over samples in NumPy: second moments, their leading parts, and products by panels.

Samples of float32 are multiplied in float32 and added in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import (
    Array,
    Solution,
    Summary,
    complete,
    flops,
    is_plain,
    orthonormalize,
    unit_columns,
)

Samples = NDArray[np.floating[Any]]
"""Samples in rows, of float32 or float64."""

CHUNK = 4096
"""Number of float32 samples that are multiplied at once."""

NULL = 450
"""Eigenvalue of an (n, n) matrix that is rounding, in units of n eps times the largest."""

SMALL_PRODUCT = 1_000_000
"""Maximum number of multiplications of OpenBLAS's fast small-matrix kernel."""

AT_ONCE = 8
"""Number of samples in that kernel below which a product is not split."""


def second_moment(rows: Samples) -> Array:
    """Return X'X of samples in C order: the upper triangle, in float64 and Fortran order."""
    from scipy.linalg.blas import dsyrk, ssyrk

    if rows.dtype == np.float64:
        return np.asarray(dsyrk(1.0, rows.T))
    d = rows.shape[1]
    total = np.zeros((d, d), order="F")
    for begin in range(0, len(rows), CHUNK):
        total += ssyrk(1.0, rows[begin : begin + CHUNK].T)
    return total


def _inner_products(rows: Samples) -> Array:
    """Return XX' in float64, at least its upper triangle."""
    if rows.dtype == np.float64:
        return np.asarray(rows @ rows.T)
    total = np.zeros((len(rows), len(rows)))
    for begin in range(0, rows.shape[1], CHUNK):
        part = rows[:, begin : begin + CHUNK]
        total += part @ part.T
    return total


def leading_part(rows: Samples, k: int) -> tuple[Array, float]:
    """Return the best approximation of X'X of rank k, as orthogonal rows, and the next eigenvalue.

    X is (m, d). The factor (<= k, d) is in float64, with fewer rows if X has a lower rank.
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
    """Return the flops of `leading_part`."""
    if m < d:
        return flops.gemm(m, m, d) + flops.eigh(m) + flops.gemm(k, d, m)
    return flops.gemm(d, d, m) + flops.eigh(d)


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

    @classmethod
    def of(cls, block: Samples, k: int) -> LowRankSum:
        """Return the leading part of the second moment of a block."""
        factor, lost = leading_part(block, k)
        spent = leading_part_flops(len(block), block.shape[1], k)
        return cls(rows=len(block), rank=k, factor=factor, lost=lost, flops=spent)

    def plus(self, other: LowRankSum) -> LowRankSum:
        """Return the leading part of the sum; `lost` grows by its next eigenvalue."""
        both = LowRankSum.of(np.concatenate([self.factor, other.factor]), self.rank)
        return LowRankSum(
            rows=self.rows + other.rows,
            rank=self.rank,
            factor=both.factor,
            lost=self.lost + other.lost + both.lost,
            flops=self.flops + other.flops + both.flops,
        )

    def solution(self, start: Array) -> Solution:
        """Return the leading eigenvectors, completed from a start."""
        basis = orthonormalize(unit_columns(self.factor.T))
        return Solution(complete(basis, start, self.rank))


def product(A: Any, B: Any) -> Any:
    """Return AB, in NumPy by panels of columns of A that stay in the cache."""
    return _summed((A[:, panel], B[panel, :]) for panel in _panels(A, A.shape[0] * B.shape[1]))


def moment_product(A: Any, Q: Any) -> Any:
    """Return AA'Q; NumPy reads A once."""
    panels = _panels(A, Q.shape[0] * Q.shape[1])
    return _summed((A[:, panel], A[:, panel].T @ Q) for panel in panels)


def block_product(block: Samples, Q: Array) -> Array:
    """Return X'XQ in float64 of samples X, which are read once."""
    total, vectors = np.zeros(Q.shape), Q.astype(block.dtype, copy=False)
    height = panel_width(Q.size, len(block))
    for begin in range(0, len(block), height):
        panel = block[begin : begin + height]
        add_product(total, panel.T, panel @ vectors)
    return total


def _panels(A: Any, size: int) -> Iterator[slice]:
    """Yield ranges of columns of A whose products with `size` entries are small."""
    columns: int = A.shape[1]
    width = panel_width(size, columns) if is_plain(A) else columns
    for first in range(0, columns, width):
        yield slice(first, min(first + width, columns))


def panel_width(entries: int, samples: int) -> int:
    """Return the number of samples whose product with `entries` entries is small, or all."""
    return SMALL_PRODUCT // (AT_ONCE * entries) * AT_ONCE or samples


def _summed(pairs: Iterator[tuple[Any, Any]]) -> Any:
    A, B = next(pairs)
    total = A @ B
    for A, B in pairs:
        add_product(total, A, B)
    return total


def add_product(total: Array, A: Samples, B: Samples) -> None:
    """Add AB to a matrix, without forming AB if A is of float64 and in columns."""
    if not (is_plain(A) and A.flags.f_contiguous):
        total += A @ B
        return
    from scipy.linalg.blas import dgemm

    dgemm(1.0, B.T, A, trans_b=True, beta=1.0, c=total.T, overwrite_c=True)
