"""The Gram matrix and leading left singular vectors of the unfolding mat(X), (n, n^(d-1))."""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import comb, frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, DataError, flops, identity, is_plain, namespace
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels import arrays
from orthobench_tucker._kernels.arrays import units
from orthobench_tucker._kernels.partial_cores import samples_of
from orthobench_tucker.sample_moments import monomials, sample_blocks

NULL = 1e-13
"""Eigenvalue that counts as rounding in float64, relative to the largest."""

CANCELLED = 1e-14
"""The same, relative to the bound without cancellation."""

SINGLE = 1e-5
"""The same in single precision."""

ROUGH = 1e-6
"""Residual of eigenvectors of a Gram matrix in single precision."""

OVERSAMPLED = 3
"""Number of additional vectors in the iteration."""

ROUNDING = 2e-15
"""Residual that counts as rounding, relative to the largest eigenvalue."""


class Unfolding:
    """The Gram matrix mat(X) mat(X)' of an oracle's tensor, and its leading eigenvectors.

    From the tensor (equation 7), the p-by-p Gram matrix of samples (equation 17), or the distinct
    entries of mat(M), if they are cheaper.
    """

    def __init__(self, oracle: SymmetricTensorOracle, form: str) -> None:
        self.oracle, self.samples = oracle, samples_of(oracle, form)

    @cached_property
    def gram(self) -> Any:
        """mat(X) mat(X)', shape (n, n), symmetric."""
        if self.oracle.place.moves:
            return self._gram_elsewhere()
        if self.samples is None:
            return gram_of_tensor(self.oracle.T)
        if by_entries(self.samples, self.oracle.order):
            return gram_of_entries(self.samples, self.oracle.order)
        return gram_of_samples(self.samples, self.oracle.order)

    def _gram_elsewhere(self) -> Any:
        if self.samples is None:
            return arrays.gram_of_tensor(self.oracle.T)
        X, order = self.samples, self.oracle.order
        if not by_entries(X, order):
            return arrays.gram_of_samples(X, order)
        cores = arrays.ArrayCores(self.oracle, "implicit")
        W = cores.at(identity(cores.n, X))
        return W @ (W * cores.multiplicities(cores.n)).T

    @cached_property
    def leading(self) -> tuple[Any, Any]:
        """The r largest eigenvalues of `gram`, descending, and eigenvectors (n, r)."""
        xp, elsewhere = namespace(self.gram), self.oracle.place.moves
        if not xp.all(xp.isfinite(self.gram)):
            raise DataError("the unfolded tensor is not finite; clean or rescale the data")
        pairs = arrays.leading_eigenpairs if elsewhere else leading_eigenpairs
        return pairs(self.gram, self.oracle.k)

    @property
    def basis(self) -> Any:
        """The leading eigenvectors of eigenvalues above rounding."""
        values, vectors = self.leading
        least = units(values) * max(NULL * float(values[0]), CANCELLED * self.bound)
        return vectors[:, : int(namespace(values).count_nonzero(values > least))]

    @cached_property
    def bound(self) -> float:
        """(mean |x|^d)² of samples, a bound on the eigenvalues; else zero."""
        X = self.samples
        if X is None:
            return 0.0
        plain, xp = is_plain(X), namespace(X)
        squares = np.einsum("ij,ij->i", X, X) if plain else xp.sum(X * X, axis=1)
        return float(xp.mean(squares ** (self.oracle.order / 2)) ** 2)

    @property
    def single_basis(self) -> Any:
        """`basis` to about 1e-6, from samples in single precision."""
        if self.samples is None or by_entries(self.samples, self.oracle.order):
            return self.basis
        unit = self.bound ** (1 / (2 * self.oracle.order)) or 1.0
        rows = np.multiply(self.samples, 1 / unit, dtype=np.float32, casting="same_kind")
        gram = gram_of_samples(rows, self.oracle.order)
        values, vectors = leading_eigenpairs(gram, self.oracle.k, ROUGH)
        return vectors if values[-1] > SINGLE else self.basis

    @property
    def flops(self) -> int:
        """Flops of `gram` and `leading`, symmetry not used."""
        n, d = self.oracle.n, self.oracle.order
        if self.samples is None:
            return flops.gemm(n, n, n ** (d - 1)) + flops.eigh(n)
        p: int = self.samples.shape[0]
        if by_entries(self.samples, d):
            return (p * (2 * n + 1) + 2 * n * n) * comb(n + d - 2, d - 1) + flops.eigh(n)
        return 4 * p * p * n + (d - 2) * p * p + 2 * p * n * n + flops.eigh(n)


def by_entries(X: Any, order: int) -> bool:
    """Return whether the distinct entries of mat(M) are cheaper than the Gram matrix of samples.

    Measured: operations on entries take 1.6 to 2.1 times as long at order 3, 3.5 to 4 at order 4.
    """
    entries, samples = _costs(X, order)
    return entries < samples


def gram_cost(X: Any, order: int) -> int:
    """Return the operations of mat(M) mat(M)' by the cheaper of its two ways, as `by_entries`."""
    return min(_costs(X, order))


def _costs(X: Any, order: int) -> tuple[int, int]:
    """Return the operations by entries and by samples, in the time of those by samples."""
    p, n = X.shape
    entries = (p * (2 * n + 1) + n * n) * comb(n + order - 2, order - 1)
    samples = 2 * p * p * n + (order - 2) * p * p // 2 + 2 * p * n * n
    return 2 ** min(order - 2, 2) * entries, samples


def gram_of_samples(X: NDArray[np.floating[Any]], order: int) -> Array:
    """Return X'(XX')^[d-1] X / p² of samples X (p, n), in float64.

    Products are in the precision of X. 2p²n + (d - 2)p²/2 + 2pn² flops.
    """
    from orthobench_tucker._kernels.sample_contractions import gram_of_unfolding

    rows = X.view()
    rows.flags.writeable = False
    total = gram_of_unfolding(rows, order - 1, 48 if len(X) <= 1000 else 128, 512)
    return np.divide(total, len(X) ** 2, dtype=np.float64)


def gram_of_entries(X: Array, order: int) -> Array:
    """Return mat(M) mat(M)' from the distinct columns of mat(M), one leading index k at a time.

    p(2n + 1)N + n²N flops, N = C(n + d - 2, d - 1); memory n C(n + d - 3, d - 2).
    """
    p, n = X.shape
    if order == 2:
        M = X.T @ X / p
        return np.asarray(M @ M.T)
    total = np.zeros((n, n))
    for k in range(n):
        table = monomials(n - k, order - 2)
        again = np.array([index.count(0) for index in table.indices])
        columns = np.zeros((n, table.size))
        for block in sample_blocks(X, table.size):
            columns += block.T @ (table.of(block[:, k:].T) * block[:, k]).T
        columns *= np.sqrt((order - 1) * table.multiplicities / (again + 1)) / p
        total += columns @ columns.T
    return total


def gram_of_tensor(T: Array) -> Array:
    """Return mat(T) mat(T)' of a symmetric tensor (equation 7).

    From order 4 on, one of the equal columns (j, k, ...) and (k, j, ...) is taken, with weight two.
    """
    n, order = len(T), T.ndim
    unfolding = T.reshape(n, -1)
    if order <= 3:
        return np.asarray(unfolding @ unfolding.T)
    total, width = np.zeros((n, n)), n ** (order - 3)
    for k in range(n):
        begin, end = (k * n + k) * width, (k + 1) * n * width
        diagonal, others = unfolding[:, begin : begin + width], unfolding[:, begin + width : end]
        total += diagonal @ diagonal.T
        total += 2 * (others @ others.T)
    return total


def leading_eigenpairs(A: Array, count: int, accuracy: float = ROUNDING) -> tuple[Array, Array]:
    """Return the largest eigenvalues of a positive semidefinite matrix, and eigenvectors (n, r).

    By subspace iteration if its result is proven: residuals are below `accuracy` times the largest
    eigenvalue, and the norm of all other eigenvalues, the root of |A|² - sum theta_i², is below the
    smallest one found. Else by LAPACK, which is slower.
    """
    from scipy.linalg import eigh

    from orthobench_tucker._kernels.orthonormal import subspace_iteration

    n, width = len(A), count + OVERSAMPLED
    unit = 2.0 ** frexp(float(A.diagonal().max()))[1]  # its powers must not overflow
    A = A / unit
    if 2 * width <= n:
        values, vectors, proven = subspace_iteration(A, _first_vectors(width, n), count, accuracy)
        if proven:
            return unit * values, vectors
    values, vectors = eigh(A, subset_by_index=(n - count, n - 1), driver="evr", check_finite=False)
    return unit * values[::-1], vectors[:, ::-1]


@lru_cache(maxsize=16)
def _first_vectors(width: int, n: int) -> Array:
    return np.random.default_rng(0).standard_normal((width, n))
