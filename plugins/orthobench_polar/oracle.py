"""The oracles of spectral powers and of polar factors."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.stacks import sizes

from orthobench.contract import Array, Oracle, Solution
from orthobench.tools.geometry import random_point

SMALL = 64
"""Maximum number of columns of the matrix of a warm-up, which has at most twice as many rows."""


@dataclass(frozen=True)
class PolarSolution(Solution):
    """A point, with the number of products of matrices so far.

    They are in units of 2np² flops for each matrix (n, p): X'X is one, a product of two (p, p) is
    p/n.
    """

    products: float = 0.0


class SpectralOracle(Oracle):
    """A read-only A (n, p), n >= p, or a batch (b, n, p), and the exponent of its power.

    The power of A = U S V' is U S^exponent V'; a point has those of a batch one below another,
    (bn, p).
    """

    portable = True
    shows: ClassVar[Mapping[str, str]] = {
        "A": "the matrix (n, k), or a batch (b, n / b, k), whose polar factor is sought",
    }

    def __init__(self, A: Array, exponent: float) -> None:
        self.A: Any = A
        A.flags.writeable = False
        self.exponent = exponent
        count, rows, self.k = sizes(A)
        self.n = count * rows

    def miniature(self) -> SpectralOracle:
        """Return an oracle of the same kind with a few random numbers, on the host."""
        if self.place.moves:
            return self
        rng, small = np.random.default_rng(0), copy(self)
        *batch, rows, columns = self.A.shape
        columns = min(columns, SMALL)
        shape = *(min(count, 2) for count in batch), min(rows, 2 * columns), columns
        small.A = rng.standard_normal(shape)
        small.A.flags.writeable = False
        count, rows, small.k = sizes(small.A)
        small.n = count * rows
        small.start = random_point(small.n, small.k, rng)
        return small

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.A.shape)


class PolarOracle(SpectralOracle):
    """A `SpectralOracle` with exponent 0: the polar factor."""

    def __init__(self, A: Array) -> None:
        super().__init__(A, 0.0)
