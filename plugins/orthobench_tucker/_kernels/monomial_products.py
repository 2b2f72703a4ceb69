"""Tables of the products by which kernels make the monomials of all degrees."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench_tucker.sample_moments import monomials


class MonomialProducts(NamedTuple):
    """Each monomial of degree 1 to m as a product of two others, in one list of R monomials.

    The list begins with the r variables; the degrees follow each other.

    Attributes
    ----------
    parents, last : ndarray of int64, shape (R,)
        Monomial i, i >= r, is monomial ``parents[i]`` times variable ``last[i]``. Read-only.
    size : int
        Number of monomials of degree m, the last ones, in the order of the module `monomials`.
    """

    parents: NDArray[np.int64]
    last: NDArray[np.int64]
    size: int


@lru_cache(maxsize=64)
def monomial_products(variables: int, degree: int) -> MonomialProducts:
    """Return the products that make the monomials of degrees 1 to `degree`."""
    parents, last = [np.zeros(variables, np.int64)], [np.zeros(variables, np.int64)]
    above = 0
    for m in range(2, degree + 1):
        table = monomials(variables, m)
        parents.append(table.parents + above)
        last.append(table.last)
        above += monomials(variables, m - 1).size
    made = MonomialProducts(
        np.concatenate(parents), np.concatenate(last), monomials(variables, degree).size
    )
    made.parents.flags.writeable = made.last.flags.writeable = False
    return made
