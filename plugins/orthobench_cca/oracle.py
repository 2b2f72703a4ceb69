"""The oracle of canonical correlation analysis: pairs (x, y), all at once or one after another."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array, Oracle, SampleOracle
from orthobench.families.sources import ArraySource


class PairsOracle(Oracle):
    """Pairs (x, y), for which weights A (p, k) and B (q, k) are sought: n = p + q.

    A point is A above B. It is no `SampleOracle`: solvers of principal components would take
    pairs for samples.

    Parameters
    ----------
    X : ndarray, shape (N, p)
    Y : ndarray, shape (N, q)
        Centred.
    k : int
    ridge : float
        It is added to the diagonals of both covariances.
    passes : int
        How often the stream goes through the pairs.

    Attributes
    ----------
    pairs : ndarray, shape (N, p + q)
        Read-only; X and Y are views of it.
    """

    def __init__(self, X: Array, Y: Array, k: int, ridge: float = 0.0, passes: int = 1) -> None:
        self.pairs = np.hstack([X, Y])
        self.pairs.flags.writeable = False
        self.p, self.n, self.k, self.ridge = X.shape[1], self.pairs.shape[1], k, ridge
        self._stream = SampleOracle(ArraySource(self.pairs, passes=passes), k)
        self.window = self._stream.window

    @property
    def X(self) -> Array:
        """All x, shape (N, p)."""
        return self.pairs[:, : self.p]

    @property
    def Y(self) -> Array:
        """All y, shape (N, q)."""
        return self.pairs[:, self.p :]

    @property
    def sizes(self) -> tuple[int, ...]:
        """p, q and k."""
        return (self.p, self.n - self.p, self.k)

    def rewind(self, rng: np.random.Generator) -> None:
        """Go back to the first pair."""
        self._stream.rewind(rng)

    def prepare(self, samples: int) -> None:
        """Have that many pairs ready, or all that are left."""
        self._stream.prepare(samples)

    def take(self, count: int) -> Array:
        """Return the next pairs, shape (count, p + q); do not write into them."""
        taken: Array = self._stream.take(count)
        return taken

    @property
    def taken(self) -> int:
        """The pairs that were taken since `rewind`."""
        return self._stream.taken

    def remaining(self) -> float:
        """Return how many pairs are left."""
        return self._stream.remaining()


def halves(point: Array, p: int) -> tuple[Array, Array]:
    """Return A and B of a point."""
    return point[:p], point[p:]
