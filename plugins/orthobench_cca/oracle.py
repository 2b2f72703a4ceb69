"""The oracle of canonical correlation analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from orthobench_kit.sources import ArraySource
from orthobench_kit.sparse import is_sparse

from orthobench.contract import Array, Oracle, SampleOracle, Solution
from orthobench.tools.geometry import random_point

BLOCK = 2**17
"""Number of nonzeros of a sparse matrix that are summed at once."""

SMALL = 64
"""Pairs and columns of each side of a warm-up, beyond k."""


@dataclass(frozen=True)
class PassesSolution(Solution):
    """Weights, with the number of passes so far: one reads all of X and of Y once."""

    passes: float | None = None


PairsT = TypeVar("PairsT", bound="PairsMatrices")


class PairsMatrices(Oracle):
    """Pairs (x, y) as two matrices, never copied nor made dense: n = p + q.

    A point is A (p, k) above B (q, k).

    Parameters
    ----------
    X, Y : ndarray or sparse matrix, shapes (N, p) and (N, q)
        Need not be centred: products subtract the means.
    ridge : float
        Added to the diagonals of both covariances.
    """

    shows: ClassVar[Mapping[str, str]] = {
        "X": "one side of the pairs (N, p), in rows",
        "Y": "the other side (N, q). The point is A (p, k) above B (q, k)",
        "ridge": "added to the diagonals of both covariances",
    }

    def __init__(self, X: Any, Y: Any, k: int, ridge: float = 0.0) -> None:
        self._given, self.ridge = (X, Y), ridge
        self.p, self.n, self.k = X.shape[1], X.shape[1] + Y.shape[1], k
        self.x_mean, self.y_mean = (means(M) for M in (X, Y))

    @property
    def X(self) -> Any:
        """All x, shape (N, p)."""
        return self._given[0]

    @property
    def Y(self) -> Any:
        """All y, shape (N, q)."""
        return self._given[1]

    @property
    def count(self) -> int:
        """The number N of pairs."""
        return int(self.X.shape[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.p, self.n - self.p, self.k)

    def miniature(self) -> PairsMatrices:
        """Return an oracle of the same kind with a few random numbers."""
        X, Y = _few_pairs(self)
        return _started(PairsMatrices(_as(self.X, X), _as(self.Y, Y), self.k, self.ridge))

    @property
    def sides(self) -> tuple[Centred, Centred]:
        """X and Y, each less its means."""
        return Centred(self.X, self.x_mean), Centred(self.Y, self.y_mean)


class Centred(NamedTuple):
    """A matrix (N, p) less the means of its columns, never formed."""

    data: Any
    mean: Array

    def times(self, M: Array) -> Array:
        """Return the scores of weights (p, b); 2Npb flops."""
        return np.asarray(self.data @ M) - self.mean @ M

    def adjoint(self, U: Array) -> Array:
        """Return the transpose times U (N, b)."""
        return np.asarray(self.data.T @ U) - np.outer(self.mean, U.sum(axis=0))

    def cross(self, other: Centred, parts: int = 1) -> Array:
        """Return the dense covariance with another matrix of N rows; 2Npq flops.

        Columns of a sparse one are multiplied in parts: SciPy copies what it multiplies by.
        """
        if parts == 1 or not is_sparse(other.data):
            product = self.data.T @ other.data
            dense = product.toarray() if is_sparse(product) else product
        else:
            step = -(-other.data.shape[1] // parts)
            every = (slice(at, at + step) for at in range(0, other.data.shape[1], step))
            dense = np.hstack([(self.data.T @ other.data[:, some]).toarray() for some in every])
        return np.asarray(dense / self.data.shape[0] - np.outer(self.mean, other.mean))

    def covariance(self, ridge: float) -> Array:
        """Return the dense covariance with the ridge on its diagonal; 2Np² flops."""
        S = self.cross(self)
        S[np.diag_indices_from(S)] += ridge
        return S

    def variances(self) -> Array:
        """Return the variances of the columns."""
        if is_sparse(self.data):
            squares = column_sums(self.data, np.square)
        else:
            squares = np.einsum("ij,ij->j", self.data, self.data)
        return np.asarray(squares / self.data.shape[0] - self.mean**2)


def means(M: Any) -> Array:
    """Return the means of the columns of a matrix (N, p)."""
    if is_sparse(M):
        return column_sums(M, partial(np.multiply, 1 / M.shape[0]))
    return np.asarray(M.mean(axis=0))


def column_sums(M: Any, of: Callable[[Array], Array]) -> Array:
    """Return the sums over the columns of a sparse matrix of a function of its entries."""
    rows, sums = M.tocsr(), np.zeros(M.shape[1])
    for begin in range(0, rows.nnz, BLOCK):
        part = slice(begin, begin + BLOCK)
        sums += np.bincount(rows.indices[part], of(rows.data[part]), len(sums))
    return sums


class PairsOracle(PairsMatrices):
    """Dense centred pairs, X (N, p) and Y (N, q), all at once or one after another.

    It is no `SampleOracle`, so that solvers of PCA do not take pairs for samples. The `ridge` goes
    on the diagonals of both covariances. X and Y are views of `pairs` (N, p + q), which is
    read-only.
    """

    def __init__(self, pairs: Array, p: int, k: int, ridge: float = 0.0, passes: int = 1) -> None:
        self.pairs = pairs
        self.pairs.flags.writeable = False
        self.p, self.n, self.k, self.ridge = p, pairs.shape[1], k, ridge
        self.x_mean, self.y_mean = np.zeros(self.p), np.zeros(self.n - self.p)
        self._stream = SampleOracle(ArraySource(self.pairs, passes=passes), k)
        self.window = self._stream.window

    def miniature(self) -> PairsOracle:
        """Return an oracle of the same kind with a few random numbers."""
        X, Y = _few_pairs(self)
        return _started(PairsOracle(np.hstack([X, Y]), X.shape[1], self.k, self.ridge))

    @property
    def X(self) -> Array:
        return self.pairs[:, : self.p]

    @property
    def Y(self) -> Array:
        return self.pairs[:, self.p :]

    def rewind(self, rng: np.random.Generator) -> None:
        self._stream.rewind(rng)

    def prepare(self, samples: int) -> None:
        self._stream.prepare(samples)

    def take(self, count: int) -> Array:
        """Return the next pairs (count, p + q), read-only."""
        taken: Array = self._stream.take(count)
        return taken

    @property
    def taken(self) -> int:
        return self._stream.taken

    def remaining(self) -> float:
        return self._stream.remaining()


def _few_pairs(oracle: PairsMatrices) -> list[Array]:
    """Return random pairs, fewer and of fewer columns than those of an oracle."""
    rng, most = np.random.default_rng(0), SMALL + oracle.k
    widths = oracle.p, oracle.n - oracle.p
    count = min(oracle.count, 2 * most)
    return [rng.standard_normal((count, min(width, most))) for width in widths]


def _as(given: Any, few: Array) -> Any:
    """Return a matrix in the format of another."""
    return type(given)(few) if is_sparse(given) else few


def _started(oracle: PairsT) -> PairsT:
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(0))
    return oracle


def halves(point: Array, p: int) -> tuple[Array, Array]:
    """Return A and B of a point."""
    return point[:p], point[p:]
