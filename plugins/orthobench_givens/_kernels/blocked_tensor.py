"""Kernels for a symmetric third-order tensor in blocks of indices, rotated a round at a time.

Block p <= q <= r, a cube, is row ``first[p] + second[q] + r`` of `blocks` (`offsets`).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from orthobench_kit.compiled import kernel

from orthobench.contract import Array
from orthobench_givens._kernels.packed_tensor import pack, unpack
from orthobench_givens._kernels.pairs import Indices, packed_size

Offsets: TypeAlias = tuple[Indices, Indices]


def rotated_blocks(T: Array, U: Array, blocks: int, size: int) -> Array:
    """Return the blocks p <= q <= r of T(U, U, U), one a row of `size`³ entries.

    Entries beyond d are zero. 6d⁴ flops for one block, (11/3)d⁴ for many; 2 size d² doubles of
    scratch.
    """
    d = len(U)
    padded = np.zeros((d, blocks * size))
    padded[:, :d] = U
    result = np.empty((packed_size(blocks), size**3))
    at = 0
    for p in range(blocks):
        rest = np.ascontiguousarray(padded[:, p * size :])
        slab = rest[:, :size].T @ T.reshape(d, d * d)
        slab = (slab.reshape(size * d, d) @ rest).reshape(size, d, -1)
        tiles = (rest.T @ slab).reshape(size, blocks - p, size, blocks - p, size)
        q, r = np.triu_indices(blocks - p)
        result[at : at + len(q)] = tiles.transpose(1, 3, 0, 2, 4)[q, r].reshape(len(q), -1)
        at += len(q)
    return result


@kernel
def begin_round(
    blocks: Array, block_pairs: Indices, block_offsets: Offsets,
    tensors: Array, entry_offsets: Offsets,
) -> None:  # fmt: skip
    """Pack, for each pair of blocks, the entries whose indices all lie in these two blocks.

    `tensors` (n, m(m + 1)(m + 2)/6), m = 2 size, is overwritten.
    """
    m = len(entry_offsets[0])
    cube = np.empty((m, m, m))
    for a in range(len(block_pairs)):
        own = block_pairs[a]
        _copy(blocks, own, own, own, block_offsets, cube, False)
        pack(cube, entry_offsets[0], entry_offsets[1], tensors[a])


@kernel
def end_round(
    blocks: Array, block_pairs: Indices, block_offsets: Offsets,
    tensors: Array, entry_offsets: Offsets, rotations: Array,
) -> None:  # fmt: skip
    """Apply the rotations made within each pair of blocks to the whole tensor.

    `rotations` (n, m, m) has new basis vectors as rows; other arguments as in `begin_round`. 6m⁴
    flops in matrix products for each of (n³ + 3n² - 4n)/6 cubes, none without rotations.
    """
    n, m = rotations.shape[:2]
    X, Y = np.empty((m, m, m)), np.empty((m, m, m))
    rotated = np.array([_rotates(rotations[a]) for a in range(n)])
    for a in range(n):
        for b in range(a, n):
            for c in range(b, n):
                if not (rotated[a] or rotated[b] or rotated[c]):
                    continue
                P, Q, R = block_pairs[a], block_pairs[b], block_pairs[c]
                if a == c:
                    unpack(tensors[a], entry_offsets[0], entry_offsets[1], X)
                else:
                    _copy(blocks, P, Q, R, block_offsets, X, False)
                    _rotate_mode(X, rotations[a], Y)
                    _rotate_mode(Y, rotations[b], X)
                    _rotate_mode(X, rotations[c], Y)
                    X, Y = Y, X
                _copy(blocks, P, Q, R, block_offsets, X, True)


@kernel
def _rotates(V: Array) -> bool:
    for i in range(len(V)):
        for j in range(len(V)):
            if V[i, j] != (1.0 if i == j else 0.0):
                return True
    return False


@kernel
def _rotate_mode(X: Array, V: Array, Y: Array) -> None:
    """Rotate the first mode of X, which becomes the last of Y: Y_bca' = sum_a V_a'a X_abc."""
    m = len(V)
    np.dot(X.reshape(m, m * m).T, V.T, Y.reshape(m * m, m))


@kernel
def _copy(
    blocks: Array, P: Indices, Q: Indices, R: Indices, block_offsets: Offsets,
    cube: Array, back: bool,
) -> None:  # fmt: skip
    """Copy eight blocks, of a pair of index blocks in each mode, to a cube or back."""
    size = cube.shape[0] // 2
    for x in range(2):
        for y in range(2):
            for z in range(2):
                row, strides = _locate(P[x], Q[y], R[z], block_offsets, size)
                part = cube[x * size :, y * size :, z * size :]
                if back:
                    _write_block(part, blocks[row], strides, size)
                else:
                    _read_block(blocks[row], part, strides, size)


@kernel
def _locate(
    p: int, q: int, r: int, block_offsets: Offsets, size: int
) -> tuple[int, tuple[int, int, int]]:
    low, high = min(p, q, r), max(p, q, r)
    row = block_offsets[0][low] + block_offsets[1][p + q + r - low - high] + high
    x, y, z = (p > q) + (p > r), (q >= p) + (q > r), (r >= p) + (r >= q)
    return row, (size ** (2 - x), size ** (2 - y), size ** (2 - z))


@kernel
def _read_block(block: Array, part: Array, strides: tuple[int, int, int], size: int) -> None:
    for i in range(size):
        for j in range(size):
            at = i * strides[0] + j * strides[1]
            if strides[2] == 1:  # known to be contiguous, this vectorizes
                for k in range(size):
                    part[i, j, k] = block[at + k]
            else:
                for k in range(size):
                    part[i, j, k] = block[at + k * strides[2]]


@kernel
def _write_block(part: Array, block: Array, strides: tuple[int, int, int], size: int) -> None:
    for i in range(size):
        for j in range(size):
            at = i * strides[0] + j * strides[1]
            if strides[2] == 1:
                for k in range(size):
                    block[at + k] = part[i, j, k]
            else:
                for k in range(size):
                    block[at + k * strides[2]] = part[i, j, k]
