"""The layout of the columns of AU in memory, which the kernels of sparse PCA rely on."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array

WORD = 64
"""The length of a column in memory, padding included, is a multiple of this many entries."""

LINE = 64
"""Bytes of a cache line."""

PAGE = 512
"""Entries of a page of memory: 4096 bytes of doubles."""


def empty_columns(m: int, rows: int) -> Array:
    """Return zeros for m columns, each contiguous and aligned to a cache line.

    Parameters
    ----------
    m : int
        Number of columns.
    rows : int
        Entries of each column.

    Returns
    -------
    ndarray, shape (m, width), C order
        Column j is row j. The width is at least `rows` and a multiple of `WORD`, and never one of
        a page: columns whole pages apart would compete for the same sets of the cache.

    Notes
    -----
    Memory: m width doubles.
    """
    width = -(-rows // WORD) * WORD
    if width % PAGE == 0:
        width += WORD
    buffer = np.zeros(m * width + LINE // 8)
    first = -(buffer.ctypes.data // 8) % (LINE // 8)
    return buffer[first : first + m * width].reshape(m, width)
