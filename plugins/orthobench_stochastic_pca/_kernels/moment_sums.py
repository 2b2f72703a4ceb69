"""Sums of second moments over blocks of samples; few samples are kept as they are.

Blocks of float32 are multiplied in float32, `CHUNK` samples at a time, and added up in float64:
twice as fast, and as accurate as the samples are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, Summary

CHUNK = 4096
"""Samples of float32 that are multiplied before their moment is added in float64."""


@dataclass(frozen=True, kw_only=True)
class MomentSum(Summary):
    """The sum of second moments xx', or the samples where there are at most as many as features.

    Attributes
    ----------
    values : ndarray, shape (rows, d) or (d(d + 1)/2,)
        The samples; or the upper triangle of the sum, column by column, in float64.
    """

    values: NDArray[np.floating[Any]]


def moment_sum(block: NDArray[np.floating[Any]]) -> MomentSum:
    """Return the summary of a block of samples, shape (rows, d)."""
    rows, d = block.shape
    return MomentSum(rows=rows, values=block.copy() if rows <= d else packed(block))


def merged(a: MomentSum, b: MomentSum) -> MomentSum:
    """Return the summary of two groups of samples: exact, but for the rounding of a sum."""
    if a.values.ndim == b.values.ndim == 2:
        return moment_sum(np.concatenate([a.values, b.values]))
    return MomentSum(rows=a.rows + b.rows, values=_packed_of(a) + _packed_of(b))


def packed(rows: NDArray[np.floating[Any]]) -> Array:
    """Return the upper triangle of the second moment of samples, shape (d(d + 1)/2,)."""
    from scipy.linalg.lapack import dtrttp

    return np.asarray(dtrttp(second_moment(rows))[0])


def unpacked(values: Array) -> Array:
    """Return a matrix in Fortran order with this upper triangle; below it are zeros."""
    from scipy.linalg.lapack import dtpttr

    d = int(np.sqrt(2 * len(values)))
    return np.asarray(dtpttr(d, values)[0])


def second_moment(rows: NDArray[np.floating[Any]]) -> Array:
    """Return X'X of samples in rows: the upper triangle, in float64 and Fortran order.

    Parameters
    ----------
    rows : ndarray, shape (m, d)
        Of float32 or float64, in C order.
    """
    from scipy.linalg.blas import dsyrk, ssyrk

    if rows.dtype == np.float64:
        return np.asarray(dsyrk(1.0, rows.T))
    d = rows.shape[1]
    total = np.zeros((d, d), order="F")
    for begin in range(0, len(rows), CHUNK):
        total += ssyrk(1.0, rows[begin : begin + CHUNK].T)
    return total


def _packed_of(summary: MomentSum) -> Array:
    """Return the sum of the second moments of a summary."""
    if summary.values.ndim == 2:
        return packed(summary.values)
    return np.asarray(summary.values, dtype=np.float64)
