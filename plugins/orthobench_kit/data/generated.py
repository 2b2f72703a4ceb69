"""Samples made anew whenever a block is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench_kit.rows import Rows

Floats: TypeAlias = NDArray[np.float32]

Draw: TypeAlias = "Callable[[np.random.Generator, int], Floats]"
"""``draw(rng, count)`` draws samples from `rng` alone; it can be pickled."""

LARGEST_BLOCK = 2**16
"""Maximum number of rows of a block."""

BLOCK_HELP = "samples in a block, which is made as a whole"


class GeneratedRows(Rows):
    """Samples in float32; key and i determine block i.

    The counter of this Philox generator begins at i 2^192, so that blocks share no numbers.

    Parameters
    ----------
    draw : callable
        ``draw(rng, count)`` returns samples, float32 (count, d).
    shape : (int, int)
        Samples and features.
    block : int
        Samples in a block.
    key : int
        Below 2^128.
    """

    fresh: ClassVar[bool] = True

    def __init__(self, draw: Draw, shape: tuple[int, int], block: int, key: int) -> None:
        self.draw, self.shape, self.block, self.key = draw, shape, block, key
        self.dtype: np.dtype[Any] = np.dtype(np.float32)
        self.borders = np.append(np.arange(0, shape[0], block), shape[0]).astype(np.intp)

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        first, last = begin // self.block, (end - 1) // self.block
        made = [self._made(index) for index in range(first, last + 1)]
        rows = made[0] if len(made) == 1 else np.concatenate(made)
        return rows[begin - first * self.block : end - first * self.block]

    def _made(self, index: int) -> Floats:
        rng = np.random.Generator(np.random.Philox(key=self.key, counter=[0, 0, 0, index]))
        return self.draw(rng, min(self.block, self.shape[0] - index * self.block))


def key_of(rng: np.random.Generator) -> int:
    """Return a key for `GeneratedRows`, drawn from `rng`."""
    high, low = (int(part) for part in rng.integers(2**64, size=2, dtype=np.uint64))
    return high << 64 | low


@dataclass(frozen=True)
class FactorSamples:
    """Samples B f + sigma g in float32, with standard normal g, B (d, k).

    ``factors(rng, shape)`` draws independent f, an array of that shape.
    """

    B: Floats
    sigma: float
    factors: Callable[[np.random.Generator, tuple[int, int]], NDArray[np.floating[Any]]]

    def __call__(self, rng: np.random.Generator, count: int) -> Floats:
        """Draw samples, (count, d)."""
        d, k = self.B.shape
        f = self.factors(rng, (count, k)).astype(np.float32, copy=False)
        samples = rng.standard_normal((count, d), dtype=np.float32)
        samples *= np.float32(self.sigma)
        samples += f @ self.B.T
        return samples


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Draw standard normal numbers in float32."""
    return rng.standard_normal(shape, dtype=np.float32)
