"""The oracle of polar factors: the matrix, or a batch of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.stacks import sizes

from orthobench.contract import Array, Oracle, Solution


@dataclass(frozen=True)
class PolarSolution(Solution):
    """A point, with the products of matrices that it took.

    Attributes
    ----------
    products : float
        In units of 2np² flops for each matrix (n, p): X'X is one, a product of two (p, p) is p/n.
    """

    products: float = 0.0


class PolarOracle(Oracle):
    """A matrix A (n, p), n >= p, or a batch of them (b, n, p), whose polar factors are sought.

    The factor of A = U S V' is UV'. A point has those of a batch one below another, (bn, p).

    Parameters
    ----------
    A : ndarray, shape (n, p) or (b, n, p)
        Read-only.
    """

    portable = True

    def __init__(self, A: Array) -> None:
        self.A: Any = A
        count, rows, self.k = sizes(A)
        self.n = count * rows

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of A."""
        return tuple(self.A.shape)


def read_only(A: NDArray[np.generic]) -> Array:
    """Return a copy that nobody can write into."""
    owned = np.array(A, dtype=np.float64)
    owned.flags.writeable = False
    return owned
