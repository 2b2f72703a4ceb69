"""Moments M = (1/p) sum_i x_i ⊗ ... ⊗ x_i of samples, mostly never formed, and symmetric tensors.

The *partial core* of a basis Q is W = M ·(I, Q, ..., Q), unfolded along its first index. It has a
column for each distinct monomial of degree d - 1: shape (n, N), N = C(r + d - 2, d - 1). The core M
·(Q, ..., Q) is S = Q'W, shape (r, N). Objective and gradient follow from W and S at a cost
independent of p; Jin, Kileel, Kolda and Ward (2022, section 3) use a p-by-p Gram matrix instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.symmetric_tensors import ROWS, fill, mirror

from orthobench.tools.arrays import Array, is_plain, namespace


@dataclass(frozen=True)
class Monomials:
    """The distinct monomials z_a z_b ... of r `variables`: ascending indices, in lexical order.

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
        """The number of entries of the symmetric power that equal each."""
        orders = factorial(self.degree)
        return np.array(
            [orders / prod(factorial(i.count(v)) for v in set(i)) for i in self.indices]
        )

    @cached_property
    def parents(self) -> NDArray[np.intp]:
        """The index of each without its last variable, among those of degree m - 1."""
        before = {i: at for at, i in enumerate(monomials(self.variables, self.degree - 1).indices)}
        return np.array([before[i[:-1]] for i in self.indices], dtype=np.intp)

    @cached_property
    def last(self) -> NDArray[np.intp]:
        """The last variable of each monomial, shape (size,)."""
        return np.array([i[-1] for i in self.indices], dtype=np.intp)

    @cached_property
    def positions(self) -> NDArray[np.intp]:
        """The first position of each in the flattened symmetric power."""
        shape = (self.variables,) * self.degree
        return np.asarray(np.ravel_multi_index(tuple(np.array(self.indices).T), shape))

    @cached_property
    def expansion(self) -> NDArray[np.intp]:
        """The monomial that each entry of the flattened symmetric power equals."""
        shape = (self.variables,) * self.degree
        entries = np.indices(shape).reshape(self.degree, -1)
        entries.sort(axis=0)
        flat = np.ravel_multi_index(tuple(entries), shape)
        # positions ascend, since the monomials are in lexical order
        return np.asarray(np.searchsorted(self.positions, flat))

    def of(self, Z: Array) -> Array:
        """Return the monomials of each column of Z (r, p), (size, p)."""
        if self.degree == 1:
            return Z
        products = monomials(self.variables, self.degree - 1).of(Z)[self.parents]
        products *= Z[self.last]
        return products


@lru_cache(maxsize=64)
def monomials(variables: int, degree: int) -> Monomials:
    """Return the monomials of a degree, always the same object."""
    return Monomials(variables, degree)


BLOCK_BYTES = 16 * 2**20
"""Maximum size of numbers from a block of samples, in bytes."""

DIRECTIONS = 4
"""Number of directions in which `vanishes` tests a moment."""

DEAR = 3e9
"""Maximum number of operations for an exact norm: about 0.1 s."""

PARTNERS = 16
"""Number of samples in a block; 24 pairs a sample are compared."""

AT_ONCE = 32
"""Maximum number of blocks whose pairs are compared at once."""

GATHERED = 2**25
"""Maximum size of these blocks in bytes, except for one."""

ROWS_AT_ONCE = 2**16
"""Number of samples that `vanishes` tests at once."""

FEWEST_LEADING = 4
"""Minimum number of directions with an exact norm."""

CANCELLED = 1e-13
"""Mean that is rounding, relative to the mean absolute value."""

BLOCK = 2**24
"""Maximum number of entries computed at once in other libraries than NumPy."""

SCRATCH_BYTES = 2**20
"""Maximum size of weighted samples, in bytes, which fit in the cache."""


def partial_core(X: Array, Q: Array, order: int) -> Array:
    """Return W = M ·(I, Q, ..., Q), (n, N), of samples X (p, n); 2pn(r + N) flops."""
    table = monomials(Q.shape[1], order - 1)
    W = np.zeros((X.shape[1], table.size))
    for block in sample_blocks(X, table.size):
        W += block.T @ table.of(Q.T @ block.T).T
    return W / len(X)


def sample_blocks(X: Array, width: int) -> Iterator[Array]:
    """Yield blocks of samples X (p, n), `width` numbers a sample in `BLOCK_BYTES`."""
    rows = max(1, BLOCK_BYTES // (8 * width))
    for begin in range(0, len(X), rows):
        yield X[begin : begin + rows]


def core_norm_squared(S: Array, order: int) -> float:
    """Return F(Q) from the core S = Q'W, shape (r, N) (equation 11)."""
    multiplicities = monomials(len(S), order - 1).multiplicities
    return float(np.einsum("ij,ij,j->", S, S, multiplicities))


def gradient(W: Array, S: Array, order: int) -> Array:
    """Return ∇F, (n, r), from W (n, N) and S = Q'W (r, N); 2nrN flops.

    Equation 6 of Jin et al. (2022). Equation 13 has the same for samples; Algorithm 2, line 3,
    misprints its factor 2d/b² as 2d/b.
    """
    multiplicities = monomials(len(S), order - 1).multiplicities
    return np.asarray(2 * order * (W @ (multiplicities * S).T))


def full_core(S: Array, order: int) -> Array:
    """Return the core S (r, N) with all its entries, shape (r,) * d."""
    r = len(S)
    return np.ascontiguousarray(S[:, monomials(r, order - 1).expansion].reshape((r,) * order))


def moment_norm_squared(X: Array, order: int) -> float:
    """Return |M|² of samples X (p, n) from their Gram matrix (equation 9), or from entries of M.

    p²n flops in memory of `BLOCK_BYTES`; or 2pnN if N = C(n + d - 2, d - 1) is below p / 2.
    """
    p, n = X.shape
    if comb(n + order - 2, order - 1) * 2 < p:
        return core_norm_squared(partial_core(X, np.eye(n), order), order)
    total, rows = 0.0, max(1, BLOCK_BYTES // (8 * p))
    for begin in range(0, p, rows):
        block = X[begin : begin + rows] @ X[begin:].T
        powers = integer_power(block, order)
        own = block.shape[0]
        total += powers[:, :own].sum() + 2 * powers[:, own:].sum()
    return float(total / p**2)


def norm_is_dear(samples: int, n: int, order: int) -> bool:
    """Return whether |M|² takes more than `DEAR` operations."""
    each = min(samples, 2 * comb(n + order - 2, order - 1))
    return samples * each * n > DEAR and samples > 12 * PARTNERS


def estimated_norm_squared(X: Array, order: int) -> tuple[float, float]:
    """Return an unbiased estimate of |M|² of samples X (p, n), and its standard error.

    By equation 9, |M|² is the mean of (x_i'x_j)^d. In the directions of largest variance all pairs
    count. Beyond them shuffled samples are cut into blocks of `PARTNERS`, at least three, and pairs
    within a block and between neighbours count. So all samples are in equally many pairs, and only
    the scatter between blocks is an error. 8pn `PARTNERS` flops.
    """
    p, order_of = len(X), np.random.default_rng(0).permutation(len(X))
    leading, count = X @ _leading_directions(X, order), len(X) // PARTNERS
    exact = moment_norm_squared(leading, order)
    sizes = p // count + (np.arange(count) < p % count)
    first, places = np.cumsum(sizes) - sizes, np.arange(sizes[0])

    def gathered(blocks: NDArray[np.intp]) -> list[Array]:
        short = sizes[blocks] < len(places)
        at = order_of[np.minimum(first[blocks][:, None] + places, p - 1)]
        parts = [X[at], leading[at]]
        for part in parts:
            part[short, -1] = 0
        return parts

    def beyond(rows: list[Array], others: list[Array]) -> Array:
        of_all, of_leading = (
            integer_power(a @ b.swapaxes(1, 2), order) for a, b in zip(rows, others, strict=True)
        )
        return np.asarray(of_all - of_leading)

    own, within, between = [], [], []
    at_once = max(1, min(AT_ONCE, GATHERED // (8 * X.shape[1] * PARTNERS)))
    for begin in range(0, count, at_once):
        blocks = np.arange(begin, min(begin + at_once, count) + 1) % count
        parts, pairs = gathered(blocks), sizes[blocks]
        rows, pairs, after = [part[:-1] for part in parts], pairs[:-1], pairs[1:]
        powers = beyond(rows, rows)
        diagonal = np.trace(powers, axis1=1, axis2=2)
        own.append(diagonal)
        within.append((powers.sum(axis=(1, 2)) - diagonal) / (pairs * (pairs - 1)))
        across = beyond(rows, [part[1:] for part in parts]).sum(axis=(1, 2))
        between.append(across / (pairs * after))
    inner, outer = np.concatenate(within), np.concatenate(between)
    every = np.concatenate(own)
    # the order of the sum fixes its last bits
    total = sum(float(every[at : at + AT_ONCE].sum()) for at in range(0, count, AT_ONCE))
    scatter = outer - (inner + np.roll(inner, -1)) / 2
    mean = float(inner.mean() + 2 * outer.mean()) / 3
    error = float(np.sqrt(np.mean(scatter**2) / (3 * count)))
    share = (p - 1) / p
    return exact + total / p**2 + share * mean, share * error


def leading_count(n: int, order: int) -> int:
    """Return the number of directions whose norm costs as much as the rest."""
    m = FEWEST_LEADING
    while 2 * (m + 1) * comb(m + order - 1, order - 1) <= 4 * n * PARTNERS:
        m += 1
    return min(m, n)


def _leading_directions(X: Array, order: int) -> Array:
    """Return an orthonormal basis (n, m) of nearly the largest variance."""
    n = X.shape[1]
    basis = np.random.default_rng(0).standard_normal((n, leading_count(n, order)))
    for _ in range(2):
        basis = np.linalg.qr(((X @ basis).T @ X).T)[0]
    return basis


def vanishes(X: Array, order: int) -> bool:
    """Return whether the moment of X (p, n) is zero up to rounding; 8pn flops.

    The mean of (v'x)^d is compared with that of |v'x|^d in a few fixed directions v.
    """
    V = np.random.default_rng(0).standard_normal((X.shape[1], DIRECTIONS))
    form, size = np.zeros((2, DIRECTIONS))
    for begin in range(0, len(X), ROWS_AT_ONCE):
        powers = integer_power(X[begin : begin + ROWS_AT_ONCE] @ V, order)
        form += powers.sum(axis=0)
        size += np.abs(powers).sum(axis=0)
    return bool((np.abs(form) <= CANCELLED * size).all())


def integer_power(A: Array, exponent: int) -> Array:
    """Return the entrywise power, exponent >= 1, much faster than np.power."""
    powers = A
    for bit in bin(exponent)[3:]:
        powers = powers * powers
        if bit == "1":
            powers = powers * A
    return powers


def tensor_core(T: Array, Q: Array) -> Array:
    """Return W = T ·(I, Q, ..., Q), shape (n, N); about 2 n^d r flops."""
    W = T
    for _ in range(T.ndim - 1):
        W = np.tensordot(W, Q, axes=([1], [0]))
    table = monomials(Q.shape[1], T.ndim - 1)
    return np.ascontiguousarray(W.reshape(len(T), -1)[:, table.positions])


def moment_tensor(X: Any, order: int) -> Any:
    """Return the sample moment (1/p) sum_i x_i ⊗ ... ⊗ x_i of X (p, n), symmetric to the last bit.

    About 2pn^d/d! flops in NumPy, which computes a triangle of X' diag(w) X for each ascending
    tuple of the first d - 2 indices. Memory np and `SCRATCH_BYTES` beyond the result.
    """
    if not is_plain(X):
        return _moment_elsewhere(X, order)
    p, n = X.shape
    T = np.empty((n,) * order)
    scratch = np.empty((n, min(p, max(1, SCRATCH_BYTES // (8 * n)))))
    _set_moment(T, np.ascontiguousarray(X.T), np.full(p, 1 / p), scratch)
    return T


def _moment_elsewhere(X: Any, order: int) -> Any:
    xp, (p, n) = namespace(X), X.shape
    rows, total = max(1, BLOCK // n ** (order - 1)), 0.0
    for begin in range(0, p, rows):
        part = X[begin : min(begin + rows, p), :]
        products = part
        for _ in range(order - 2):
            products = xp.reshape(products[:, :, None] * part[:, None, :], (part.shape[0], -1))
        total = total + part.T @ products
    return xp.reshape(total / p, (n,) * order)


def _set_moment(T: Array, X: Array, w: Array, scratch: Array) -> None:
    if T.ndim == 2:
        _set_gram(T, X, w, scratch)
    else:
        fill(T, lambda a, rest: _set_moment(rest, X[a:], X[a] * w, scratch))


def _set_gram(G: Array, X: Array, w: Array, scratch: Array) -> None:
    n, p = X.shape
    many = scratch.shape[1]
    for begin in range(0, p, many):
        part = X[:, begin : begin + many]
        weighted = np.multiply(part, w[begin : begin + many], out=scratch[:n, : part.shape[1]])
        for row in range(0, n, ROWS):
            product = weighted[row : row + ROWS] @ part[row:].T
            strip = G[row : row + ROWS, row:]
            strip[:] = strip + product if begin else product
    mirror(G)
