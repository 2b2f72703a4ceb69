"""Kernels for a symmetric third-order tensor with one index rotated: slabs T(u_a, I, I).

A plane rotation of u_i and u_j combines slabs i and j in the order of memory. The best angle needs
T~_iij = T(u_i, u_i, u_j) for all pairs, which a rotation updates from the fibre T(u_i, u_j, U), by
one product with a slab and one with U'.

A row of a slab begins at the block of `orthobench_kit.simd.COUNT` columns with the diagonal, and
ends at a multiple of `COUNT`; an odd number of rows is padded.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from orthobench_kit.compiled import kernel
from orthobench_kit.simd import COUNT, fill, load, store, total

from orthobench.contract import Array
from orthobench_givens._kernels.pairs import Indices
from orthobench_givens._kernels.tensor_angles import best_rotation, corner_rotated, rotate_rows


def padded(d: int) -> int:
    """Return the length of a row of a slab that begins at column 0."""
    return -(-d // COUNT) * COUNT


@cache
def row_positions(d: int) -> Indices:
    """Return the beginning of each row of a slab, and the end of the last; d is made even."""
    rows = np.arange(d + d % 2)
    return np.concatenate([[0], np.cumsum(padded(d) - rows + rows % COUNT)])


def slabs_of(T: Array, basis: Array) -> tuple[Array, Array]:
    """Return the slabs T(u_a, I, I), and (T(u_a, u_a, u_b))_ab (d, d), given U' as `basis`.

    4d⁴ + 2d³ flops; d³ doubles of scratch.
    """
    d, positions = len(T), row_positions(len(T))
    whole = (basis @ T.reshape(d, d * d)).reshape(d, d, d)
    slabs, twice = np.zeros((d, positions[-1])), np.empty((d, d))
    for a in range(d):
        twice[a] = basis[a] @ (whole[a] @ basis.T)
    for row, begin in enumerate(positions[:d]):
        first = row - row % COUNT
        slabs[:, begin : begin + d - first] = whole[:, row, first:]
    return slabs, twice


@kernel
def try_pairs(
    slabs: Array, twice: Array, basis: Array, pairs: Indices,
    limits: tuple[float, float, int], idle: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Rotate pairs of indices by their best angles, until many in a row need no rotation.

    `slabs` and `twice` come from `slabs_of`; they and `basis` = U' change in place. The rest is as
    in `packed_tensor.try_pairs`. About 225 operations a pair and 7d² a rotation; a packed tensor
    needs 3d², at distant addresses.
    """
    slope_tolerance, gain_tolerance, enough = limits
    d = len(basis)
    u, product, fibre = np.zeros(d + COUNT), np.empty(d + COUNT), np.empty(d)
    rotated = 0
    for k in range(len(pairs)):
        if idle == enough:
            return k, rotated, idle
        i, j = pairs[k, 0], pairs[k, 1]
        c, s = _best(twice, i, j, slope_tolerance, gain_tolerance)
        if s == 0.0 and c == 1.0:
            idle += 1
            continue
        for a in range(d):
            u[a] = basis[j, a]
        rotate_slabs(slabs[i], slabs[j], d, c, s, u, product)
        np.dot(basis, product[:d], fibre)
        rotate_twice(twice, i, j, c, s, fibre)
        rotate_rows(basis[i], basis[j], c, s)
        rotated, idle = rotated + 1, 0
    return len(pairs), rotated, idle


@kernel
def stationary(twice: Array, slope_tolerance: float, gain_tolerance: float) -> bool:
    """Return whether no pair of indices needs a rotation."""
    for i in range(len(twice)):
        for j in range(i + 1, len(twice)):
            c, s = _best(twice, i, j, slope_tolerance, gain_tolerance)
            if s != 0.0 or c != 1.0:
                return False
    return True


@kernel
def _best(
    twice: Array, i: int, j: int, slope_tolerance: float, gain_tolerance: float
) -> tuple[float, float]:
    iii, iij, ijj, jjj = twice[i, i], twice[i, j], twice[j, i], twice[j, j]
    return best_rotation(iii, iij, ijj, jjj, slope_tolerance, gain_tolerance)


@kernel
def rotate_slabs(X: Array, Y: Array, d: int, c: float, s: float, u: Array, product: Array) -> None:
    """Rotate two slabs, X <- cX + sY and Y <- cY - sX, and set `product` to the old X times u.

    3d(d + 1) flops for the distinct entries, and 2d² for the product.
    """
    width = -(-d // COUNT) * COUNT
    for at in range(0, width, COUNT):
        store(product, at, fill(0.0))
    begin = 0
    for row in range(0, d, 2):
        first = row - row % COUNT
        upper, lower = begin - first, begin + width - 2 * first
        u0, u1, sum0, sum1 = u[row], u[row + 1], fill(0.0), fill(0.0)
        for at in range(first, width, COUNT):
            x0, y0 = load(X, upper + at), load(Y, upper + at)
            x1, y1 = load(X, lower + at), load(Y, lower + at)
            factors = load(u, at)
            sum0, sum1 = sum0 + x0 * factors, sum1 + x1 * factors
            if at > first:  # right of the diagonal's block each entry stands for two
                store(product, at, load(product, at) + x0 * u0 + x1 * u1)
            store(X, upper + at, x0 * c + y0 * s)
            store(Y, upper + at, y0 * c - x0 * s)
            store(X, lower + at, x1 * c + y1 * s)
            store(Y, lower + at, y1 * c - x1 * s)
        product[row] += total(sum0)
        product[row + 1] += total(sum1)
        begin += 2 * (width - first)


@kernel
def rotate_twice(twice: Array, i: int, j: int, c: float, s: float, fibre: Array) -> None:
    """Rotate the entries (iia), (jja), (aai) and (aaj) for all a, given the fibre (ija)."""
    corner = twice[i, i], twice[i, j], twice[j, i], twice[j, j]
    cc, cs, ss = c * c, c * s, s * s
    sin2 = 2.0 * cs
    for a in range(len(fibre)):
        x, y, mixed = twice[i, a], twice[j, a], sin2 * fibre[a]
        twice[i, a] = cc * x + mixed + ss * y
        twice[j, a] = ss * x - mixed + cc * y
    for a in range(len(fibre)):
        x, y = twice[a, i], twice[a, j]
        twice[a, i] = c * x + s * y
        twice[a, j] = c * y - s * x
    iii, iij, ijj, jjj = corner_rotated(corner, (c * cc, c * cs, c * ss, s * ss))
    twice[i, i], twice[i, j], twice[j, i], twice[j, j] = iii, iij, ijj, jjj
