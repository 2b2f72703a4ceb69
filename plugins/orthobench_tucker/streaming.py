"""The streaming methods: AdaGrad along gradients of batches."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import (
    Array,
    ArraySolver,
    BlockOracle,
    Solution,
    State,
    Status,
    Summary,
    SummarySolver,
    copied,
    flops,
    is_plain,
    namespace,
)
from orthobench.tools.arrays import in_rows
from orthobench_tucker import MomentStream
from orthobench_tucker._kernels import arrays
from orthobench_tucker.sample_moments import integer_power

STEPS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Grid of step sizes, which do not depend on the data's scale."""

TILE = 256
"""Number of samples whose inner products are computed at once."""

CONVERTED = 1024
"""Number of samples of a block that are converted to float64 at once."""

ENDLESS = 2**62
"""Number of steps of a phase that the budget ends."""


@dataclass(frozen=True, kw_only=True)
class BlockSum(Summary):
    """A sum over samples, in float64."""

    total: Array

    @property
    def mean(self) -> Array:
        """The mean over the samples."""
        return self.total / self.rows


SumT = TypeVar("SumT", bound=BlockSum)


def added(a: SumT, b: SumT) -> SumT:
    """Return the sum of two sums."""
    total = a.total + b.total
    flops = a.flops + b.flops + total.size
    return replace(a, rows=a.rows + b.rows, total=total, flops=flops)


def in_double(block: NDArray[np.floating[Any]], size: int = CONVERTED) -> Iterator[Array]:
    """Yield the samples of a block in float64, `size` at a time."""
    for begin in range(0, len(block), size):
        yield np.asarray(block[begin : begin + size], dtype=np.float64, order="C")


@dataclass(slots=True, kw_only=True)
class StreamState(State):
    """The basis Q' (r, n), and AdaGrad's denominators (r,), zero at first."""

    rows: Any
    gamma: Any


class Gradient(NamedTuple):
    """The gradient G = X'R' of a batch X (b, n), transposed.

    Attributes
    ----------
    ascend : callable
        Takes X (count * b, n), b, Q' (r, n), AdaGrad's denominators, d and the step size. Does a
        step for each batch, in place; returns the number of finite ones.
    total : callable
        Maps X, Q' and d to b G' at this basis.
    weights : callable
        Maps d and b to a function of X and Q'X' (r, b) that returns R, for arrays of any library.
    flops : callable
        Maps n, r and d, and b to the flops of a step.
    """

    ascend: Callable[[Array, int, Array, Array, int, float], int]
    total: Callable[[Array, Array, int], Array]
    weights: Callable[[int, int], Callable[[Any, Any], Any]]
    flops: Callable[[tuple[int, ...], int], int]


class Phase(NamedTuple):
    """Steps along one gradient, with their own denominators."""

    gradient: Gradient
    batch: int
    step_size: float
    steps: int = ENDLESS

    def ascend(self, oracle: MomentStream, state: StreamState, count: int) -> None:
        """Take `count` batches; fail if a gradient overflows."""
        gradient, order = self.gradient, oracle.order
        for X, batch, asked in split(oracle.take(count * self.batch), self.batch):
            if state.status is not Status.RUNNING:
                return
            if is_plain(X):
                done = gradient.ascend(X, batch, state.rows, state.gamma, order, self.step_size)
            else:
                done, weights = asked, gradient.weights(order, batch)
                state.rows, state.gamma = arrays.ascend(
                    X, batch, state.rows, state.gamma, self.step_size, weights
                )
            state.work.steps += done
            state.work.samples += done * batch
            state.work.flops += done * gradient.flops(oracle.sizes, batch)
            if done < asked:
                state.status = Status.FAILED
                state.reason = (
                    f"the gradient of batch {state.work.steps + 1} overflows: rescale the samples "
                    "so that their lengths are near one"
                )


class StreamingTucker(
    SummarySolver[MomentStream, StreamState, BlockSum], ArraySolver[MomentStream, StreamState]
):
    """Base of the methods that use each batch of samples once.

    With blocks a pass is a step, along the mean gradient of the batches at one basis, weighted by
    their samples. Merging is exact, but one pass makes one step, not one for each batch.
    """

    passes: float = math.inf
    batch: int

    @abstractmethod
    def phases(self) -> list[Phase]:
        """Return the phases; the last one is endless."""

    def init(self, oracle: MomentStream, rng: np.random.Generator) -> StreamState:
        del rng
        rows = copied(in_rows(oracle.start.T))
        return StreamState(rows=rows, gamma=namespace(rows).zeros_like(rows[:, 0]))

    def advance(self, oracle: MomentStream, state: StreamState, count: int) -> None:
        while count > 0 and state.status is Status.RUNNING:
            phase, done = self._phase(state.work.steps)
            if not done:
                state.gamma = 0.0 * state.gamma
            steps = min(count, phase.steps - done)
            phase.ascend(oracle, state, steps)
            count -= steps

    def solution(self, state: StreamState) -> Solution:
        return Solution(copied(in_rows(state.rows.T)))

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> BlockSum:
        rows, (phase, _) = _shared(oracle)["rows"], self._phase(oracle.number)
        total = np.zeros_like(rows)
        for samples in in_double(block, phase.batch):
            total += phase.gradient.total(samples, rows, oracle.sizes[2])
        count = -(-len(block) // phase.batch)
        spent = count * phase.gradient.flops(oracle.sizes, phase.batch)
        return BlockSum(rows=len(block), total=total, flops=spent)

    def merge(self, a: BlockSum, b: BlockSum) -> BlockSum:
        return added(a, b)

    def finish(self, oracle: BlockOracle, summary: BlockSum) -> Solution:
        return Solution(np.ascontiguousarray(self.proceed(oracle, summary)["rows"].T))

    def proceed(self, oracle: BlockOracle, summary: BlockSum) -> Mapping[str, Array]:
        from orthobench_tucker._kernels.ascent import ascend

        shared, (phase, done) = _shared(oracle), self._phase(oracle.number)
        rows, gamma = shared["rows"].copy(), shared["gamma"] * (1.0 if done else 0.0)
        if not ascend(rows, np.ascontiguousarray(summary.mean), gamma, phase.step_size):
            rows[:] = np.nan
        return {"rows": rows, "gamma": gamma}

    def _phase(self, number: int) -> tuple[Phase, int]:
        """Return the phase of a step, and its number of earlier steps."""
        for phase in self.phases():
            if number < phase.steps:
                break
            number -= phase.steps
        return phase, number


def split(X: Any, batch: int) -> list[tuple[Any, int, int]]:
    """Return whole batches and a rest, each with its batch and number."""
    whole = X.shape[0] // batch
    parts = [(X[: whole * batch, :], batch, whole)]
    left = X.shape[0] - whole * batch
    return [*parts, (X[whole * batch :, :], left, 1)] if left else parts


def _shared(oracle: BlockOracle) -> Mapping[str, Array]:
    start = {"rows": np.ascontiguousarray(oracle.start.T), "gamma": np.zeros(oracle.k)}
    return oracle.shared or start


def hoevd_ascent(
    X: Array, batch: int, rows: Array, gamma: Array, order: int, step_size: float
) -> int:
    """Ascend along G = (2/b²) X (X'X)^[d-1] X'Q for each batch; return the number of batches.

    It stops before a batch whose step is not finite. X (count * b, n), Q' `rows` (r, n) and the
    denominators `gamma` (r,) are in C order; the latter two are updated in place. `hoevd_flops` for
    each batch; memory of G, of Y = X'Q, and of `TILE`² inner products.
    """
    from orthobench_tucker._kernels.ascent import ascend

    batches = X.reshape(-1, batch, X.shape[1])
    G = np.empty_like(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        for t, samples in enumerate(batches):
            R = hoevd_weights(samples, rows @ samples.T, order)
            np.matmul(R * (2 / batch / batch), samples, out=G)
            if not ascend(rows, G, gamma, step_size):
                return t
    return len(batches)


def hoevd_weights(X: Array, Y: Array, order: int) -> Array:
    """Return R = Y (XX')^[d-1], shape (r, b), of X (b, n) and Y (r, b)."""
    R = np.zeros_like(Y)
    tiles = [slice(begin, begin + TILE) for begin in range(0, len(X), TILE)]
    for i, own in enumerate(tiles):
        for other in tiles[: i + 1]:
            powers = integer_power(X[own] @ X[other].T, order - 1)
            R[:, own] += Y[:, other] @ powers.T
            if own != other:
                R[:, other] += Y[:, own] @ powers
    return R


def hoevd_total(samples: Array, rows: Array, order: int) -> Array:
    """Return b (2/b²) X (X'X)^[d-1] X'Q, transposed."""
    R = hoevd_weights(samples, rows @ samples.T, order)
    return np.asarray((2 / len(samples) * R) @ samples)


def hoevd_flops(sizes: tuple[int, ...], batch: int) -> int:
    """Return the flops of an iteration of Algorithm 3 (equation 14)."""
    (n, r, order), b = sizes, batch
    power = flops.gemm(b, b, n) + (order - 2) * b * b
    return power + 2 * flops.gemm(b, r, n) + flops.gemm(b, r, b) + step_flops(n, r)


def step_flops(n: int, r: int) -> int:
    """Return the flops of an AdaGrad step and its QR."""
    return 4 * n * r + flops.qr(n, r)


HOEVD = Gradient(hoevd_ascent, hoevd_total, arrays.hoevd_weights, hoevd_flops)
"""The gradient of |mat(M)'Q|², Algorithm 3, line 5."""
