"""Symmetric third-order tensors: sums of cubes, contractions, norms, exact symmetry.

Entries (a, b, c) with a <= b, c stand for all others: T[a, a:, a:] for each a, a third of the
tensor, is all that is read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orthobench.errors import DataError
from orthobench.tools.arrays import Array

SYMMETRIC = 1e-10
"""Largest asymmetry, relative to the largest entry, of a tensor that counts as symmetric."""


def composed(U: Array, weights: Array) -> Array:
    """Return sum_i w_i u_i ⊗ u_i ⊗ u_i, shape (n, n, n), symmetric up to rounding.

    Parameters
    ----------
    U : ndarray, shape (n, k)
    weights : ndarray, shape (k,)

    Notes
    -----
    2n³k flops; memory n²k beyond the result's.

    Examples
    --------
    >>> import numpy as np
    >>> composed(np.eye(2), np.array([3.0, 5.0])).ravel()
    array([3., 0., 0., 0., 0., 0., 0., 5.])
    """
    n, k = U.shape
    pairs = (U[:, None, :] * (U * weights)).reshape(n * n, k)
    return np.asarray(pairs @ U.T).reshape(n, n, n)


def contracted(T: Array, U: Array) -> Array:
    """Return T(u, u, u) for each column u of `U`.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric: only entries (a, b, c) with a <= b, c are read.
    U : ndarray, shape (n, k)

    Notes
    -----
    2n³k/3 flops; memory nk.

    Examples
    --------
    >>> import numpy as np
    >>> contracted(composed(np.eye(2), np.array([3.0, 5.0])), np.eye(2)[:, ::-1])
    array([5., 3.])
    """
    values = np.zeros(U.shape[1])
    for a, corner in _corners(T):
        # entries of one least index a stand for three each; halving u_a counts those of two once
        rest = U[a:].copy()
        rest[0] /= 2
        values += 3 * U[a] * np.einsum("bk,bk->k", corner @ rest, rest)
        values += corner[0, 0] / 4 * U[a] ** 3
    return values


def remainder(T: Array, U: Array, weights: Array) -> float:
    """Return |T - sum_i w_i u_i ⊗ u_i ⊗ u_i|, from the difference itself.

    |T|² less the weights' squares is the same for orthonormal factors, but drowns in rounding
    where it is below 1e-8 of |T|.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric: only entries (a, b, c) with a <= b, c are read.
    U : ndarray, shape (n, k)
    weights : ndarray, shape (k,)

    Notes
    -----
    2n³k/3 flops; memory n².
    """
    squares = (
        _corner_square(corner - (U[a:] * (weights * U[a])) @ U[a:].T) for a, corner in _corners(T)
    )
    return float(np.sqrt(sum(squares)))


def norm(T: Array) -> float:
    """Return the Frobenius norm of a symmetric (n, n, n) tensor, from entries (a <= b, c)."""
    return float(np.sqrt(sum(_corner_square(corner) for _, corner in _corners(T))))


def _corners(T: Array) -> Iterator[tuple[int, Array]]:
    """Yield each index a with T[a, a:, a:]: together they hold every entry of a symmetric T."""
    for a in range(len(T)):
        yield a, T[a, a:, a:]


def _corner_square(corner: Array) -> float:
    """Return the sum of squares of all entries of a symmetric tensor whose least index is that."""
    rest, edge, point = corner[1:, 1:], corner[0, 1:], corner[0, 0]
    return float(3 * np.vdot(rest, rest) + 3 * np.vdot(edge, edge) + point**2)


def symmetrized(T: Array) -> Array:
    """Return the mean over all six permutations of the indices of an almost symmetric tensor.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)

    Returns
    -------
    ndarray, shape (n, n, n)
        A fresh array, symmetric to the last bit; where `T` is so too, equal to it.

    Raises
    ------
    DataError
        Where an entry differs from its mean by more than 1e-10 of the largest entry.
    """
    mean = np.empty_like(T, order="C")
    for a in range(len(T)):
        # differences from the first, so that equal entries are kept as they are
        first, others = T[a, a:, a:], (T[a:, a, a:], T[a:, a:, a])
        half = first + sum(other - first for other in others) / 3
        mean[a, a:, a:] = mean[a:, a, a:] = mean[a:, a:, a] = (half + half.T) / 2
    return _refuse_asymmetric(T, mean)


def _refuse_asymmetric(T: Array, mean: Array) -> Array:
    off = np.array([np.abs(slab - other).max() for slab, other in zip(T, mean, strict=True)])
    largest = np.abs(T).max()
    if off.max() > SYMMETRIC * largest:
        a = int(off.argmax())
        b, c = np.unravel_index(np.abs(T[a] - mean[a]).argmax(), T[a].shape)
        raise DataError(
            f"the tensor is not symmetric: entry {(a, int(b), int(c))} is {T[a, b, c]:.6g}, and "
            f"the mean over the permutations of its indices {mean[a, b, c]:.6g}, "
            f"{off.max() / largest:.1e} of the largest entry away; pass that mean"
        )
    return mean
