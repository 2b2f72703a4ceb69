"""Streaming methods on blocks: one step of AdaGrad a pass, along the mean gradient of batches."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, BlockOracle, Solution, SummarySolver
from orthobench_tucker import MomentStream
from orthobench_tucker._kernels.block_sums import BlockSum, added, in_double
from orthobench_tucker.streaming import StreamState, hoevd_weights


class GradientPasses(SummarySolver[MomentStream, StreamState, BlockSum]):
    """Base of the streaming methods: with blocks, a pass is a step.

    Its gradient is the mean of those of the batches at one basis, weighted by their samples; the
    last batch of a block may have fewer. So sums over blocks merge without loss, but one pass
    makes one step, where a stream makes one for each batch.
    """

    passes: float = math.inf

    @abstractmethod
    def gradients(
        self, number: int, block: NDArray[np.floating[Any]], rows: Array, order: int
    ) -> tuple[Array, int]:
        """Return the sum of the batches' gradients at Q', each times its samples, and the flops.

        Parameters
        ----------
        number : int
            Of the pass, from 0.
        block : ndarray, shape (p, n)
        rows : ndarray, shape (r, n)
            Q'.
        order : int
            d.
        """

    @abstractmethod
    def step_sizes(self, number: int) -> tuple[float, bool]:
        """Return the step size of a pass, and whether AdaGrad begins anew with it."""

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> BlockSum:
        """Return the sum of the gradients of a block's batches."""
        rows = _shared(oracle)["rows"]
        total, spent = self.gradients(oracle.number, block, rows, oracle.sizes[2])
        return BlockSum(rows=len(block), total=total, flops=spent)

    def merge(self, a: BlockSum, b: BlockSum) -> BlockSum:
        """Return the sum of two sums."""
        return added(a, b)

    def finish(self, oracle: BlockOracle, summary: BlockSum) -> Solution:
        """Return Q after the step, shape (n, r)."""
        return Solution(np.ascontiguousarray(self.proceed(oracle, summary)["rows"].T))

    def proceed(self, oracle: BlockOracle, summary: BlockSum) -> Mapping[str, Array]:
        """Return Q' and AdaGrad's denominators after the step; NaN where it is not finite."""
        from orthobench_tucker._kernels.streaming_kernels import ascend

        shared, (step_size, anew) = _shared(oracle), self.step_sizes(oracle.number)
        rows, gamma = shared["rows"].copy(), shared["gamma"] * (0.0 if anew else 1.0)
        if not ascend(rows, np.ascontiguousarray(summary.mean), gamma, step_size):
            rows[:] = np.nan
        return {"rows": rows, "gamma": gamma}


def _shared(oracle: BlockOracle) -> Mapping[str, Array]:
    """Return Q' and AdaGrad's denominators before a pass."""
    start = {"rows": np.ascontiguousarray(oracle.start.T), "gamma": np.zeros(oracle.k)}
    return oracle.shared or start


def hoevd_gradients(block: NDArray[np.floating[Any]], batch: int, rows: Array, order: int) -> Array:
    """Return the sum of b (2/b²) X (X'X)^[d-1] X'Q over batches X (n, b), transposed.

    Parameters
    ----------
    block : ndarray, shape (p, n)
    batch : int
    rows : ndarray, shape (r, n)
        Q'.
    order : int
        d.
    """
    total = np.zeros_like(rows)
    for samples in in_double(block, batch):
        R = hoevd_weights(samples, rows @ samples.T, order)
        total += (2 / len(samples) * R) @ samples
    return total
