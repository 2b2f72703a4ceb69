"""Partial cores of a tensor with all its entries, computed from the distinct ones."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, flops
from orthobench_tucker.sample_moments import monomials

Indices = NDArray[np.intp]

COMPILED = 16
"""Smallest n that the compiled first contraction takes (`orthobench.tools.simd.COUNT`)."""


class TensorCores:
    """Partial cores W = T ·(I, Q, ..., Q) of a symmetric tensor T.

    Indices are contracted one after the other. The result of each contraction is symmetric in the
    remaining indices, and in the columns of Q: it is kept only at ascending tuples of either. So
    the first contraction, which dominates, takes 2 n^d r / (d - 1)! flops, and reads about
    1 / (d - 1)! of T.

    Parameters
    ----------
    T : ndarray, shape (n,) * d
        C order, symmetric. It is neither copied nor packed.

    Notes
    -----
    Memory r n^(d-1) / (d - 2)! during a call, up to lower terms.
    """

    def __init__(self, T: Array) -> None:
        self.T, self.n, self.order = T, len(T), T.ndim

    def at(self, Q: Array) -> Array:
        """Return W, shape (n, N), in Fortran order."""
        columns = tuple(range(Q.shape[1]))
        return _contracted(self.first(Q), columns, Q, self.n, self.order - 1)[0].T

    def first(self, Q: Array) -> Array:
        """Return T ·(I, ..., I, Q), shape (r, C(n + d - 2, d - 1)), at ascending tuples."""
        if self.order == 2 or self.n < COMPILED:
            tuples = _positions(self.n, self.order - 1)
            return np.asarray(Q.T @ self.T.reshape(-1, self.n)[tuples].T)
        from orthobench_tucker._kernels.slab_products import slab_products

        slabs, lasts = _slabs(self.n, self.order)
        entries = self.T.reshape(-1)
        entries.flags.writeable = False  # as those of an oracle: one kernel, not two
        return slab_products(entries, self.n, slabs, lasts, np.ascontiguousarray(Q))

    def core(self, Y: Array, V: Array) -> Array:
        """Return V'W = T ·(V, ..., V) with W as of `at`, shape (m, N), given Y = `first` of V."""
        columns = tuple(range(V.shape[1]))
        if self.order == 2:
            return np.asarray(V.T @ Y.T)
        from orthobench_tucker._kernels.matrix_cores import matrix_cores

        Y, firsts = _contracted(Y, columns, V, self.n, self.order - 1, last=2)
        S = np.empty((len(columns), sum(len(columns) - first for first in firsts)))
        matrix_cores(Y, np.ascontiguousarray(V.T), np.array(firsts), S)
        return S

    def along(self, Q: Array, V: Array) -> Array:
        """Return the derivative of W in the direction V, shape (n, N).

        T is contracted with V once, then with Q. For each monomial the results in which V takes
        the place of one factor are summed, over its d - 1 factors.
        """
        r, degree = Q.shape[1], self.order - 1
        mixed = _contracted(self.first(V), (0,) * r, Q, self.n, degree)[0].T
        others = _others(r, degree)
        total = mixed[:, others[:, 0]]
        for place in range(1, degree):
            total += mixed[:, others[:, place]]
        return np.asarray(total)

    def at_flops(self, rank: int) -> int:
        """Return the flops of `at`, symmetry not used: 2n^d r + 2n^(d-1) r² + ... + 2n² r^(d-1)."""
        n, d = self.n, self.order
        return sum(flops.gemm(n ** (d - i - 1) * rank**i, rank, n) for i in range(d - 1))

    def along_flops(self, rank: int) -> int:
        """Return the flops of `along`: those of `at`, and the sum over factors."""
        return self.at_flops(rank) + (self.order - 2) * self.n * int(rank ** (self.order - 1))


def _contracted(
    Y: Array, firsts: tuple[int, ...], Q: Array, n: int, order: int, last: int = 1
) -> tuple[Array, tuple[int, ...]]:
    """Contract all but the last indices of symmetric tensors with ascending columns of Q.

    Parameters
    ----------
    Y : ndarray, shape (count, C(n + order - 1, order))
        Symmetric tensors at ascending tuples of indices. Each stands for a monomial of columns of Q
        that it has been contracted with.
    firsts : tuple of int
        The first column of Q that each tensor is contracted with next: the last of its monomial.
    Q : ndarray, shape (n, r)
    n, order : int
        Dimension and order of the tensors.
    last : int
        Number of indices that are left.

    Returns
    -------
    Y, firsts
        Of the contracted tensors: a row for each monomial, in lexical order.
    """
    for degree in range(order, last, -1):
        positions = unpacking(n, degree).ravel()
        whole = Y.take(positions, axis=1, mode="clip").reshape(len(Y), -1, n)
        parents, factors = _multiples(firsts, Q.shape[1])
        Y = np.matmul(Q.T, whole.transpose(0, 2, 1))[parents, factors]
        firsts = tuple(factors.tolist())
    return Y, firsts


@lru_cache(maxsize=32)
def _multiples(firsts: tuple[int, ...], rank: int) -> tuple[Indices, Indices]:
    """Return the monomial and the factor of each multiple: ascending factors, from the last on."""
    parents = np.repeat(np.arange(len(firsts)), [rank - first for first in firsts])
    return parents, np.concatenate([np.arange(first, rank) for first in firsts])


@lru_cache(maxsize=32)
def ascending(n: int, length: int) -> Indices:
    """Return all ascending tuples of indices below n in lexical order, shape (count, length)."""
    tuples = np.arange(n, dtype=np.intp)[:, None]
    for _ in range(length - 1):
        many = n - tuples[:, -1]
        ends = np.cumsum(many)
        last = np.arange(ends[-1]) - np.repeat(ends - n, many)
        tuples = np.column_stack([np.repeat(tuples, many, axis=0), last])
    return tuples


@lru_cache(maxsize=32)
def unpacking(n: int, length: int) -> Indices:
    """Return the position, among ascending tuples, of each shorter one with any index added.

    Row by row for the ascending tuples of ``length - 1`` indices in lexical order, column by column
    for the index: the position of both together among the ascending tuples of `length` indices.
    Shape (count, n).
    """
    shorter = ascending(n, length - 1)
    both = np.empty((len(shorter), n, length), dtype=np.intp)
    both[:, :, :-1], both[:, :, -1] = shorter[:, None], np.arange(n)
    both.sort(axis=2)
    wanted = np.ravel_multi_index(tuple(np.moveaxis(both, 2, 0)), (n,) * length)
    return np.asarray(np.searchsorted(_positions(n, length), wanted))


@lru_cache(maxsize=32)
def _positions(n: int, length: int) -> Indices:
    """Return the position of each ascending tuple in a flattened (n,) * length array."""
    return np.asarray(np.ravel_multi_index(tuple(ascending(n, length).T), (n,) * length))


@lru_cache(maxsize=32)
def _slabs(n: int, order: int) -> tuple[Indices, Indices]:
    """Return the position of the slab of each ascending prefix, and the prefix's last index."""
    lasts = np.ascontiguousarray(ascending(n, order - 2)[:, -1])
    return _positions(n, order - 2) * n * n, lasts


@lru_cache(maxsize=32)
def _others(rank: int, degree: int) -> Indices:
    """Return the positions of each monomial with each of its factors apart, shape (N, degree).

    Positions in a list that has, for each factor, all monomials of one degree less.
    """
    if degree == 1:
        return np.arange(rank)[:, None]
    table, below = monomials(rank, degree), monomials(rank, degree - 1)
    at = {indices: position for position, indices in enumerate(below.indices)}
    return np.array(
        [
            [own[p] * below.size + at[own[:p] + own[p + 1 :]] for p in range(degree)]
            for own in table.indices
        ]
    )
