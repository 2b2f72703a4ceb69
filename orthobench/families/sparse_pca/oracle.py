"""The oracle of sparse PCA: the data matrix, and a stream of its samples."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.problem import Oracle
from orthobench.contract.samples import SampleOracle
from orthobench.errors import DataError
from orthobench.families.sources import ArraySource
from orthobench.tools.arrays import Array, namespace
from orthobench.tools.places import Place


class SparsePCAOracle(Oracle):
    """The data matrix, and a stream of its samples.

    ``n`` is the number of features d, ``k`` the number of components m. The stream has the
    methods of `orthobench.contract.SampleOracle`.

    Parameters
    ----------
    A : ndarray, shape (d, N)
        Features by samples.
    m : int
        Components.
    passes : int
        How often the stream goes through the samples.
    order : ndarray of int, shape (N,), optional
        The order of the samples in the stream; by default that of the columns.

    Raises
    ------
    DataError
        Where the order does not have as many entries as there are samples.

    Attributes
    ----------
    A : ndarray, shape (d, N)
        In Fortran order: each sample is contiguous. Do not write into it.
    norms : ndarray, shape (d,)
        Norms of the rows of A. Penalties are relative to the largest of them.
    """

    portable: ClassVar[bool] = True

    def __init__(
        self, A: Array, m: int, passes: int = 1, order: NDArray[np.intp] | None = None
    ) -> None:
        self.A = np.asfortranarray(A).view()  # a view: the caller's array stays writable
        self.A.flags.writeable = False
        self.n, self.k = len(A), m
        self.norms: Array = np.linalg.norm(self.A, axis=1)
        source = ArraySource(self.A.T, order, passes)
        if source.length != self.samples:
            raise DataError(
                f"the order must name all {self.samples} samples, and names {source.length}"
            )
        self.stream = SampleOracle(source, m)
        self.window = self.stream.window

    @property
    def samples(self) -> int:
        """The number N of samples in A."""
        return int(self.A.shape[1])

    @property
    def longest(self) -> float:
        """The largest norm of a row."""
        return float(namespace(self.norms).max(self.norms))

    @property
    def unit(self) -> float:
        """A power of two: squares of data divided by it do not overflow.

        Raises
        ------
        DataError
            On data that are not finite, or whose squares all underflow or overflow.
        """
        longest = self.longest
        if longest == 0.0:
            raise DataError("the data are so small that their squares underflow; rescale them")
        if not math.isfinite(longest):
            raise DataError("the data are not finite, or too large to be squared")
        return math.ldexp(1.0, math.frexp(longest)[1])

    def to(self, place: Place) -> Self:
        """Return a copy with the data at a place, and a stream of their samples there."""
        moved = super().to(place)
        moved.stream = self.stream.to(place)
        return moved

    def rewind(self, rng: np.random.Generator) -> None:
        """Go back to the first sample."""
        self.stream.rewind(rng)

    def prepare(self, samples: int) -> None:
        """Get the next samples ready."""
        self.stream.prepare(samples)

    @property
    def taken(self) -> int:
        """The samples that were taken since `rewind`."""
        return self.stream.taken

    def remaining(self) -> float:
        """Return how many samples are left."""
        return self.stream.remaining()

    def take(self, count: int) -> Any:
        """Return the next `count` samples, ``(count, d)``, C order; do not write into it."""
        return self.stream.take(count)
