"""Partial cores of a tensor with all its entries."""

from __future__ import annotations

import numpy as np

from orthobench import flops
from orthobench.arrays import Array
from orthobench.families.full_tensors import partial_core
from orthobench.families.monomials import monomials


class TensorCores:
    """Partial cores W = T ·(I, Q, ..., Q).

    Parameters
    ----------
    T : ndarray, shape (n,) * d
        C order, symmetric.
    """

    def __init__(self, T: Array) -> None:
        self.T, self.n, self.order = T, len(T), T.ndim

    def at(self, Q: Array) -> Array:
        """Return W, shape (n, N)."""
        return partial_core(self.T, Q)

    def along(self, Q: Array, V: Array) -> Array:
        """Return the derivative of W in the direction V: a sum over the d - 1 places of V."""
        A = np.tensordot(self.T, V, axes=([1], [0]))
        for _ in range(self.order - 2):
            A = np.tensordot(A, Q, axes=([1], [0]))
        total = sum(np.moveaxis(A, 1, place) for place in range(1, self.order))
        table = monomials(Q.shape[1], self.order - 1)
        return np.ascontiguousarray(np.asarray(total).reshape(self.n, -1)[:, table.places])

    def at_flops(self, rank: int) -> int:
        """Flops of `at`: 2 n^d r + 2 n^(d-1) r² + ... + 2 n² r^(d-1)."""
        n, d = self.n, self.order
        return sum(flops.gemm(n ** (d - i - 1) * rank**i, rank, n) for i in range(d - 1))

    def along_flops(self, rank: int) -> int:
        """Flops of `along`: those of `at`, and the sum over places."""
        places = (self.order - 2) * self.n
        for _ in range(self.order - 1):
            places *= rank
        return self.at_flops(rank) + places
