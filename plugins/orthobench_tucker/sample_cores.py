"""Partial cores of the moment of samples, without the tensor."""

from __future__ import annotations

from math import comb

import numpy as np

from orthobench.contract import Array
from orthobench_tucker.recipes import Recipe, recipe


class SampleCores:
    """Partial cores W = M ·(I, Q, ..., Q) of M = (1/p) sum_i x_i ⊗ ... ⊗ x_i.

    Parameters
    ----------
    X : ndarray, shape (p, n)
        Samples in rows, C order.
    order : int

    Notes
    -----
    The core form: W is the product of X' with the N = C(r + d - 2, d - 1) distinct monomials of
    the samples' coordinates, O(pnN) in place of the O(p²(n + r)) of equation 13, to the same
    result. Memory beside W: that of the monomials of one block of samples, at most 240.
    """

    def __init__(self, X: Array, order: int) -> None:
        from orthobench_tucker import sample_kernels

        self.X, self.n, self.order = X.view(), int(X.shape[1]), order
        self.X.flags.writeable = False
        self._kernels = sample_kernels

    def at(self, Q: Array) -> Array:
        """Return W, shape (n, N), Fortran order; 2pnr + pN + 2pnN flops."""
        made, rows = self._blocks(Q.shape[1])
        return self._kernels.partial_core(self.X, np.array(Q.T, order="C"), *made, rows).T

    def along(self, Q: Array, V: Array) -> Array:
        """Return the derivative of W in the direction V; 4pnr + 3pN + 2pnN flops."""
        made, rows = self._blocks(Q.shape[1])
        basis, direction = np.array(Q.T, order="C"), np.array(V.T, order="C")
        return self._kernels.partial_core_along(self.X, basis, direction, *made, rows).T

    def at_flops(self, rank: int) -> int:
        """Flops of `at`: 2pnr + pN + 2pnN, where those of lower degrees are not counted."""
        p, N = len(self.X), comb(rank + self.order - 2, self.order - 1)
        return 2 * p * self.n * rank + p * N + 2 * p * self.n * N

    def along_flops(self, rank: int) -> int:
        """Flops of `along`: 4pnr + 3pN + 2pnN."""
        p, N = len(self.X), comb(rank + self.order - 2, self.order - 1)
        return 4 * p * self.n * rank + 3 * p * N + 2 * p * self.n * N

    def _blocks(self, rank: int) -> tuple[Recipe, int]:
        made = recipe(rank, self.order - 1)
        return made, block_rows(self.n, rank, made.size)


def block_rows(n: int, rank: int, size: int) -> int:
    """Return how many samples to take at once.

    OpenBLAS multiplies without packing where the result has at most 1200 entries (one factor
    transposed) and the product at most 10^6 multiplications: as many samples as stay within
    both. Where that is fewer than 32, packing pays, and 240 amortize it.
    """
    most = min(1200 // rank, 10**6 // (n * size))
    return min(most, 240) if most >= 32 else 240
