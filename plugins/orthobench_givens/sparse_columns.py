"""AU, the data turned by an orthogonal U: all that the Givens methods of sparse PCA keep.

U itself is never stored. Columns of AU are rows of a C-ordered array, so that each is contiguous;
they begin at cache lines and are filled up with zero rows, which no rotation changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, unit_columns
from orthobench.families.sparse_pca.loadings import solve_for_z

WORD = 64
"""Rows, zero rows included, are a multiple of this."""

LINE = 64
"""Bytes of a cache line."""


class Tally(NamedTuple):
    """What rotations gained and took, summed up one by one.

    Attributes
    ----------
    gain : float
        Of the objective, since the tally's gain was last set to zero.
    planes : int
        Pairs of columns looked at.
    values, slopes : int
        Evaluations of equation 6 at an angle, without and with its three derivatives.
    rotated : int
        Rotations done: a plane where no angle gains is left as it is.
    entries : int
        Rows evaluated: those that can count in the plane, once for each evaluation without
        derivatives and twice for each with them.
    """

    gain: float = 0.0
    planes: int = 0
    values: int = 0
    slopes: int = 0
    rotated: int = 0
    entries: int = 0


@dataclass(slots=True)
class Columns:
    """AU and what was done to it.

    Attributes
    ----------
    array : ndarray, shape (m, rows)
        The columns of AU; entries beyond the features are zero.
    features : ndarray of int, shape (f,)
        Which rows of A the first f entries are; the others are left out.
    d : int
        Rows of A.
    gamma : float
        The penalty, absolute.
    tally : Tally
    """

    array: Array
    features: NDArray[np.intp]
    d: int
    gamma: float
    tally: Tally = field(default_factory=Tally)

    @property
    def AU(self) -> Array:
        """A view of AU, (f, m), without the rows left out."""
        return self.array[:, : len(self.features)].T

    @property
    def objective(self) -> float:
        """Equation 6, sum [|AU| - gamma]²_+; 5fm flops."""
        over = np.maximum(np.abs(self.array) - self.gamma, 0.0)
        return float(np.vdot(over, over))

    @property
    def flops(self) -> int:
        """Additions and multiplications so far, over all d rows, as the paper counts them."""
        return plane_flops(self.d, self.tally)

    @property
    def active_flops(self) -> int:
        """Those that were really done: evaluations take only the rows that can count."""
        rows, tally = len(self.features), self.tally
        return 3 * rows * tally.planes + 6 * rows * tally.rotated + 12 * tally.entries

    def rotate(self, pairs: NDArray[np.int32]) -> None:
        """Rotate pairs of columns, (count, 2), one after the other, each to its best angle."""
        from orthobench_givens.sparse_rotations import rotate_pairs

        self.tally = rotate_pairs(self.array, pairs, self.gamma, self.tally)

    def loadings(self, count: int, how: str) -> Array:
        """Return Z, (d, count), in the pattern |AU| > gamma; zero columns beyond those of AU.

        Parameters
        ----------
        count : int
        how : str
            ``"filled"``: those that explain most variance
            (`loadings.solve_for_z`). ``"thresholded"``: AU less gamma at unit
            length, the best for equation 5 at this U.
        """
        Z, AU = np.zeros((self.d, count)), self.AU
        beyond = np.abs(AU) - self.gamma
        if how == "filled":
            found = solve_for_z(AU, beyond > 0)
        else:
            found = unit_columns(np.sign(AU) * np.maximum(beyond, 0.0))
        Z[self.features, : AU.shape[1]] = found
        return Z


def plane_flops(d: int, tally: Tally) -> int:
    """Return the flops of rotations as the paper counts them, over all d rows.

    In each plane 3d to find the rows outside the circle of radius gamma; 12d for equation 6 at
    an angle: 6d for both entries, 2d for subtracting gamma, 4d for squares and their sum (taking
    absolute values and parts is free); 24d where its three derivatives are taken too; 6d for a
    rotation.
    """
    searching = 3 * tally.planes + 12 * tally.values + 24 * tally.slopes
    return d * (searching + 6 * tally.rotated)


def empty_columns(m: int, rows: int) -> Array:
    """Return zeros (m, at least `rows`) whose rows begin at cache lines."""
    width = -(-rows // WORD) * WORD
    if width % 512 == 0:  # columns a multiple of a page apart would compete for the same sets
        width += WORD
    room = np.zeros(m * width + LINE // 8)
    first = -(room.ctypes.data // 8) % (LINE // 8)
    return room[first : first + m * width].reshape(m, width)
