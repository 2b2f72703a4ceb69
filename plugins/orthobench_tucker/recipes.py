"""How monomials of all degrees follow from each other, for the kernels that make them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.families.symmetric_tucker.monomials import monomials


class Recipe(NamedTuple):
    """How to make monomials of all degrees in one table, the variables in its first rows.

    Attributes
    ----------
    parents, last : ndarray of int64, shape (R,)
        Row i, i >= r, is row ``parents[i]`` times row ``last[i]``. Read-only.
    size : int
        Rows of the highest degree, the last ones, ordered as in the module `monomials`.
    """

    parents: NDArray[np.int64]
    last: NDArray[np.int64]
    size: int


@lru_cache(maxsize=64)
def recipe(variables: int, degree: int) -> Recipe:
    """Return the recipe of the monomials of degrees 1 to `degree`."""
    parents, last = [np.zeros(variables, np.int64)], [np.zeros(variables, np.int64)]
    above = 0
    for m in range(2, degree + 1):
        table = monomials(variables, m)
        parents.append(table.parents + above)
        last.append(table.last)
        above += monomials(variables, m - 1).size
    made = Recipe(np.concatenate(parents), np.concatenate(last), monomials(variables, degree).size)
    made.parents.flags.writeable = made.last.flags.writeable = False
    return made
