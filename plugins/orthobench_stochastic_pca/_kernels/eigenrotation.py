"""The eigenvectors of an updated spectrum, as rotations of the basis before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array
from orthobench.tools.compiled import kernel
from orthobench_stochastic_pca._kernels.dense import matrix, multiply
from orthobench_stochastic_pca._kernels.secular import eigenvectors
from orthobench_stochastic_pca._kernels.small_eigenproblem import (
    SmallEigenproblem,
    number_active,
    rows_of,
)


@kernel
def rotate(W: Array, kept: NDArray[np.int64], active: int, small: SmallEigenproblem) -> None:
    """Set rows 1, 2, ... of the basis to the eigenvectors in the kept slots.

    Parameters
    ----------
    W : ndarray, shape (n, width), C order
        The basis before, as `orthobench_stochastic_pca._kernels.secular.eigenvalues` left it: a
        view of rows of ``small.basis``.
    kept : ndarray of int
        Slots, in the order of the new rows.
    active : int
        The number of active slots.
    small : SmallEigenproblem

    Notes
    -----
    2 len(kept) active width flops.
    """
    if active < len(W):
        _rotate_some(W, kept, active, small)
    elif len(kept):
        size = len(kept) * W.shape[1]
        _combine(W, kept, len(kept), active, small)
        new = small.basis[W.shape[1] :]
        for i in range(size):
            new[i] = small.rotated[i]


@kernel
def _combine(
    W: Array, chosen: NDArray[np.int64], count: int, active: int, small: SmallEigenproblem
) -> None:
    """Set the rows of `rotated` to the chosen eigenvectors, combinations of the rows of W."""
    V = matrix(small.vectors, count, active)
    eigenvectors(active, chosen, count, small.secular, V)
    multiply(V, W, matrix(small.rotated, count, W.shape[1]))


@kernel
def _rotate_some(W: Array, kept: NDArray[np.int64], active: int, small: SmallEigenproblem) -> None:
    """Do as `rotate` if some slots are not active: their rows stay as they are."""
    n, width = W.shape
    rank = small.rank
    number_active(small.secular, active, n, rank)
    gathered = matrix(small.gathered, n, width)
    for slot in small.secular.active[:active]:
        _copy_row(W, slot, gathered, rank[slot])
    rows = _pick(W, kept, active, gathered, small)
    rotated = matrix(small.rotated, rows, width)
    if rows:
        _combine(gathered[:active], small.picked, rows, active, small)
    new, others = rows_of(small.basis, 1, len(kept) + 1, width), active + len(kept) - rows
    for i in range(len(kept) - 1, -1, -1):
        if rank[kept[i]] >= 0:
            rows -= 1
            _copy_row(rotated, rows, new, i)
        else:
            others -= 1
            _copy_row(gathered, others, new, i)


@kernel
def _pick(
    W: Array, kept: NDArray[np.int64], active: int, gathered: Array, small: SmallEigenproblem
) -> int:
    """List the ranks of the active slots among the kept ones; return their number.

    The rows of all other kept slots are copied to `gathered`, after its first `active` rows.
    """
    rows, others = 0, active
    for slot in kept:
        if small.rank[slot] >= 0:
            small.picked[rows] = small.rank[slot]
            rows += 1
        else:
            _copy_row(W, slot, gathered, others)
            others += 1
    return rows


@kernel
def _copy_row(source: Array, i: int, into: Array, j: int) -> None:
    """Copy row i of `source` to row j of `into`."""
    for column in range(source.shape[1]):
        into[j, column] = source[i, column]
