"""Second-moment matrices C = E[xx'] that the judge of stochastic PCA measures by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from orthobench.contract.sources import ArraySource
from orthobench.errors import DataError
from orthobench.tools.arrays import Array, check_rows, matrix
from orthobench.tools.geometry import orthonormalize


class SecondMoment(ABC):
    """A second-moment matrix C = E[xx'] that the judge can ask for variances."""

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
    """C given as a (d, d) matrix."""

    def __init__(self, C: Array) -> None:
        C = matrix(np.asarray(C), "the covariance").astype(np.float64, copy=False)
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
    """C = X'X / n of fewer rows than features, never formed."""

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
        """Return the k leading eigenpairs, from the (n, n) Gram matrix.

        A Rayleigh-Ritz step on the span of X'W, for the leading eigenvectors W of XX', gives
        back the accuracy that the squared condition number of XX' took. Beyond the rank the values
        are zero and the vectors any orthonormal ones. n²d + 4n³/3 + 8ndk flops.
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
    """Return the second moment of all rows of a source, in the cheaper of two forms.

    Reads the rows once, block by block. Keeps min(n, d) d numbers; nd² flops.
    """
    if source.length < source.d:
        X = np.concatenate(list(source.checked_pass()))
        return RowMoment(X)
    C = np.zeros((source.d, source.d))
    for block in source.checked_pass():
        C += block.T @ block
    return DenseMoment(C / source.length)


class Optimum:
    """The k-dimensional subspace of largest variance.

    Attributes
    ----------
    value : float
        The largest tr(U'CU), the sum of the k largest eigenvalues of C.
    subspace : ndarray, shape (d, k)
        Their eigenvectors.
    """

    def __init__(self, moment: SecondMoment, k: int) -> None:
        self.moment = moment
        self.values, self.subspace = moment.leading(k)
        self.value = float(self.values.sum())

    def gap(self, U: Array) -> float:
        """Return the suboptimality of an orthonormal `U`, without cancellation.

        With the leading eigenpairs (Λ, S) the difference tr Λ - tr(U'CU) is
        ``sum_i λ_i |(I - UU')s_i|² - tr(W'CW)``, W = (I - SS')U. Both terms vanish with the
        square of the angle to the optimum, so that a gap far below the rounding of tr Λ is
        still a number rather than noise of either sign. 8dk² flops and those of `variances`.
        """
        S = self.subspace
        missed = S - U @ (U.T @ S)
        gained = U - S @ (S.T @ U)
        lost = float(self.values @ np.einsum("ij,ij->j", missed, missed))
        return lost - float(self.moment.variances(gained).sum())
