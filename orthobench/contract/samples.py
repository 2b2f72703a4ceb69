"""Samples one after another: the oracle of streaming solvers, and the sources that it reads."""

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
"""Samples that a stream yields at once; fewer where they are long (`block_rows`)."""

WINDOW_BYTES = 32 * 2**20
"""The most memory that prepared samples take, unless one step draws more."""


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
        Number of samples in one run; infinite for samplers, and for iterators, whose end is not
        known.
    """

    d: int
    size: float

    @abstractmethod
    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield all samples of a run in blocks, fresh float64 arrays ``(rows, d)`` in C order.

        Parameters
        ----------
        rng : numpy.random.Generator
            Draws the samples, where they are drawn.
        """

    def row_number(self, index: int) -> int | str:
        """Return the row of the user's data that sample `index` of a run is, with its file.

        Both count from 0.
        """
        return index

    def forget(self) -> None:  # noqa: B027 - most keep nothing
        """Drop samples that were kept for another start: the run is past its warm-up."""


class BlockSource(SampleSource):
    """Samples in numbered blocks, which a `SummarySolver` summarizes wherever they are.

    Its pickle is small where the samples are in files: each worker opens them by itself.

    Attributes
    ----------
    count : int
        Number of blocks.
    length : int
        Samples of one pass, which are those of all blocks.
    timed : bool
        Whether reading a block is on the clock of a `SummarySolver`.
    """

    count: int
    length: int
    timed: bool = False

    @abstractmethod
    def block(self, index: int) -> NDArray[np.floating[Any]]:
        """Return a block, float64 or float32 ``(rows, d)`` in C order; equal bits at each call."""

    @abstractmethod
    def height(self, index: int) -> int:
        """Return the number of rows of a block, without reading it."""

    @abstractmethod
    def label(self, index: int) -> str:
        """Return where a block is, for messages: ``"parts/07.npy, rows 0 to 4095"``."""

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield the rows of all blocks in their order, a few at a time; `rng` is not used."""
        del rng
        rows = block_rows(self.d)
        for index in range(self.count):
            block = self.block(index)
            for begin in range(0, len(block), rows):
                yield np.array(block[begin : begin + rows], dtype=np.float64, order="C")


class SampleOracle(Oracle):
    """Samples, one after another, each of which a solver can take once.

    The harness prepares the samples of each chunk of steps off the clock, in one contiguous array
    of at most 32 MiB, but for solvers with `reruns`. Solvers `take` them on the clock, without a
    copy.

    Parameters
    ----------
    source : SampleSource
        Where samples come from: an array, a memory map, an iterator or a sampler.
    k : int
        Columns of the point sought; its rows are the features of a sample.

    Attributes
    ----------
    length : float
        Samples of one pass, after which they come again; infinite where they never repeat.
    written : bool
        Whether a solver wrote into samples that it took, as far as the first of each chunk show.
    """

    portable: ClassVar[bool] = True

    def __init__(self, source: SampleSource, k: int) -> None:
        self.source, self.n, self.k = source, source.d, k
        self.length = source.length if isinstance(source, BlockSource) else math.inf
        block = block_rows(source.d)
        self.window = max(block, WINDOW_BYTES // (8 * source.d) // block * block)
        self.rewind(np.random.default_rng(0))

    def __getstate__(self) -> dict[str, Any]:
        """Return what does not change during a run: a copy begins with the first sample."""
        changing = ("_blocks", "_ready", "_there", "_at", "_taken", "_exhausted", "_prepared",
                    "_first", "_written")  # fmt: skip
        return {name: value for name, value in vars(self).items() if name not in changing}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with the first sample."""
        vars(self).update(state)
        self.rewind(np.random.default_rng(0))

    def to(self, place: Place) -> Self:
        """Return a copy that hands out samples at a place, from the first on."""
        moved = super().to(place)
        moved.rewind(np.random.default_rng(0))
        return moved

    def rewind(self, rng: np.random.Generator) -> None:
        """Go back to the first sample.

        Parameters
        ----------
        rng : numpy.random.Generator
            Draws the samples, where they are drawn.

        Raises
        ------
        DataError
            Where the samples come from a generator that a run has used up.
        """
        self._blocks = self.source.blocks(rng)
        self._ready: Array = np.empty((0, self.n))
        self._there: Any = self.placed(self._ready)
        self._at = 0
        self._taken = 0
        self._prepared = self._exhausted = self._written = False
        self._first = self._ready[:1]

    def prepare(self, samples: int) -> None:
        """Have at least `samples` samples ready, or all that are left; check that they are finite.

        Parameters
        ----------
        samples : int
            How many, those included that are ready and not taken yet.

        Raises
        ------
        DataError
            On a sample that is not finite, or so large that its square overflows; names the row.
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
        """Return the next samples, in the place where they were prepared: do not write into them.

        Parameters
        ----------
        count : int
            At most `Solver.batch` for each step. There are fewer where the data end.

        Returns
        -------
        array, shape (<= count, n)
            Of `place`; of NumPy float64, C order.

        Raises
        ------
        RuntimeError
            Where fewer samples were prepared: the solver takes more than its `batch` says.
        """
        end = self._at + count
        if self._exhausted:
            end = min(end, len(self._ready))
        if end > len(self._ready):
            have = len(self._ready) - self._at
            raise RuntimeError(
                f"the solver took {count} samples where {have} were prepared: "
                "its `batch` must be the number of samples that one step draws"
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
        """The samples that were taken since `rewind`."""
        return self._taken

    def remaining(self) -> float:
        """Return how many samples are left; infinite where there is no end, or none known yet."""
        ready = len(self._ready) - self._at
        return float(ready) if self._exhausted else self.source.size - self._taken

    def _check(self, block: Array, first: int) -> None:
        if block.ndim != 2 or block.shape[1] != self.n:
            raise DataError(
                f"samples from row {first} on have shape {block.shape}, not (rows, {self.n})"
            )
        check_rows(block, first, self.source.row_number)
