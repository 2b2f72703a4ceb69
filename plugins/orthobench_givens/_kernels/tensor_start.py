"""The tensor at the start of Givens rotations, in blocks of indices."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench_givens._kernels.tensor_sweeps import packed_size


def rotated_blocks(T: Array, U: Array, blocks: int, size: int) -> Array:
    """Return the blocks p <= q <= r of T(U, U, U).

    Parameters
    ----------
    T : ndarray, shape (d, d, d)
        Symmetric.
    U : ndarray, shape (d, d)
    blocks, size : int
        Number of index blocks, and indices in each, blocks * size >= d; entries beyond d are zero.

    Returns
    -------
    ndarray, shape (blocks(blocks + 1)(blocks + 2)/6, size³)
        Block p <= q <= r lies where entry p <= q <= r of a packed tensor would
        (`orthobench_givens._kernels.tensor_sweeps.offsets`).

    Notes
    -----
    6d⁴ flops for one block, (11/3)d⁴ for many; 2 size d² doubles of scratch.
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
