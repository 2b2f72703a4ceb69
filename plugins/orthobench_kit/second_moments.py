"""Second-moment matrices C = E[xx']: variances along directions, and leading eigenvectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from orthobench.errors import DataError
from orthobench.tools.arrays import Array, array_of, check_rows, matrix
from orthobench.tools.geometry import orthonormalize
from orthobench_kit.sources import ArraySource

LARGEST = 1e150
"""The largest second moment, whose square is still finite."""


class SecondMoment(ABC):
    """A second-moment matrix C = E[xx'], which need not be formed.

    Attributes
    ----------
    d : int
        Length of a sample x.
    """

    d: int

    @abstractmethod
    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column v of `V`, shape (d, m)."""

    @property
    @abstractmethod
    def trace(self) -> float:
        """The total variance tr C."""

    @abstractmethod
    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the k largest eigenvalues, descending, and their eigenvectors (d, k)."""


class DenseMoment(SecondMoment):
    """A second moment given as a matrix.

    Parameters
    ----------
    C : ndarray, shape (d, d)
        Symmetric, to 1e-10 of its largest entry.

    Raises
    ------
    DataError
        If C is not a finite, real, square and symmetric matrix.
    """

    def __init__(self, C: Array) -> None:
        C = matrix(array_of(C, "the covariance"), "the covariance").astype(np.float64)
        if C.shape[0] != C.shape[1]:
            raise DataError(f"the covariance must be square, not of shape {C.shape}")
        check_rows(C, what="row of the covariance")
        if not np.allclose(C, C.T, rtol=0, atol=1e-10 * np.abs(C).max()):
            raise DataError("the covariance is not symmetric")
        self.C, self.d = C, len(C)

    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column; 2d²m flops."""
        variances: Array = np.einsum("ij,ij->j", V, self.C @ V)
        return variances

    @cached_property
    def trace(self) -> float:
        """The total variance."""
        return float(np.trace(self.C))

    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the k leading eigenpairs; about 4d³/3 flops."""
        return _leading(self.C, k)


class RowMoment(SecondMoment):
    """The second moment X'X / n of samples in rows, never formed.

    The cheaper form if there are fewer samples than features.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    """

    def __init__(self, X: Array) -> None:
        self.X, self.d = X, X.shape[1]

    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column; 2ndm flops."""
        P = self.X @ V
        variances: Array = np.einsum("ij,ij->j", P, P) / len(self.X)
        return variances

    @cached_property
    def trace(self) -> float:
        """The total variance."""
        return float(np.einsum("ij,ij->", self.X, self.X)) / len(self.X)

    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the k leading eigenpairs, from the Gram matrix XX'.

        Forming XX' squares the condition number. A Rayleigh-Ritz step on the span of X'W, with W
        the leading eigenvectors of XX', recovers the accuracy lost. Beyond the rank of X the
        values are zero and the vectors arbitrary, but orthonormal. n²d + 4n³/3 + 8ndk flops.
        """
        _, W = _leading(self.X @ self.X.T, min(k, len(self.X)))
        directions = np.zeros((self.d, k))
        directions[:, : W.shape[1]] = self.X.T @ W
        Q = orthonormalize(directions)
        P = self.X @ Q
        values, rotation = _leading(P.T @ P / len(self.X), k)
        return np.maximum(values, 0.0), np.ascontiguousarray(Q @ rotation)


def _leading(C: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues of a symmetric matrix, descending, and their vectors."""
    from scipy.linalg import eigh

    values, vectors = eigh(C, subset_by_index=(len(C) - k, len(C) - 1), check_finite=False)
    return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


def second_moment(source: ArraySource) -> SecondMoment:
    """Return the second moment of all rows of a source: `RowMoment` or `DenseMoment`.

    The cheaper of the two: `RowMoment` if there are fewer rows than features.

    Parameters
    ----------
    source : ArraySource
        Read once, block by block.

    Raises
    ------
    DataError
        On a row that is not finite; names it.

    Notes
    -----
    nd² flops; keeps min(n, d) d numbers.
    """
    if source.length < source.d:
        X = np.concatenate(list(source.checked_pass()))
        return RowMoment(X)
    C = np.zeros((source.d, source.d))
    for block in source.checked_pass():
        C += block.T @ block
    C /= source.length
    if np.abs(C).max() > LARGEST:
        raise DataError(
            "the samples are so large that squares of their variances overflow: rescale them"
        )
    return DenseMoment(C)
