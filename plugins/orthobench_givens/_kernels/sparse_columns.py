"""AU, the data times an orthogonal U: all that the Givens methods of sparse PCA store.

U itself is never stored. The columns of AU are rows of a C-ordered array, so that each is
contiguous, and are padded with zeros, which no rotation changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from orthobench_sparse_pca.loadings import solve_for_z

from orthobench.contract import Array, unit_columns
from orthobench_givens._kernels.pairs import Pairs

WORD = 64
"""The length of a column in memory, padding included, is a multiple of this many entries."""

LINE = 64
"""Bytes of a cache line."""

PAGE = 512
"""Entries of a page of memory: 4096 bytes of doubles."""


class Tally(NamedTuple):
    """Running totals over the rotations made so far.

    Attributes
    ----------
    gain : float
        Increase of the objective since the solver last reset this field.
    planes : int
        Pairs of columns searched.
    values, slopes : int
        Evaluations of equation 6 at an angle, without and with its three derivatives.
    rotated : int
        Pairs of columns rotated: those if some angle gains.
    """

    gain: float = 0.0
    planes: int = 0
    values: int = 0
    slopes: int = 0
    rotated: int = 0


def plane_flops(d: int, tally: Tally) -> int:
    """Return the flops of rotations as the paper counts them, over all d rows.

    In each plane 3d to find the rows outside the circle of radius gamma. For equation 6 at an
    angle 12d: 6d for the entries of both columns, 2d to subtract gamma, 4d for squares and their
    sum (absolute values and positive parts are free); with its three derivatives 24d. For a
    rotation 6d.

    Parameters
    ----------
    d : int
        Rows of A.
    tally : Tally

    Returns
    -------
    int
    """
    search = 3 * tally.planes + 12 * tally.values + 24 * tally.slopes
    return d * (search + 6 * tally.rotated)


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


@dataclass(slots=True)
class Columns:
    """AU, and the totals of the rotations that made it.

    Attributes
    ----------
    array : ndarray, shape (m, width), C order
        The columns of AU as rows; entries beyond the features are zero.
    features : ndarray of int, shape (f,)
        The rows of A that the first f entries stand for; all others are left out.
    d : int
        Rows of A.
    gamma : float
        The penalty, in the units of A.
    tally : Tally
    """

    array: Array
    features: NDArray[np.intp]
    d: int
    gamma: float
    tally: Tally = field(default_factory=Tally)

    @property
    def AU(self) -> Array:
        """A view of AU, shape (f, m), without the rows left out."""
        return self.array[:, : len(self.features)].T

    @property
    def objective(self) -> float:
        """Equation 6, sum_ij [|AU|_ij - gamma]²_+; 5fm flops."""
        excess = np.maximum(np.abs(self.array) - self.gamma, 0.0)
        return float(np.vdot(excess, excess))

    @property
    def flops(self) -> int:
        """The flops so far as the paper counts them, over all d rows (`plane_flops`)."""
        return plane_flops(self.d, self.tally)

    def rotate(self, pairs: Pairs) -> None:
        """Rotate pairs of columns in place, in their order, each to its best angle.

        Parameters
        ----------
        pairs : ndarray of int32, shape (count, 2)
            The two columns of each rotation.

        Notes
        -----
        `plane_flops`; memory for three more columns.
        """
        from orthobench_givens._kernels.sparse_rotations import rotate_pairs

        self.tally = rotate_pairs(self.array, pairs, self.gamma, self.tally)

    def loadings(self, count: int, how: str) -> Array:
        """Return the loadings Z with the sparsity pattern |AU| > gamma.

        Parameters
        ----------
        count : int
            Number of loading vectors, at least that of the columns of AU.
        how : {"filled", "thresholded"}
            ``"filled"``: the loadings that explain most variance in the pattern
            (`orthobench_sparse_pca.loadings.solve_for_z`). ``"thresholded"``:
            sign(AU) [|AU| - gamma]_+ at unit length, which maximizes equation 5 for this U.

        Returns
        -------
        ndarray, shape (d, count)
            Unit columns; those of an empty pattern and those beyond AU's are zero.

        References
        ----------
        Shalit and Chechik 2014, equation 5 and Algorithm 2.
        """
        Z, AU = np.zeros((self.d, count)), self.AU
        excess = np.abs(AU) - self.gamma
        if how == "filled":
            nonzero = solve_for_z(AU, excess > 0)
        else:
            nonzero = unit_columns(np.sign(AU) * np.maximum(excess, 0.0))
        Z[self.features, : AU.shape[1]] = nonzero
        return Z
