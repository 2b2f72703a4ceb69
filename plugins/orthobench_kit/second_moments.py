"""Second-moment matrices C = E[xx']: variances and leading eigenvectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from orthobench.errors import DataError
from orthobench.tools.arrays import Array, check_rows, matrix
from orthobench.tools.geometry import orthonormalize
from orthobench_kit.reading import array_of
from orthobench_kit.rows import SparseRows
from orthobench_kit.sources import ArraySource
from orthobench_kit.sparse import is_sparse
from orthobench_kit.symmetric_tensors import symmetric_matrices

LARGEST = 1e150
"""Maximum second moment, whose square is finite."""

COPIED = 2**25
"""Maximum bytes of rows that are always copied."""

SPARSE_ROWS = 256
"""Rows of a sparse matrix that are multiplied at once."""

TIED = 1e-10
"""Relative difference below which eigenvalues are equal."""


class SecondMoment(ABC):
    """A second-moment matrix C = E[xx'], formed or not.

    Attributes
    ----------
    d : int
        Length of a sample x.
    rows : int
        Number of its samples; 0 for a population.
    mean : ndarray, shape (d,), optional
    """

    d: int
    rows: int = 0
    mean: Array | None = None

    @abstractmethod
    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column v of `V`, shape (d, m)."""

    @property
    @abstractmethod
    def trace(self) -> float:
        """The total variance tr C."""

    @abstractmethod
    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the k largest eigenvalues, descending, and eigenvectors (d, k)."""

    @abstractmethod
    def tied(self, values: Array, vectors: Array) -> bool:
        """Return whether the next eigenvalue is as large as the last that `leading` found."""


class DenseMoment(SecondMoment):
    """A second moment given as a matrix C (d, d).

    Raises
    ------
    DataError
        If C is not a finite, real matrix, symmetric up to rounding in single precision.
    """

    def __init__(self, C: Array) -> None:
        C = matrix(array_of(C, "the covariance"), "the covariance").astype(np.float64)
        check_rows(C, what="row of the covariance")
        self.C, self.d = symmetric_matrices(C, "the covariance"), len(C)

    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column; 2d²m flops."""
        variances: Array = np.einsum("ij,ij->j", V, self.C @ V)
        return variances

    @cached_property
    def trace(self) -> float:
        return float(np.trace(self.C))

    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the leading eigenpairs; about 4d³/3 flops."""
        return _leading(self.C, k)

    def tied(self, values: Array, vectors: Array) -> bool:
        """Return whether the next eigenvalue is as large; d³/3 flops."""
        return _tied(self.C, values, vectors)


class RowMoment(SecondMoment):
    """The second moment X'X / n of samples X (n, d), never formed; cheaper if n < d.

    Parameters
    ----------
    X : ndarray, CSR matrix, or ArraySource, shape (n, d)
        A source is read again whenever X is multiplied.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self._n = int(X.length if isinstance(X, ArraySource) else X.shape[0])
        self.d = int(X.d if isinstance(X, ArraySource) else X.shape[1])

    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column; 2ndm flops."""
        P = self._times(V)
        variances: Array = np.einsum("ij,ij->j", P, P) / self._n
        return variances

    @cached_property
    def trace(self) -> float:
        return sum(_sum_of_squares(block) for _, block in self._blocks()) / self._n

    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the leading eigenpairs, from the Gram matrix XX'; n²d + 4n³/3 + 8ndk flops.

        A Rayleigh-Ritz step on the span of X'W, with the leading eigenvectors W of XX', recovers
        the accuracy lost by squaring. Beyond the rank of X vectors are arbitrary.
        """
        _, W = _leading(self._gram, min(k, self._n))
        directions = np.zeros((self.d, k))
        for begin, block in self._blocks():
            directions[:, : W.shape[1]] += block.T @ W[begin : begin + block.shape[0]]
        Q = orthonormalize(directions)
        P = self._times(Q)
        values, rotation = _leading(P.T @ P / self._n, k)
        return np.maximum(values, 0.0), np.ascontiguousarray(Q @ rotation)

    def tied(self, values: Array, vectors: Array) -> bool:
        """Return whether the next eigenvalue is as large; n³/3 flops."""
        some = values > TIED * values[0]
        if not some.all():
            return True
        left = self._times(vectors) / np.sqrt(self._n * values)
        C = self._gram
        del self._gram  # which can be as large as X
        C /= self._n
        return _tied(C, values, left)

    @cached_property
    def _gram(self) -> Array:
        if isinstance(self.X, np.ndarray):
            return np.asarray(self.X @ self.X.T)
        gram = np.empty((self._n, self._n))
        for number, (begin, block) in enumerate(self._blocks()):
            here = slice(begin, begin + block.shape[0])
            gram[here, here] = _dense(block @ block.T)
            for at, other in islice(self._blocks(), number):
                there = slice(at, at + other.shape[0])
                gram[here, there] = _dense(block @ other.T)
                gram[there, here] = gram[here, there].T
                del other  # before the next one is read
            del block
        return gram

    def _times(self, V: Array) -> Array:
        return np.concatenate([block @ V for _, block in self._blocks()])

    def _blocks(self) -> Iterator[tuple[int, Any]]:
        """Yield numbers of first rows, and rows: those of an array at once."""
        if isinstance(self.X, np.ndarray):
            yield 0, self.X
        elif is_sparse(self.X):
            for begin in range(0, self._n, SPARSE_ROWS):
                yield begin, self.X[begin : begin + SPARSE_ROWS]
        else:
            begin = 0
            for block in self.X.one_pass():
                begin += len(block)
                yield begin - len(block), block
                del block


def _sum_of_squares(block: Any) -> float:
    if is_sparse(block):
        return float(np.vdot(block.data, block.data))
    return float(np.einsum("ij,ij->", block, block))


def _dense(found: Any) -> Array:
    product: Array = found.toarray() if is_sparse(found) else found
    return product


def _leading(C: Array, k: int) -> tuple[Array, Array]:
    from scipy.linalg import eigh

    values, vectors = eigh(C, subset_by_index=(len(C) - k, len(C) - 1), check_finite=False)
    return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


def _tied(C: Array, values: Array, vectors: Array) -> bool:
    """Return whether C has another eigenvalue as large as its last leading one.

    It has none if (l - e) I - C + VLV' is positive definite, for the eigenpairs (L, V), the last
    value l and e = `TIED` times the first.
    """
    from scipy.linalg import LinAlgError, cholesky

    if len(values) == len(C):
        return False
    rest = (vectors * values) @ vectors.T - C
    rest[np.diag_indices(len(C))] += values[-1] - TIED * values[0]
    try:
        cholesky(rest.T, lower=True, overwrite_a=True, check_finite=False)  # not copied
    except LinAlgError:
        return True
    return False


def second_moment(source: ArraySource) -> SecondMoment:
    """Return the second moment of a source: `RowMoment` if rows are few, else `DenseMoment`.

    nd² flops. Keeps d² numbers. Few rows are kept up to `COPIED` bytes, as are those that the
    caller can change; the others are read from the source again.

    Raises
    ------
    DataError
        If a row is not finite.
    """
    moment: SecondMoment
    if source.length < source.d:
        return _of_few_rows(source)
    C, total = np.zeros((source.d, source.d)), np.zeros(source.d)
    for block in source.checked_pass():
        C += block.T @ block
        total += block.sum(axis=0)
    C /= source.length
    if np.abs(C).max() > LARGEST:
        raise DataError(
            "the samples are so large that squares of their variances overflow: rescale them"
        )
    moment = DenseMoment(C)
    moment.rows, moment.mean = source.length, total / source.length
    return moment


def _of_few_rows(source: ArraySource) -> RowMoment:
    copied = 8 * source.length * source.d <= COPIED or not source.is_frozen
    X = np.empty((source.length, source.d)) if copied else _shared(source)
    total, begin = np.zeros(source.d), 0
    for block in source.checked_pass():
        if copied:
            X[begin : begin + len(block)] = block
        total += block.sum(axis=0)
        begin += len(block)
    moment = RowMoment(X)
    moment.rows, moment.mean = source.length, total / source.length
    return moment


def _shared(source: ArraySource) -> Any:
    """Return the array or the sparse matrix that has the samples; else the source itself."""
    rows = source.rows
    moved = np.any(source.centre) or np.any(np.not_equal(source.scale, 1))
    if moved or rows.dtype != np.float64:
        return source
    if isinstance(rows, SparseRows):
        return rows.matrix if source.order is None else rows.matrix[np.asarray(source.order)]
    is_same = isinstance(rows, np.ndarray) and rows.flags.c_contiguous and source.order is None
    return rows if is_same else source
