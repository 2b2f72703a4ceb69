"""The average of low-rank iterates, kept as a low-rank factor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthobench.contract import Array

LEAST = 256
"""Rows that are gathered before they are first compressed."""


class Average(NamedTuple):
    """A sum of positive semidefinite matrices S = sum of P'P over factors P; immutable.

    Memory: at most about 2d times the rank of S. Once that rank exceeds d / 2, S itself is kept.

    Attributes
    ----------
    factors : tuple of ndarray, shapes (g, d)
        What has been added since the last compression, after the compressed part.
    rows : int
        Rows of all factors.
    limit : int
        Rows at which they are compressed.
    dense : ndarray, shape (d, d) or None
        S, where its rank exceeds d / 2.
    """

    factors: tuple[Array, ...] = ()
    rows: int = 0
    limit: int = LEAST
    dense: Array | None = None

    def plus(self, P: Array) -> Average:
        """Return the sum with P'P added; P has shape (g, d)."""
        if self.dense is not None:
            return self._replace(dense=self.dense + P.T @ P)
        grown = self._replace(factors=(*self.factors, P), rows=self.rows + len(P))
        return grown if grown.rows <= self.limit else grown.compressed()

    def spectrum(self) -> tuple[Array, Array]:
        """Return the positive eigenvalues of S, descending, and eigenvectors (d, r)."""
        if self.dense is not None:
            values, vectors = np.linalg.eigh(self.dense)
            keep = values > len(values) * np.finfo(float).eps * values[-1]
            return values[keep][::-1], vectors[:, keep][:, ::-1]
        _, s, Vt = np.linalg.svd(np.concatenate(self.factors), full_matrices=False)
        keep = s**2 > len(s) * np.finfo(float).eps * s[:1] ** 2
        return s[keep] ** 2, Vt[keep].T

    def compressed(self) -> Average:
        """Return the same sum in as few rows as its rank."""
        values, vectors = self.spectrum()
        d, rank = vectors.shape
        if 2 * rank > d:
            return Average(dense=(vectors * values) @ vectors.T)
        factor = np.ascontiguousarray((vectors * np.sqrt(values)).T)
        return Average((factor,), rank, max(LEAST, 2 * rank))
