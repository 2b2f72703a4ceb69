"""Rotations of columns of AU, one after the other: the inner loop of Algorithms 2 and 5.

A rotation turns ``x <- cos t x + sin t y`` and ``y <- cos t y - sin t x``, as equation 6 and the
algorithms of Shalit and Chechik (2014) need it; their section 2.2 calls that angle -t, a misprint.

Rows with x² + y² <= gamma² count at no angle. So the columns are streamed once to find the other
rows, a few of which the search for the angle looks at, and once to rotate all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array
from orthobench.tools.compiled import inner, kernel, summed
from orthobench.tools.simd import COUNT, bits, count_bits, load, lowest_bit
from orthobench_givens.sparse_angle import SCRATCH, best_angle
from orthobench_givens.sparse_columns import WORD, Tally
from orthobench_givens.turns import turn

AT_ONCE = 4
"""Rows of a word copied without a branch: most words have fewer."""

ROUNDING = 1e-14
"""A rotation that gains less than this share of what its plane has is left out."""


@inner
def _outside(x: Array, y: Array, first: int, bound: float) -> int:
    """Return a word whose bits tell which of the rows first, ... have x² + y² > bound."""
    word = 0
    for part in range(0, WORD, COUNT):
        a, b = load(x, first + part), load(y, first + part)
        word |= bits(a * a + b * b > bound) << part
    return word


@inner
def _gather(x: Array, y: Array, bound: float, p: Array, q: Array) -> int:
    """Copy the rows with x² + y² > bound into p and q, and zeros after them; return how many.

    Several at once, too many where there are fewer: how many there are is hard to predict.
    """
    n = 0
    for first in range(0, len(x), WORD):
        word = _outside(x, y, first, bound)
        many = count_bits(word)
        for at in range(n, n + max(many, 1), AT_ONCE):
            for k in range(AT_ONCE):
                row = first + (lowest_bit(word) & (WORD - 1))
                p[at + k], q[at + k] = x[row], y[row]
                word &= word - 1
        n += many
    for k in range(n, n + COUNT):
        p[k], q[k] = 0.0, 0.0
    return n


@inner
def _rotate(
    array: Array, pairs: NDArray[np.int32], gamma: float, scratch: Array, t: Tally
) -> Tally:
    """Rotate each pair in its turn; scratch (3, rows + SCRATCH)."""
    p, q, grid = scratch
    for k in range(len(pairs)):
        x, y = array[pairs[k, 0]], array[pairs[k, 1]]
        n = _gather(x, y, gamma * gamma, p, q)
        if n == 0:
            t = Tally(t.gain, t.planes + 1, t.values, t.slopes, t.rotated, t.entries)
            continue
        found = best_angle(p, q, n, gamma, grid)
        gain, turned = 0.0, found.gain > ROUNDING * found.value
        if turned:
            turn(x, y, found.cosine, found.sine)
            gain = found.gain
        t = Tally(
            t.gain + gain,
            t.planes + 1,
            t.values + found.values,
            t.slopes + found.slopes,
            t.rotated + turned,
            t.entries + n * (found.values + 2 * found.slopes),
        )
    return t


@kernel
def rotate_pairs(array: Array, pairs: NDArray[np.int32], gamma: float, tally: Tally) -> Tally:
    """Rotate pairs of columns in place, one after the other, each to its best angle.

    Parameters
    ----------
    array : ndarray, shape (m, rows), C order
        The columns of AU; rows a multiple of `WORD`.
    pairs : ndarray of int32, shape (count, 2)
    gamma : float
        Absolute; at 0 the objective is constant and nothing is done.
    tally : Tally
        Continued in what is returned.

    Notes
    -----
    `orthobench_givens.sparse_columns.plane_flops`; memory for three more columns.
    """
    if gamma == 0.0:
        return tally
    scratch = np.empty((3, array.shape[1] + SCRATCH))
    return _rotate(array, pairs, gamma, scratch, tally)


@summed
def _square(x: Array) -> float:
    """Return |x|²."""
    square = 0.0
    for k in range(len(x)):
        square += x[k] * x[k]
    return square


@inner
def _replace_smallest(array: Array, sample: Array) -> None:
    """Put a sample in the place of the column of smallest norm, the first where several tie."""
    smallest, least = 0, np.inf
    for j in range(len(array)):
        square = _square(array[j])
        if square < least:
            smallest, least = j, square
    column = array[smallest]
    for k in range(len(sample)):
        column[k] = sample[k]


@kernel
def stream(
    array: Array, samples: Array, pairs: NDArray[np.int32], gamma: float, tally: Tally
) -> Tally:
    """Let each sample replace the smallest column, then rotate: lines 1 to 6 of Algorithm 5.

    Parameters
    ----------
    array : ndarray, shape (m, rows), C order
        The columns of AU, changed in place.
    samples : ndarray, shape (count, d), C order
    pairs : ndarray of int32, shape (count, L, 2)
        The pairs rotated after each sample.
    gamma : float
        Absolute.
    tally : Tally
        Continued in what is returned.
    """
    scratch = np.empty((3, array.shape[1] + SCRATCH))
    for k in range(len(samples)):
        _replace_smallest(array, samples[k])
        if gamma > 0.0:
            tally = _rotate(array, pairs[k], gamma, scratch, tally)
    return tally
