"""Second-moment matrices C = E[xx']: variances and leading eigenvectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from orthobench.errors import DataError
from orthobench.tools.arrays import Array, check_rows, matrix
from orthobench.tools.geometry import orthonormalize
from orthobench_kit.reading import array_of
from orthobench_kit.sources import ArraySource
from orthobench_kit.symmetric_tensors import symmetric_matrices

LARGEST = 1e150
"""Maximum second moment, whose square is finite."""

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
    """The second moment X'X / n of samples X (n, d), never formed; cheaper if n < d."""

    def __init__(self, X: Array) -> None:
        self.X, self.d = X, X.shape[1]

    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column; 2ndm flops."""
        P = self.X @ V
        variances: Array = np.einsum("ij,ij->j", P, P) / len(self.X)
        return variances

    @cached_property
    def trace(self) -> float:
        return float(np.einsum("ij,ij->", self.X, self.X)) / len(self.X)

    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the leading eigenpairs, from the Gram matrix XX'; n²d + 4n³/3 + 8ndk flops.

        A Rayleigh-Ritz step on the span of X'W, with the leading eigenvectors W of XX', recovers
        the accuracy lost by squaring. Beyond the rank of X vectors are arbitrary.
        """
        _, W = _leading(self._gram, min(k, len(self.X)))
        directions = np.zeros((self.d, k))
        directions[:, : W.shape[1]] = self.X.T @ W
        Q = orthonormalize(directions)
        P = self.X @ Q
        values, rotation = _leading(P.T @ P / len(self.X), k)
        return np.maximum(values, 0.0), np.ascontiguousarray(Q @ rotation)

    def tied(self, values: Array, vectors: Array) -> bool:
        """Return whether the next eigenvalue is as large; n³/3 flops."""
        some = values > TIED * values[0]
        left = self.X @ vectors[:, some] / np.sqrt(len(self.X) * values[some])
        return not some.all() or _tied(self._gram / len(self.X), values, left)

    @cached_property
    def _gram(self) -> Array:
        return self.X @ self.X.T


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
        cholesky(rest, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return True
    return False


def second_moment(source: ArraySource) -> SecondMoment:
    """Return the second moment of a source: `RowMoment` if rows are few, else `DenseMoment`.

    Reads the source once. nd² flops; keeps min(n, d) d numbers.

    Raises
    ------
    DataError
        If a row is not finite.
    """
    moment: SecondMoment
    if source.length < source.d:
        X = np.concatenate(list(source.checked_pass()))
        moment = RowMoment(X)
        moment.rows, moment.mean = source.length, X.mean(axis=0)
        return moment
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
