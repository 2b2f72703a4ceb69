"""The sum of low-rank iterates in factored form, from which their average is read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthobench.contract import Array

MIN_ROWS = 256
"""Rows of the factors that are gathered before they are first compressed."""


class FactoredSum(NamedTuple):
    """A sum S of positive semidefinite matrices P'P, given by their factors P; immutable.

    Attributes
    ----------
    factors : tuple of ndarray, shapes (g, d)
        The compressed part, then the factors added since.
    rows : int
        Rows of all factors together.
    limit : int
        Number of rows above which they are compressed.
    dense : ndarray, shape (d, d), or None
        S itself, once its rank exceeds d / 2.

    Notes
    -----
    Memory: at most about 2d times the rank of S, or d² doubles once that rank exceeds d / 2.
    """

    factors: tuple[Array, ...] = ()
    rows: int = 0
    limit: int = MIN_ROWS
    dense: Array | None = None

    def plus(self, P: Array) -> FactoredSum:
        """Return the sum with P'P added.

        Parameters
        ----------
        P : ndarray, shape (g, d)
            Kept, not copied.

        Returns
        -------
        FactoredSum

        Notes
        -----
        2gd² flops if S is dense, else none until the next compression.
        """
        if self.dense is not None:
            return self._replace(dense=self.dense + P.T @ P)
        grown = self._replace(factors=(*self.factors, P), rows=self.rows + len(P))
        return grown if grown.rows <= self.limit else grown.compressed()

    def spectrum(self) -> tuple[Array, Array]:
        """Return the eigendecomposition of S.

        Returns
        -------
        values : ndarray, shape (r,)
            The eigenvalues above rounding, descending.
        vectors : ndarray, shape (d, r)
            Their eigenvectors.

        Notes
        -----
        A thin SVD of the factors, or an eigendecomposition of S, 9d³ flops.
        """
        if self.dense is not None:
            values, vectors = np.linalg.eigh(self.dense)
            keep = values > len(values) * np.finfo(float).eps * values[-1]
            return values[keep][::-1], vectors[:, keep][:, ::-1]
        _, s, Vt = np.linalg.svd(np.concatenate(self.factors), full_matrices=False)
        keep = s**2 > len(s) * np.finfo(float).eps * s[:1] ** 2
        return s[keep] ** 2, Vt[keep].T

    def compressed(self) -> FactoredSum:
        """Return the same sum with as many rows as its rank, or dense if that exceeds d / 2."""
        values, vectors = self.spectrum()
        d, rank = vectors.shape
        if 2 * rank > d:
            return FactoredSum(dense=(vectors * values) @ vectors.T)
        factor = np.ascontiguousarray((vectors * np.sqrt(values)).T)
        return FactoredSum((factor,), rank, max(MIN_ROWS, 2 * rank))
