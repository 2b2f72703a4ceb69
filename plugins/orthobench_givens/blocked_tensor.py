"""Kernels for a symmetric third-order tensor in blocks of indices, rotated a round at a time.

Block p <= q <= r of the tensor, a cube whose indices lie in the index blocks p, q and r, is row
``first[p] + second[q] + r`` of `blocks`: packed as entries are (`tensor_sweeps.offsets`).
"""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import inner, kernel
from orthobench_givens.packed_tensor import pack, unpack
from orthobench_givens.tensor_sweeps import Indices


@kernel
def open_round(
    blocks: Array, seats: Indices, where: tuple[Indices, Indices],
    tensors: Array, within: tuple[Indices, Indices],
) -> None:  # fmt: skip
    """Pack, for each two blocks that meet, the entries whose indices all lie in them.

    Parameters
    ----------
    blocks : ndarray, shape (blocks(blocks + 1)(blocks + 2)/6, size³)
    seats : ndarray of int, shape (n, 2)
        Which blocks meet.
    where : tuple of two ndarray
        Offsets of the blocks.
    tensors : ndarray, shape (n, m(m + 1)(m + 2)/6), m = 2 size
        Overwritten.
    within : tuple of two ndarray
        Offsets within those.
    """
    m = len(within[0])
    cube = np.empty((m, m, m))
    for a in range(len(seats)):
        _gather(blocks, seats[a], seats[a], seats[a], where, cube)
        pack(cube, within[0], within[1], tensors[a])


@kernel
def close_round(
    blocks: Array, seats: Indices, where: tuple[Indices, Indices],
    tensors: Array, within: tuple[Indices, Indices], turns: Array,
) -> None:  # fmt: skip
    """Rotate the whole tensor by what the blocks that met have rotated within themselves.

    Parameters
    ----------
    blocks, seats, where, tensors, within
        As for `open_round`; here `blocks` is overwritten.
    turns : ndarray, shape (n, m, m)
        The rotations of each two blocks, one new vector a row.

    Notes
    -----
    6m⁴ flops in matrix products for each of (n³ + 3n² - 4n)/6 cubes; no product where nobody
    turned.
    """
    n, m = turns.shape[:2]
    X, Y = np.empty((m, m, m)), np.empty((m, m, m))
    turned = np.array([_turns(turns[a]) for a in range(n)])
    for a in range(n):
        for b in range(a, n):
            for c in range(b, n):
                if not (turned[a] or turned[b] or turned[c]):
                    continue
                if a == c:
                    unpack(tensors[a], within[0], within[1], X)
                else:
                    _gather(blocks, seats[a], seats[b], seats[c], where, X)
                    _turn_mode(X, turns[a], Y)
                    _turn_mode(Y, turns[b], X)
                    _turn_mode(X, turns[c], Y)
                    X, Y = Y, X
                _scatter(X, seats[a], seats[b], seats[c], where, blocks)


@inner
def _turns(V: Array) -> bool:
    """Return whether a rotation is not the identity; one by a tiny angle has a diagonal of ones."""
    for i in range(len(V)):
        for j in range(len(V)):
            if V[i, j] != (1.0 if i == j else 0.0):
                return True
    return False


@inner
def _turn_mode(X: Array, V: Array, Y: Array) -> None:
    """Set Y_bca' = sum_a V_a'a X_abc: the first mode is rotated, and becomes the last."""
    m = len(V)
    np.dot(X.reshape(m, m * m).T, V.T, Y.reshape(m * m, m))


@inner
def _gather(
    blocks: Array, P: Indices, Q: Indices, R: Indices, where: tuple[Indices, Indices], cube: Array
) -> None:
    """Copy the blocks of two index blocks along each mode into one cube."""
    size = cube.shape[0] // 2
    for x in range(2):
        for y in range(2):
            for z in range(2):
                at, steps = _place(P[x], Q[y], R[z], where, size)
                part = cube[x * size :, y * size :, z * size :]
                _unfold(blocks[at], part, steps, size)


@inner
def _scatter(
    cube: Array, P: Indices, Q: Indices, R: Indices, where: tuple[Indices, Indices], blocks: Array
) -> None:
    """Copy them back."""
    size = cube.shape[0] // 2
    for x in range(2):
        for y in range(2):
            for z in range(2):
                at, steps = _place(P[x], Q[y], R[z], where, size)
                part = cube[x * size :, y * size :, z * size :]
                _fold(part, blocks[at], steps, size)


@inner
def _place(
    p: int, q: int, r: int, where: tuple[Indices, Indices], size: int
) -> tuple[int, tuple[int, int, int]]:
    """Return which row holds the block p, q, r in any order, and how far apart its entries lie."""
    low, high = min(p, q, r), max(p, q, r)
    at = where[0][low] + where[1][p + q + r - low - high] + high
    x, y, z = (p > q) + (p > r), (q >= p) + (q > r), (r >= p) + (r >= q)
    return at, (size ** (2 - x), size ** (2 - y), size ** (2 - z))


@inner
def _unfold(block: Array, part: Array, steps: tuple[int, int, int], size: int) -> None:
    for i in range(size):
        for j in range(size):
            at = i * steps[0] + j * steps[1]
            if steps[2] == 1:  # known to be contiguous, this vectorizes
                for k in range(size):
                    part[i, j, k] = block[at + k]
            else:
                for k in range(size):
                    part[i, j, k] = block[at + k * steps[2]]


@inner
def _fold(part: Array, block: Array, steps: tuple[int, int, int], size: int) -> None:
    for i in range(size):
        for j in range(size):
            at = i * steps[0] + j * steps[1]
            if steps[2] == 1:
                for k in range(size):
                    block[at + k] = part[i, j, k]
            else:
                for k in range(size):
                    block[at + k * steps[2]] = part[i, j, k]
