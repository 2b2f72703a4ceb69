"""Streams of samples: the oracle of streaming solvers, and its sources."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.problem import Oracle
from orthobench.errors import DataError
from orthobench.tools.arrays import Array, check_rows
from orthobench.tools.places import Place

BLOCK = 256
"""Maximum number of samples that a stream yields at once (`block_rows`)."""

WINDOW_BYTES = 32 * 2**20
"""Maximum size of prepared samples, in bytes; one step may draw more."""


def block_rows(d: int) -> int:
    """Return the number of samples of length `d` in a block: `BLOCK`, within `WINDOW_BYTES`."""
    return max(1, min(BLOCK, WINDOW_BYTES // (8 * d)))


class SampleSource(ABC):
    """A stream of samples that each run reads from its beginning.

    Attributes
    ----------
    d : int
        Length of a sample: its number of features.
    size : float
        Number of samples in one run; infinite for samplers and iterators.
    """

    d: int
    size: float

    @abstractmethod
    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield all samples of a run, drawn by `rng`, in new float64 arrays ``(rows, d)``."""

    def row_number(self, index: int) -> int | str:
        """Return the row of the user's data of sample `index`, with its file; from 0."""
        return index

    def forget(self) -> None:  # noqa: B027 - most keep nothing
        """Drop samples that were kept for another start, after the warm-up."""


class BlockSource(SampleSource):
    """Samples in numbered blocks for a `SummarySolver`; each worker opens files again.

    Attributes
    ----------
    count, length : int
        Number of blocks, and of all their samples.
    timed : bool
        Whether reading a block is on the clock of a `SummarySolver`.
    """

    count: int
    length: int
    timed: bool = False

    @abstractmethod
    def block(self, index: int) -> NDArray[np.floating[Any]]:
        """Return a block ``(rows, d)``, float64 or float32 in C order; equal bits at each call."""

    @abstractmethod
    def height(self, index: int) -> int:
        """Return the number of rows of a block, without reading it."""

    @abstractmethod
    def label(self, index: int) -> str:
        """Return the name of a block for messages: ``"parts/07.npy, rows 0 to 4095"``."""

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield the rows of all blocks in their order, a few at a time."""
        del rng
        rows = block_rows(self.d)
        for index in range(self.count):
            block = self.block(index)
            for begin in range(0, len(block), rows):
                yield np.array(block[begin : begin + rows], dtype=np.float64, order="C")


class SampleOracle(Oracle):
    """A stream of samples, each of which a solver can take once.

    The harness prepares the samples of each chunk of steps off the clock, in one contiguous array
    of at most 32 MiB, except for solvers with `reruns`.

    Parameters
    ----------
    source : SampleSource
    k : int
        Columns of the point; its rows are the features of a sample.

    Attributes
    ----------
    length : float
        Number of samples of one pass; infinite if they never repeat.
    written : bool
        Whether a solver wrote into the first sample of a chunk.
    """

    portable: ClassVar[bool] = True

    def __init__(self, source: SampleSource, k: int) -> None:
        self.source, self.n, self.k = source, source.d, k
        self.length = source.length if isinstance(source, BlockSource) else math.inf
        block = block_rows(source.d)
        self.window = max(block, WINDOW_BYTES // (8 * source.d) // block * block)
        self.rewind(np.random.default_rng(0))

    def __getstate__(self) -> dict[str, Any]:
        """Return the constant attributes: a copy begins with the first sample."""
        changing = ("_blocks", "_ready", "_there", "_at", "_taken", "_exhausted", "_prepared",
                    "_first", "_written")  # fmt: skip
        return {name: value for name, value in vars(self).items() if name not in changing}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with the first sample."""
        vars(self).update(state)
        self.rewind(np.random.default_rng(0))

    def to(self, place: Place) -> Self:
        """Return a copy with samples at a place, from the first on."""
        moved = super().to(place)
        moved.rewind(np.random.default_rng(0))
        return moved

    def rewind(self, rng: np.random.Generator) -> None:
        """Go back to the first sample.

        Raises
        ------
        DataError
            If a run has used up the user's generator.
        """
        self._blocks = self.source.blocks(rng)
        self._ready: Array = np.empty((0, self.n))
        self._there: Any = self.placed(self._ready)
        self._at = 0
        self._taken = 0
        self._prepared = self._exhausted = self._written = False
        self._first = self._ready[:1]

    def prepare(self, samples: int) -> None:
        """Make at least `samples` samples ready, or all that are left.

        Raises
        ------
        DataError
            Names the row of a sample that is not finite, or whose square overflows.
        """
        if self._prepared:
            self.source.forget()
        self._prepared = True
        held = [self._ready[self._at :]]
        count = len(held[0])
        if count >= samples or self._exhausted:
            return
        while count < samples and not self._exhausted:
            block = next(self._blocks, None)
            if block is None:
                self._exhausted = True
            else:
                self._check(block, self._taken + count)
                held.append(block)
                count += len(block)
        self._written = self.written
        self._ready, self._at = np.concatenate(held), 0
        self._first = self._ready[:1].copy()
        self._there = self.placed(self._ready)

    def take(self, count: int) -> Any:
        """Return the next samples, at most `Solver.batch` a step; do not write into them.

        Returns
        -------
        array, shape (<= count, n)
            At `place`, fewer at the end of the data; with NumPy float64 in C order, not copied.

        Raises
        ------
        RuntimeError
            If fewer samples are ready.
        """
        end = self._at + count
        if self._exhausted:
            end = min(end, len(self._ready))
        if end > len(self._ready):
            have = len(self._ready) - self._at
            raise RuntimeError(
                f"the solver took {count} samples, and {have} were prepared: its `batch` must be "
                "the number of samples that one step draws"
            )
        taken = self._there[self._at : end, :]
        self._taken += end - self._at
        self._at = end
        return taken

    @property
    def written(self) -> bool:
        """Whether samples that were taken have changed."""
        return self._written or not np.array_equal(self._first, self._ready[:1])

    @property
    def taken(self) -> int:
        """Number of samples taken since `rewind`."""
        return self._taken

    def remaining(self) -> float:
        """Return the number of samples that are left; infinite if the end is unknown."""
        ready = len(self._ready) - self._at
        return float(ready) if self._exhausted else self.source.size - self._taken

    def _check(self, block: Array, first: int) -> None:
        if block.ndim != 2 or block.shape[1] != self.n:
            raise DataError(
                f"samples from row {first} on have shape {block.shape}, not (rows, {self.n})"
            )
        check_rows(block, first, self.source.row_number)
