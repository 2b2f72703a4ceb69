"""Sums over the samples of blocks: what the solvers of this plugin keep of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, Summary

CONVERTED = 1024
"""Samples of a block of float32 that are in float64 at once."""


@dataclass(frozen=True, kw_only=True)
class BlockSum(Summary):
    """A sum over all samples of some blocks.

    Attributes
    ----------
    total : ndarray
        In float64.
    """

    total: Array

    @property
    def mean(self) -> Array:
        """The mean over the samples."""
        return self.total / self.rows


SumT = TypeVar("SumT", bound=BlockSum)


def added(a: SumT, b: SumT) -> SumT:
    """Return the sum of two sums: exact, but for its rounding."""
    total = a.total + b.total
    flops = a.flops + b.flops + total.size
    return replace(a, rows=a.rows + b.rows, total=total, flops=flops)


def in_double(block: NDArray[np.floating[Any]], size: int = CONVERTED) -> Iterator[Array]:
    """Yield the samples of a block in float64, `size` at a time; without a copy where they are."""
    for begin in range(0, len(block), size):
        yield np.asarray(block[begin : begin + size], dtype=np.float64, order="C")
