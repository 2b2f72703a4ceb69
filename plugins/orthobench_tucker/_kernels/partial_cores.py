"""Partial cores W = X ·(I, Q, ..., Q), from samples (implicit) or all entries (explicit)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, flops
from orthobench_tucker import MomentOracle, SymmetricTensorOracle
from orthobench_tucker.sample_moments import monomials

Indices = NDArray[np.intp]

COMPILED = 16
"""Minimum n for the compiled first contraction."""


class PartialCores(ABC):
    """Partial cores, with a column for each monomial of degree d - 1."""

    n: int
    order: int

    @abstractmethod
    def at(self, Q: Array) -> Array:
        """Return W = X ·(I, Q, ..., Q), shape (n, N)."""

    def pairs(self, Q: Array) -> Array | None:
        """Return `pair_core` at Q, or None if `along` does not use it."""
        del Q
        return None

    @abstractmethod
    def along(self, Q: Array, V: Array, pairs: Array | None) -> Array:
        """Return the derivative of W in the direction V, given `pairs` at Q."""

    def multiplicities(self, rank: int) -> Array:
        return monomials(rank, self.order - 1).multiplicities

    @abstractmethod
    def at_flops(self, rank: int) -> int:
        """Return the flops of `at`."""

    def pairs_flops(self, rank: int) -> int:
        """Return the flops of `pairs` and of W from them."""
        return self.at_flops(rank)

    @abstractmethod
    def along_flops(self, rank: int) -> int:
        """Return the flops of `along`."""


class SampleCores(PartialCores):
    """Partial cores of samples X (p, n) in C order, whose moment M is not formed.

    W is X' times the N = C(r + d - 2, d - 1) distinct monomials of XQ, over p: O(pnN) flops.
    Equation 13 takes O(p²(n + r)) for the same gradient.
    """

    def __init__(self, X: Array, order: int) -> None:
        self.X, self.n, self.order = X.view(), int(X.shape[1]), order
        self.X.flags.writeable = False

    def at(self, Q: Array) -> Array:
        from orthobench_tucker._kernels.sample_contractions import partial_core

        return partial_core(self.X, np.array(Q.T, order="C"), *self._blocks(Q.shape[1])).T

    def along(self, Q: Array, V: Array, pairs: Array | None = None) -> Array:
        from orthobench_tucker._kernels.sample_contractions import partial_core_along

        del pairs
        basis, direction = np.array(Q.T, order="C"), np.array(V.T, order="C")
        return partial_core_along(self.X, basis, direction, *self._blocks(Q.shape[1])).T

    def at_flops(self, rank: int) -> int:
        return sample_core_flops(len(self.X), self.n, rank, self.order)

    def along_flops(self, rank: int) -> int:
        p, N = len(self.X), comb(rank + self.order - 2, self.order - 1)
        return self.at_flops(rank) + 2 * p * self.n * rank + 2 * p * N

    def _blocks(self, rank: int) -> tuple[Indices, Indices, int, int]:
        products = monomial_products(rank, self.order - 1)
        return *products, block_rows(self.n, rank, products[2])


class TensorCores(PartialCores):
    """Partial cores of a symmetric tensor T, neither copied nor packed.

    Results are kept only at ascending tuples of indices and of columns: the first contraction,
    which dominates, takes 2 n^d r / (d - 1)! flops. Memory about r n^(d-1) / (d - 2)!.
    """

    def __init__(self, T: Array) -> None:
        self.T, self.n, self.order = T, len(T), T.ndim

    def at(self, Q: Array) -> Array:
        columns = tuple(range(Q.shape[1]))
        return _contracted(self.first(Q), columns, Q, self.n, self.order - 1)[0].T

    def first(self, Q: Array) -> Array:
        """Return T ·(I, ..., I, Q), (r, C(n + d - 2, d - 1)), at ascending tuples."""
        if self.order == 2 or self.n < COMPILED:
            tuples = _positions(self.n, self.order - 1)
            return np.asarray(Q.T @ self.T.reshape(-1, self.n)[tuples].T)
        from orthobench_tucker._kernels.tensor_contractions import slab_products

        slabs, lasts = _slabs(self.n, self.order)
        entries = self.T.reshape(-1)
        entries.flags.writeable = False  # as those of an oracle: one kernel, not two
        return slab_products(entries, self.n, slabs, lasts, np.ascontiguousarray(Q))

    def core(self, Y: Array, V: Array) -> Array:
        """Return V'W, shape (m, N), given Y = `first` of V."""
        columns = tuple(range(V.shape[1]))
        if self.order == 2:
            return np.asarray(V.T @ Y.T)
        from orthobench_tucker._kernels.tensor_contractions import matrix_cores

        Y, firsts = _contracted(Y, columns, V, self.n, self.order - 1, last=2)
        S = np.empty((len(columns), sum(len(columns) - first for first in firsts)))
        matrix_cores(Y, np.ascontiguousarray(V.T), np.array(firsts), S)
        return S

    def pairs(self, Q: Array) -> Array | None:
        return None if self.order == 2 else pair_core(self.T, Q)

    def along(self, Q: Array, V: Array, pairs: Array | None) -> Array:
        if self.order == 2:
            return self.at(V)
        return core_along(pair_core(self.T, Q) if pairs is None else pairs, V, self.order)

    def at_flops(self, rank: int) -> int:
        return tensor_core_flops(self.n, rank, self.order)

    def pairs_flops(self, rank: int) -> int:
        n, d = self.n, self.order
        if d == 2:
            return self.at_flops(rank)
        slices = sum(flops.gemm(rank ** (i + 1), n ** (d - 1 - i), n) for i in range(d - 2))
        return slices + core_of_pairs_flops(n, rank, d)

    def along_flops(self, rank: int) -> int:
        n, d = self.n, self.order
        if d == 2:
            return self.at_flops(rank)
        return core_of_pairs_flops(n, rank, d) + (d - 2) * n * monomials(rank, d - 1).size


def partial_cores(oracle: SymmetricTensorOracle, form: str) -> PartialCores:
    samples = samples_of(oracle, form)
    return TensorCores(oracle.T) if samples is None else SampleCores(samples, oracle.order)


def samples_of(oracle: SymmetricTensorOracle, form: str) -> Any:
    """Return the samples that a method uses, or None."""
    return oracle.X if form != "explicit" and isinstance(oracle, MomentOracle) else None


def unfolded(W: Array, rank: int, order: int) -> Array:
    """Return W diag(c)^½, which has the unfolding's singular values."""
    return np.asarray(W * np.sqrt(monomials(rank, order - 1).multiplicities))


def sample_core_flops(p: int, n: int, rank: int, order: int) -> int:
    """Return 2pnr + pN + 2pnN, the flops of W from p samples."""
    N = comb(rank + order - 2, order - 1)
    return 2 * p * n * rank + p * N + 2 * p * n * N


def tensor_core_flops(n: int, rank: int, order: int) -> int:
    """Return 2n^d r + 2n^(d-1) r² + ... + 2n² r^(d-1), the flops of W from a tensor."""
    return sum(flops.gemm(n ** (order - i - 1) * rank**i, rank, n) for i in range(order - 1))


def block_rows(n: int, rank: int, size: int) -> int:
    """Return the number of samples in a block.

    OpenBLAS does not pack for at most 1200 entries and 10^6 multiplications. If that allows fewer
    than 32 samples, 240 amortize packing.
    """
    most = min(1200 // rank, 10**6 // (n * size))
    return min(most, 240) if most >= 32 else 240


@lru_cache(maxsize=64)
def monomial_products(variables: int, degree: int) -> tuple[Indices, Indices, int]:
    """Return each monomial of degree 1 to m as a product of two others, in one list.

    The list begins with the r variables. Monomial i, i >= r, is monomial ``parents[i]`` times
    variable ``last[i]``. The third result is the number of monomials of degree m, the last ones.
    """
    parents, last = [np.zeros(variables, np.int64)], [np.zeros(variables, np.int64)]
    above = 0
    for m in range(2, degree + 1):
        table = monomials(variables, m)
        parents.append(table.parents + above)
        last.append(table.last)
        above += monomials(variables, m - 1).size
    joined = np.concatenate(parents), np.concatenate(last)
    for indices in joined:
        indices.flags.writeable = False
    return *joined, monomials(variables, degree).size


def pair_core(T: Array, Q: Array) -> Array:
    """Return Y = T ·(I, I, Q, ..., Q), (N', n, n), a slice for each monomial of degree d - 2 >= 1.

    W and its derivatives follow in 2n² N' r flops each, N' = C(r + d - 3, d - 2).
    """
    (n, r), order = Q.shape, T.ndim
    Y, slices = T, 1
    for left in range(order - 1, 1, -1):
        Y = np.matmul(Q.T, Y.reshape(slices, n, n**left))
        slices *= r
    Y = Y.reshape(slices, n, n)
    return Y if order == 3 else np.ascontiguousarray(Y[monomials(r, order - 2).positions])


def core_of_pairs(Y: Array, Q: Array, order: int) -> Array:
    """Return W from `pair_core` at Q."""
    table = monomials(Q.shape[1], order - 1)
    return np.asarray((Y @ Q)[table.parents, :, table.last].T)


def core_along(Y: Array, V: Array, order: int) -> Array:
    """Return the derivative of W in the direction V from `pair_core`.

    Each column sums, over the variables of its monomial, the slice of Y for the others times the
    column of V for that one.
    """
    others, variable = _without_one(V.shape[1], order - 1)
    parts = Y @ V
    total = parts[others[0], :, variable[0]]
    for rest, at in zip(others[1:], variable[1:], strict=True):
        total += parts[rest, :, at]
    return np.asarray(total.T)


def core_of_pairs_flops(n: int, rank: int, order: int) -> int:
    return monomials(rank, order - 2).size * flops.gemm(n, rank, n)


@lru_cache(maxsize=64)
def _without_one(variables: int, degree: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return each monomial without each of its variables, and that variable."""
    below = {i: at for at, i in enumerate(monomials(variables, degree - 1).indices)}
    all_of = monomials(variables, degree).indices
    others = [[below[i[:a] + i[a + 1 :]] for i in all_of] for a in range(degree)]
    return np.array(others, dtype=np.intp), np.array(all_of, dtype=np.intp).T


def _contracted(
    Y: Array, firsts: tuple[int, ...], Q: Array, n: int, order: int, last: int = 1
) -> tuple[Array, tuple[int, ...]]:
    """Contract all but `last` indices of symmetric tensors with ascending columns of Q.

    Each row of Y (count, C(n + order - 1, order)) is a tensor at ascending tuples, for a monomial
    of columns of Q, whose last column is in `firsts`. Returns both after it.
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
    """Return the monomial and the factor of each multiple."""
    parents = np.repeat(np.arange(len(firsts)), [rank - first for first in firsts])
    return parents, np.concatenate([np.arange(first, rank) for first in firsts])


@lru_cache(maxsize=32)
def ascending(n: int, length: int) -> Indices:
    """Return all ascending tuples below n in lexical order, (count, length)."""
    tuples = np.arange(n, dtype=np.intp)[:, None]
    for _ in range(length - 1):
        many = n - tuples[:, -1]
        ends = np.cumsum(many)
        last = np.arange(ends[-1]) - np.repeat(ends - n, many)
        tuples = np.column_stack([np.repeat(tuples, many, axis=0), last])
    return tuples


@lru_cache(maxsize=32)
def unpacking(n: int, length: int) -> Indices:
    """Return the position of each shorter ascending tuple (row) with an index (column) added."""
    shorter = ascending(n, length - 1)
    both = np.empty((len(shorter), n, length), dtype=np.intp)
    both[:, :, :-1], both[:, :, -1] = shorter[:, None], np.arange(n)
    both.sort(axis=2)
    wanted = np.ravel_multi_index(tuple(np.moveaxis(both, 2, 0)), (n,) * length)
    return np.asarray(np.searchsorted(_positions(n, length), wanted))


@lru_cache(maxsize=32)
def _positions(n: int, length: int) -> Indices:
    return np.asarray(np.ravel_multi_index(tuple(ascending(n, length).T), (n,) * length))


@lru_cache(maxsize=32)
def _slabs(n: int, order: int) -> tuple[Indices, Indices]:
    """Return the position of each ascending prefix's slab, and its last index."""
    lasts = np.ascontiguousarray(ascending(n, order - 2)[:, -1])
    return _positions(n, order - 2) * n * n, lasts
