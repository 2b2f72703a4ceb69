"""Partial cores of the moment of samples, which is never formed."""

from __future__ import annotations

from math import comb

import numpy as np

from orthobench.contract import Array
from orthobench_tucker._kernels.monomial_products import MonomialProducts, monomial_products


class SampleCores:
    """Partial cores W = M ·(I, Q, ..., Q) of M = (1/p) sum_i x_i ⊗ ... ⊗ x_i.

    Parameters
    ----------
    X : ndarray, shape (p, n)
        Samples in rows, C order.
    order : int
        d.

    Notes
    -----
    W is X' times the N = C(r + d - 2, d - 1) distinct monomials of the coordinates XQ of the
    samples, over p: O(pnN) flops, where equation 13 takes O(p²(n + r)) for the same gradient.
    Memory besides W: that of the monomials of one block of samples, at most 240.
    """

    def __init__(self, X: Array, order: int) -> None:
        from orthobench_tucker._kernels import sample_kernels

        self.X, self.n, self.order = X.view(), int(X.shape[1]), order
        self.X.flags.writeable = False
        self._kernels = sample_kernels

    def at(self, Q: Array) -> Array:
        """Return W, shape (n, N), Fortran order; 2pnr + pN + 2pnN flops."""
        products, rows = self._blocks(Q.shape[1])
        return self._kernels.partial_core(self.X, np.array(Q.T, order="C"), *products, rows).T

    def along(self, Q: Array, V: Array) -> Array:
        """Return the derivative of W in the direction V; 4pnr + 3pN + 2pnN flops."""
        products, rows = self._blocks(Q.shape[1])
        basis, direction = np.array(Q.T, order="C"), np.array(V.T, order="C")
        return self._kernels.partial_core_along(self.X, basis, direction, *products, rows).T

    def at_flops(self, rank: int) -> int:
        """Return the flops of `at`: 2pnr + pN + 2pnN; monomials of lower degrees do not count."""
        p, N = len(self.X), comb(rank + self.order - 2, self.order - 1)
        return 2 * p * self.n * rank + p * N + 2 * p * self.n * N

    def along_flops(self, rank: int) -> int:
        """Return the flops of `along`: 4pnr + 3pN + 2pnN."""
        p, N = len(self.X), comb(rank + self.order - 2, self.order - 1)
        return 4 * p * self.n * rank + 3 * p * N + 2 * p * self.n * N

    def _blocks(self, rank: int) -> tuple[MonomialProducts, int]:
        products = monomial_products(rank, self.order - 1)
        return products, block_rows(self.n, rank, products.size)


def block_rows(n: int, rank: int, size: int) -> int:
    """Return the number of samples in a block.

    OpenBLAS multiplies without packing where the result has at most 1200 entries (one factor
    transposed) and the product takes at most 10^6 multiplications: as many samples as stay within
    both. Where that is fewer than 32, packing pays off, and 240 samples amortize it.
    """
    most = min(1200 // rank, 10**6 // (n * size))
    return min(most, 240) if most >= 32 else 240
