"""Products with samples, by panels that stay in the cache, and their sums over blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, Summary, flops, is_plain

SMALL_PRODUCT = 1_000_000
"""Multiplications up to which OpenBLAS uses its small-matrix kernel, which is twice as fast."""

AT_ONCE = 8
"""Samples that this kernel takes at once, and below which a product is not split."""


@dataclass(frozen=True, kw_only=True)
class ProductSum(Summary):
    """The product X'XQ of all samples X of some blocks.

    Attributes
    ----------
    product : ndarray, shape (d, b)
    """

    product: Array


def product_sum(block: NDArray[np.floating[Any]], Q: Array) -> ProductSum:
    """Return the product of the second moment of a block with vectors, 4db flops a sample.

    The samples are read once, a few at a time that stay in the cache. Those of float32 are
    multiplied in float32 and added in float64.

    Parameters
    ----------
    block : ndarray, shape (rows, d)
    Q : ndarray, shape (d, b)
    """
    (rows, d), b = block.shape, Q.shape[1]
    total, vectors = np.zeros(Q.shape), Q.astype(block.dtype, copy=False)
    height = panel_width(d * b, rows)
    for begin in range(0, rows, height):
        panel = block[begin : begin + height]
        add_product(total, panel.T, panel @ vectors)
    return ProductSum(rows=rows, product=total, flops=2 * flops.gemm(rows, b, d))


def product(A: Any, B: Any) -> Any:
    """Return AB, with NumPy the sum over panels of columns of A that stay in the cache."""
    return _summed((A[:, panel], B[panel, :]) for panel in _panels(A, A.shape[0] * B.shape[1]))


def moment_product(A: Any, Q: Any) -> Any:
    """Return AA'Q; NumPy reads A once."""
    panels = _panels(A, Q.shape[0] * Q.shape[1])
    return _summed((A[:, panel], A[:, panel].T @ Q) for panel in panels)


def _panels(A: Any, size: int) -> Iterator[slice]:
    """Yield ranges of columns of A whose products with a matrix of so many entries are small."""
    columns: int = A.shape[1]
    width = panel_width(size, columns) if is_plain(A) else columns
    for first in range(0, columns, width):
        yield slice(first, min(first + width, columns))


def _summed(pairs: Iterator[tuple[Any, Any]]) -> Any:
    """Return the sum of the products of pairs of matrices."""
    A, B = next(pairs)
    total = A @ B
    for A, B in pairs:
        add_product(total, A, B)
    return total


def add_product(total: Array, A: NDArray[np.floating[Any]], B: NDArray[np.floating[Any]]) -> None:
    """Add AB to a matrix in rows; no matrix is made for AB where A is of float64 and in columns."""
    if not (is_plain(A) and A.flags.f_contiguous):
        total += A @ B
        return
    from scipy.linalg.blas import dgemm

    dgemm(1.0, B.T, A, trans_b=True, beta=1.0, c=total.T, overwrite_c=True)


def merged(a: ProductSum, b: ProductSum) -> ProductSum:
    """Return the sum of two products: exact, but for its rounding."""
    product = a.product + b.product
    spent = a.flops + b.flops + product.size
    return ProductSum(rows=a.rows + b.rows, product=product, flops=spent)


def panel_width(entries: int, samples: int) -> int:
    """Return how many samples have a small product with a matrix of so many entries, or all."""
    return SMALL_PRODUCT // (AT_ONCE * entries) * AT_ONCE or samples
