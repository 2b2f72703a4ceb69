"""Monomials of a degree: the distinct entries of the symmetric power z ⊗ ... ⊗ z."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np
from numpy.typing import NDArray

from orthobench.tools.arrays import Array


@dataclass(frozen=True)
class Monomials:
    """The distinct monomials z_a z_b ... of one degree: ascending indices, in lexical order.

    Parameters
    ----------
    variables : int
        r.
    degree : int
        m >= 1.

    Examples
    --------
    >>> monomials(2, 2).indices
    ((0, 0), (0, 1), (1, 1))
    >>> monomials(2, 2).multiplicities
    array([1., 2., 1.])
    """

    variables: int
    degree: int

    @property
    def size(self) -> int:
        """Their number, C(r + m - 1, m)."""
        return comb(self.variables + self.degree - 1, self.degree)

    @cached_property
    def indices(self) -> tuple[tuple[int, ...], ...]:
        """The variables of each monomial."""
        return tuple(combinations_with_replacement(range(self.variables), self.degree))

    @cached_property
    def multiplicities(self) -> Array:
        """The number of entries of the symmetric power that equal each monomial, shape (size,).

        m! over the product of the factorials of the exponents.
        """
        orders = factorial(self.degree)
        return np.array(
            [orders / prod(factorial(i.count(v)) for v in set(i)) for i in self.indices]
        )

    @cached_property
    def parents(self) -> NDArray[np.intp]:
        """The index, among the monomials of degree m - 1, of each without its last variable."""
        before = {i: at for at, i in enumerate(monomials(self.variables, self.degree - 1).indices)}
        return np.array([before[i[:-1]] for i in self.indices], dtype=np.intp)

    @cached_property
    def last(self) -> NDArray[np.intp]:
        """The last variable of each monomial, shape (size,)."""
        return np.array([i[-1] for i in self.indices], dtype=np.intp)

    @cached_property
    def positions(self) -> NDArray[np.intp]:
        """The first position of each in the flattened symmetric power (r,) * m, C order."""
        shape = (self.variables,) * self.degree
        return np.asarray(np.ravel_multi_index(tuple(np.array(self.indices).T), shape))

    @cached_property
    def expansion(self) -> NDArray[np.intp]:
        """The index of the monomial that each entry of the flattened symmetric power equals."""
        shape = (self.variables,) * self.degree
        entries = np.indices(shape).reshape(self.degree, -1)
        entries.sort(axis=0)
        flat = np.ravel_multi_index(tuple(entries), shape)
        # positions ascend, since the monomials are in lexical order
        return np.asarray(np.searchsorted(self.positions, flat))

    def of(self, Z: Array) -> Array:
        """Return the monomials of each column.

        Parameters
        ----------
        Z : ndarray, shape (r, p)

        Returns
        -------
        ndarray, shape (size, p)

        Notes
        -----
        Degree by degree: one multiplication for each monomial of each degree from 2 to m.
        """
        if self.degree == 1:
            return Z
        return monomials(self.variables, self.degree - 1).of(Z)[self.parents] * Z[self.last]


@lru_cache(maxsize=64)
def monomials(variables: int, degree: int) -> Monomials:
    """Return the monomials of a degree; equal arguments share their tables."""
    return Monomials(variables, degree)
