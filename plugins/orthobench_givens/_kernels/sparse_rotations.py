"""Rotations of pairs of columns of AU: the inner loop of Algorithms 2 and 5.

A rotation sets ``x <- cos t x + sin t y`` and ``y <- cos t y - sin t x``, as the algorithms of
Shalit and Chechik (2014) need it; their section 2.2 calls that angle -t, a misprint. The columns
are read once to gather the rows with x² + y² > gamma², usually few, and once to rotate.
"""

from __future__ import annotations

import numpy as np
from orthobench_kit.compiled import kernel, summed
from orthobench_kit.simd import COUNT, bits, count_bits, load, lowest_bit

from orthobench.contract import Array
from orthobench_givens._kernels.pairs import Pairs
from orthobench_givens._kernels.sparse_angle import SCRATCH, best_angle
from orthobench_givens._kernels.sparse_columns import WORD, Tally
from orthobench_givens._kernels.tensor_angles import rotate_rows

COPIED = 4
"""Number of rows of a word copied without a branch: most words have fewer to copy."""

ROUNDING = 1e-14
"""Gain, relative to the objective in the plane, below which it is rounding."""


@kernel
def _outside(x: Array, y: Array, first: int, bound: float) -> int:
    """Return a word whose bit k shows whether row first + k has x² + y² > bound."""
    word = 0
    for part in range(0, WORD, COUNT):
        a, b = load(x, first + part), load(y, first + part)
        word |= bits(a * a + b * b > bound) << part
    return word


@kernel
def _gather(x: Array, y: Array, bound: float, p: Array, q: Array) -> int:
    """Copy the rows with x² + y² > bound to p and q, pad with zeros, and return their number."""
    n = 0
    for first in range(0, len(x), WORD):
        word = _outside(x, y, first, bound)
        many = count_bits(word)
        for at in range(n, n + max(many, 1), COPIED):
            for k in range(COPIED):
                row = first + (lowest_bit(word) & (WORD - 1))
                p[at + k], q[at + k] = x[row], y[row]
                word &= word - 1
        n += many
    for k in range(n, n + COUNT):
        p[k], q[k] = 0.0, 0.0
    return n


@kernel
def _rotate(array: Array, pairs: Pairs, gamma: float, scratch: Array, t: Tally) -> Tally:
    p, q, grid = scratch
    for k in range(len(pairs)):
        x, y = array[pairs[k, 0]], array[pairs[k, 1]]
        n = _gather(x, y, gamma * gamma, p, q)
        gain, values, slopes, rotated = 0.0, 0, 0, 0
        if n > 0:
            best = best_angle(p, q, n, gamma, grid)
            values, slopes = best.values, best.slopes
            if best.gain > ROUNDING * best.value:
                rotate_rows(x, y, best.cosine, best.sine)
                gain, rotated = best.gain, 1
        t = Tally(
            t.gain + gain, t.planes + 1, t.values + values, t.slopes + slopes, t.rotated + rotated
        )
    return t


@kernel
def rotate_pairs(array: Array, pairs: Pairs, gamma: float, tally: Tally) -> Tally:
    """Rotate pairs of columns (`empty_columns`) in place, in order, each to its best angle.

    If gamma is 0, the objective is constant and nothing is done. Returns the tally after it.
    `plane_flops`; memory for three more columns. Shalit and Chechik 2014, Algorithm 2, lines 2 and
    3.
    """
    if gamma == 0.0:
        return tally
    scratch = np.empty((3, array.shape[1] + SCRATCH))
    return _rotate(array, pairs, gamma, scratch, tally)


@summed
def _square(x: Array) -> float:
    square = 0.0
    for k in range(len(x)):
        square += x[k] * x[k]
    return square


@kernel
def _replace_smallest(array: Array, sample: Array) -> None:
    """Overwrite the column of smallest norm, the first of equal ones, with a sample."""
    smallest, least = 0, np.inf
    for j in range(len(array)):
        square = _square(array[j])
        if square < least:
            smallest, least = j, square
    column = array[smallest]
    for k in range(len(sample)):
        column[k] = sample[k]


@kernel
def stream(array: Array, samples: Array, pairs: Pairs, gamma: float, tally: Tally) -> Tally:
    """Let each sample replace the smallest column, then rotate its pairs (count, L, 2) of columns.

    Returns the tally after it. 2dm flops a sample for the norms, and `plane_flops`. Shalit and
    Chechik 2014, Algorithm 5, lines 1 to 6.
    """
    scratch = np.empty((3, array.shape[1] + SCRATCH))
    for k in range(len(samples)):
        _replace_smallest(array, samples[k])
        if gamma > 0.0:
            tally = _rotate(array, pairs[k], gamma, scratch, tally)
    return tally
