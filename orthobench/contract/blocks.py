"""Sources of samples, and those whose samples are in blocks that anyone may read in any order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.tools.arrays import Array

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
