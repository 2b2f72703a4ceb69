"""Symmetric tensors: sums of rank-one terms, symmetry, contractions and norms.

Functions of symmetric tensors T of order 3 or 4 read only entries (a, b, c) with a <= b, c, slab by
slab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from orthobench.errors import DataError
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import drift
from orthobench_kit.reading import array_of, real

ROWS = 48
"""Rows of a symmetric matrix that one product computes."""

SYMMETRIC = 1e-6
"""Relative asymmetry that counts as rounding."""

ORTHONORMAL = 1e-8
"""Maximum |U'U - I| of true factors, or of a true basis."""


def checked_tensor(given: object, low: int, high: float, form: str) -> Array:
    """Return a user's tensor in float64: finite, not zero, of order `low` to `high`.

    Raises
    ------
    DataError
        If it is anything else; `form` names its shapes.
    """
    T = array_of(given, "the entries of the tensor")
    if not low <= T.ndim <= high or len(set(T.shape)) != 1 or not T.size:
        raise DataError(f"the tensor must be {form}, not of shape {T.shape}")
    tensor = real(T, "the entries of the tensor")
    if not np.isfinite(tensor).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(tensor))[0])
        raise DataError(f"entry {at} of the tensor is {tensor[at]}; clean the data")
    if not tensor.any():
        raise DataError("the tensor is zero: there is nothing to decompose")
    return tensor


def checked_orthonormal(given: Array, n: int, what: str) -> Array:
    """Return a copy of orthonormal columns (n, r) in float64.

    Raises
    ------
    DataError
        If they are anything else; `what` is their name.
    """
    known = real(given, what).copy()
    if known.ndim != 2 or len(known) != n or not 1 <= known.shape[1] <= n:
        raise DataError(f"{what} must be of shape ({n}, r), r <= {n}, not {known.shape}")
    defect = drift(known)
    if not defect <= ORTHONORMAL:
        raise DataError(f"{what} are not orthonormal: |U'U - I| = {defect:.3g}")
    return known


def composed(U: Array, weights: Array, order: int = 3) -> Array:
    """Return sum_i w_i u_i ⊗ ... ⊗ u_i of order d >= 2, for columns of U (n, k).

    2n^d k flops; memory n^(d-1) k beyond the result's.

    Examples
    --------
    >>> import numpy as np
    >>> composed(np.eye(2), np.array([3.0, 5.0])).ravel()
    array([3., 0., 0., 0., 0., 0., 0., 5.])
    """
    n, k = U.shape
    products = U * weights
    for _ in range(order - 2):
        products = (U[:, None, :] * products).reshape(-1, k)
    return np.asarray(products @ U.T).reshape((n,) * order)


def contracted(T: Array, U: Array) -> Array:
    """Return T(u, ..., u) for each column u of U (n, k); 2n^d k/3 flops, memory nk.

    Examples
    --------
    >>> import numpy as np
    >>> contracted(composed(np.eye(2), np.array([3.0, 5.0])), np.eye(2)[:, ::-1])
    array([5., 3.])
    """
    if T.ndim == 4:
        return np.asarray(sum(U[a] * contracted(slab, U) for a, slab in enumerate(T)))
    values = np.zeros(U.shape[1])
    for a, corner in _corners(T):
        # entries with one or two indices a stand for three each
        rest = U[a:].copy()
        rest[0] /= 2
        values += 3 * U[a] * np.einsum("bk,bk->k", corner @ rest, rest)
        values += corner[0, 0] / 4 * U[a] ** 3
    return values


def partly_contracted(T: Array, U: Array) -> Array:
    """Return T(I, u, ..., u), a d-th of the gradient of T(u, ..., u), for each column of U.

    2n^d k/3 flops; memory nk.
    """
    if T.ndim == 4:
        return np.stack([contracted(slab, U) for slab in T])
    vectors = np.zeros_like(U)
    for a, corner in _corners(T):
        rest = U[a:].copy()
        rest[0] /= 2
        product = corner @ rest
        vectors[a] += np.einsum("bk,bk->k", product, rest) + U[a] * product[0]
        vectors[a] += corner[0, 0] / 4 * U[a] ** 2
        vectors[a + 1 :] += 2 * U[a] * product[1:]
    return vectors


def residual_norm(T: Array, U: Array, weights: Array) -> float:
    """Return |T - sum_i w_i u_i ⊗ ... ⊗ u_i|, from the difference itself, for U (n, k).

    2n^d k/3 flops; memory n².
    """
    if T.ndim == 4:
        return _norm_of(residual_norm(slab, U, weights * U[a]) for a, slab in enumerate(T))
    squares = (
        _corner_square(corner - (U[a:] * (weights * U[a])) @ U[a:].T) for a, corner in _corners(T)
    )
    return float(np.sqrt(sum(squares)))


def norm(T: Array) -> float:
    """Return the Frobenius norm; 2n^d/3 flops."""
    if T.ndim == 4:
        return _norm_of(map(norm, T))
    return float(np.sqrt(sum(_corner_square(corner) for _, corner in _corners(T))))


def _norm_of(norms: Iterable[float]) -> float:
    return float(np.sqrt(sum(each * each for each in norms)))


def _corners(T: Array) -> Iterator[tuple[int, Array]]:
    for a in range(len(T)):
        yield a, T[a, a:, a:]


def _corner_square(corner: Array) -> float:
    rest, edge, point = corner[1:, 1:], corner[0, 1:], corner[0, 0]
    return float(3 * np.vdot(rest, rest) + 3 * np.vdot(edge, edge) + point**2)


def mirror(G: Array) -> None:
    """Make a matrix symmetric by its upper part."""
    for row in range(0, len(G), ROWS):
        end = row + ROWS
        G[end:, row:end] = G[row:end, end:].T
        block = G[row:end, row:end]
        block[:] = (block + block.T) / 2


def fill(T: Array, corner: Callable[[int, Array], None]) -> None:
    """Fill a symmetric tensor (n,) * d from the entries whose first index is the smallest.

    ``corner(a, T[a, a:, ..., a:])`` writes a symmetric tensor of order d - 1 into its second
    argument.
    """
    order = T.ndim
    for a, slab in enumerate(T):
        low, high = slice(None, a), slice(a, None)
        corner(a, slab[(high,) * (order - 1)])
        slab[:a] = T[:a, a]
        for place in range(1, order - 1):
            region = (high,) * place + (low,)
            slab[region] = slab.swapaxes(0, place)[region]


def symmetric_matrices(A: Array, what: str) -> Array:
    """Return the mean of each matrix of a stack (..., n, n) and its transpose.

    Raises
    ------
    DataError
        If a matrix is not symmetric, up to `SYMMETRIC` of its largest entry; `what` is its name.
    """
    if A.shape[-1] != A.shape[-2]:
        raise DataError(f"{what} must be a symmetric matrix, not of shape {A.shape[-2:]}")
    mirrored = A.swapaxes(-1, -2)
    off = np.abs(A - mirrored) - SYMMETRIC * np.abs(A).max(axis=(-2, -1), keepdims=True)
    if off.max() > 0:
        at = tuple(map(int, np.unravel_index(int(off.argmax()), A.shape)))
        raise DataError(
            f"{what} is not symmetric: entry {at} is {A[at]:.6g}, its mirror image "
            f"{mirrored[at]:.6g}; pass (A + A') / 2 if that is what you mean"
        )
    return np.asarray((A + mirrored) / 2)


def symmetrized(T: Array) -> Array:
    """Return the mean over all permutations of the indices of an almost symmetric tensor.

    Symmetric to the last bit, and equal to `T` if that is. Memory of about n^(d-1) beyond the
    result.

    Raises
    ------
    DataError
        If an entry differs from its mean by more than `SYMMETRIC` of the largest entry.
    """
    mean = np.empty(T.shape)
    _set_mean(mean, T)
    _refuse_asymmetric(T, mean)
    return mean


def _set_mean(mean: Array, T: Array) -> None:
    if T.ndim == 2:
        np.add(T, (T.T - T) / 2, out=mean)
        mirror(mean)
        return

    def corner(a: int, rest: Array) -> None:
        # a mean of differences keeps the bits of equal entries
        places = [
            np.moveaxis(T, place, 0)[a][(slice(a, None),) * rest.ndim] for place in range(T.ndim)
        ]
        off = sum(other - places[0] for other in places[1:])
        _set_mean(rest, places[0] + off / T.ndim)

    fill(mean, corner)


def _refuse_asymmetric(T: Array, mean: Array) -> None:
    off = np.array([np.abs(slab - other).max() for slab, other in zip(T, mean, strict=True)])
    largest = max(float(np.abs(slab).max()) for slab in T)
    if off.max() <= SYMMETRIC * largest:
        return
    a = int(off.argmax())
    rest = np.unravel_index(int(np.abs(T[a] - mean[a]).argmax()), T[a].shape)
    at = (a, *map(int, rest))
    raise DataError(
        f"the tensor is not symmetric: entry {at} is {T[at]:.6g}, and the mean over the "
        f"permutations of its indices {mean[at]:.6g}, {off.max() / largest:.1e} of the largest "
        "entry away; pass that mean"
    )
