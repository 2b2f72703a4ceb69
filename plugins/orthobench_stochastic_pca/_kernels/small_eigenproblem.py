"""The eigenproblem of one update, in the coordinates of a block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array
from orthobench.tools.compiled import kernel
from orthobench_stochastic_pca._kernels.secular import SecularWorkspace, secular_workspace


class Scalars(NamedTuple):
    """The scalar parts of an iterate within a block: rank m, and the fields of `Iterate`."""

    m: int
    floor: float
    full: bool
    flops: int


class SmallEigenproblem(NamedTuple):
    """An iterate in coordinates of a block, and the arrays to update it in.

    Row 0 of `diagonal`, `z` and `basis` is for the new direction, whose eigenvalue is the
    smallest; the m rows of the iterate follow. Matrices are flat.

    Attributes
    ----------
    diagonal, z : ndarray, shape (n,)
        The eigenproblem of diag(diagonal) + zz'.
    residual : ndarray, shape (n,)
        The part of a sample orthogonal to the iterate's basis.
    basis : ndarray, shape (n²,)
        The iterate's eigenvectors as rows.
    rotated, gathered, vectors : ndarray, shape (n²,)
        Scratch.
    order : ndarray of int, shape (n,)
        The slots by ascending eigenvalue (`SecularWorkspace`).
    rank : ndarray of int, shape (n,)
        The number of each slot among the active ones, -1 for the others.
    picked : ndarray of int, shape (n,)
        Scratch.
    secular : SecularWorkspace
    """

    diagonal: Array
    z: Array
    residual: Array
    basis: Array
    rotated: Array
    gathered: Array
    vectors: Array
    order: NDArray[np.int64]
    rank: NDArray[np.int64]
    picked: NDArray[np.int64]
    secular: SecularWorkspace


@kernel
def small_eigenproblem(n: int) -> SmallEigenproblem:
    """Return arrays for bases and spans of fewer than n vectors.

    Parameters
    ----------
    n : int

    Returns
    -------
    SmallEigenproblem

    Notes
    -----
    Memory: 4n² doubles.
    """
    return SmallEigenproblem(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n * n),
        np.empty(n * n),
        np.empty(n * n),
        np.empty(n * n),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        secular_workspace(n),
    )


@kernel
def rows_of(flat: Array, first: int, last: int, width: int) -> Array:
    """Return a view of rows of a flat matrix.

    Parameters
    ----------
    flat : ndarray, shape (at least last * width,)
    first, last : int
        Rows first, ..., last - 1.
    width : int
        Columns of the matrix.

    Returns
    -------
    ndarray, shape (last - first, width)
    """
    return flat[first * width : last * width].reshape(last - first, width)


@kernel
def number_active(work: SecularWorkspace, active: int, n: int, rank: NDArray[np.int64]) -> None:
    """Assign each slot its number among the active ones.

    Parameters
    ----------
    work : SecularWorkspace
        As `orthobench_stochastic_pca._kernels.secular.eigenvalues` left it.
    active : int
        The number of active slots.
    n : int
        The number of slots.
    rank : ndarray of int, shape (at least n,)
        Set to the number of each slot, -1 for deflated ones.
    """
    rank[:n] = -1
    for j in range(active):
        rank[work.active[j]] = j
