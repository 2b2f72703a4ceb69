"""AU, the data times an orthogonal U, for the Givens methods of sparse PCA; U is not stored.

The columns of AU are rows of a C-ordered array, padded with zeros, which no rotation changes.
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
"""Multiple of entries that a column has in memory, padding included."""

LINE = 64
"""Size of a cache line, in bytes."""

PAGE = 512
"""Number of doubles of a page of memory."""


class Tally(NamedTuple):
    """Totals over the rotations made so far.

    `gain` is that of the objective since the solver last reset it; `planes` and `rotated` count
    pairs of columns searched and rotated, `values` and `slopes` evaluations of equation 6 at an
    angle, without and with its three derivatives.
    """

    gain: float = 0.0
    planes: int = 0
    values: int = 0
    slopes: int = 0
    rotated: int = 0


def plane_flops(d: int, tally: Tally) -> int:
    """Return the flops of rotations as the paper counts them, over all d rows.

    In each plane 3d to find the rows outside the circle of radius gamma, 12d for equation 6 at an
    angle, 24d with its three derivatives, and 6d for a rotation.
    """
    search = 3 * tally.planes + 12 * tally.values + 24 * tally.slopes
    return d * (search + 6 * tally.rotated)


def empty_columns(m: int, rows: int) -> Array:
    """Return zeros for m columns as rows (m, width), each contiguous and aligned to a cache line.

    The width is at least `rows`, a multiple of `WORD`, and never of a page, so that columns do not
    compete for the same sets of the cache.
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
        The rows of A of the first f entries; all others are left out.
    d : int
        Number of rows of A.
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
        """Rotate pairs of columns (count, 2) in place, in order, each to its best angle."""
        from orthobench_givens._kernels.sparse_rotations import rotate_pairs

        self.tally = rotate_pairs(self.array, pairs, self.gamma, self.tally)

    def loadings(self, count: int, how: str) -> Array:
        """Return `count` loadings Z, (d, count), with the sparsity pattern |AU| > gamma.

        ``"filled"``: the loadings that explain most variance in the pattern (`solve_for_z`).
        ``"thresholded"``: sign(AU) [|AU| - gamma]_+ at unit length, which maximizes equation 5 for
        this U. Columns of an empty pattern and those beyond AU's are zero.
        """
        Z, AU = np.zeros((self.d, count)), self.AU
        excess = np.abs(AU) - self.gamma
        if how == "filled":
            nonzero = solve_for_z(AU, excess > 0)
        else:
            nonzero = unit_columns(np.sign(AU) * np.maximum(excess, 0.0))
        Z[self.features, : AU.shape[1]] = nonzero
        return Z
