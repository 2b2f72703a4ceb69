"""Partial cores of the moment of samples, without the tensor."""

from __future__ import annotations

from math import comb

import numpy as np

from orthobench.arrays import Array
from orthobench.families.monomials import Monomials, monomials
from orthobench.families.sample_moments import partial_core


class SampleCores:
    """Partial cores W = M ·(I, Q, ..., Q) of M = (1/p) sum_i x_i ⊗ ... ⊗ x_i.

    Parameters
    ----------
    X : ndarray, shape (p, n)
        Samples in rows, C order.
    order : int
    """

    def __init__(self, X: Array, order: int) -> None:
        self.X, self.n, self.order = X, int(X.shape[1]), order

    def at(self, Q: Array) -> Array:
        """Return W, shape (n, N); 2pnr + pN + 2pnN flops."""
        return partial_core(self.X, Q, self.order)

    def along(self, Q: Array, V: Array) -> Array:
        """Return the derivative of W in the direction V; 4pnr + 3pN + 2pnN flops."""
        table = monomials(Q.shape[1], self.order - 1)
        change = derivative(table, Q.T @ self.X.T, V.T @ self.X.T)
        return np.asarray(self.X.T @ change.T) / len(self.X)

    def at_flops(self, rank: int) -> int:
        """Flops of `at`: 2pnr + pN + 2pnN."""
        p, N = len(self.X), comb(rank + self.order - 2, self.order - 1)
        return 2 * p * self.n * rank + p * N + 2 * p * self.n * N

    def along_flops(self, rank: int) -> int:
        """Flops of `along`: 4pnr + 3pN + 2pnN."""
        p, N = len(self.X), comb(rank + self.order - 2, self.order - 1)
        return 4 * p * self.n * rank + 3 * p * N + 2 * p * self.n * N


def derivative(table: Monomials, Z: Array, dZ: Array) -> Array:
    """Return the derivative of the monomials of columns `Z` in the directions `dZ`, by degree."""
    if table.degree == 1:
        return dZ
    below = monomials(table.variables, table.degree - 1)
    value, change = below.of(Z), derivative(below, Z, dZ)
    return change[table.parents] * Z[table.last] + value[table.parents] * dZ[table.last]
