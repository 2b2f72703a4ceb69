"""The base of the streaming methods, and their first phase, streaming HOEVD."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.contract import (
    Array,
    ArraySolver,
    Solution,
    State,
    Status,
    copied,
    flops,
    is_plain,
    namespace,
)
from orthobench.tools.arrays import in_rows
from orthobench_tucker import MomentStream
from orthobench_tucker._kernels import streaming_arrays as arrays
from orthobench_tucker.sample_moments import integer_power

STEPS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Grid of step sizes; AdaGrad makes them independent of the scale of the samples."""

TILE = 256
"""Samples whose inner products with each other are computed at once."""


@dataclass(slots=True, kw_only=True)
class StreamState(State):
    """The basis, and AdaGrad's denominators.

    Attributes
    ----------
    rows : array, shape (r, n)
        Q', of NumPy in C order: Q in Fortran order.
    gamma : array, shape (r,)
        AdaGrad's denominators, one for each column of Q; zero before the first gradient that is
        not zero.
    """

    rows: Any
    gamma: Any


class StreamingTucker(ArraySolver[MomentStream, StreamState]):
    """Base of the methods that use each batch of samples once.

    Besides the batch they hold Q, a gradient and its sums: at most 3nr doubles.
    """

    batch: int

    def init(self, oracle: MomentStream, rng: np.random.Generator) -> StreamState:
        """Return the common start, a Haar random point: lines 2 and 3 of Algorithm 3."""
        del rng
        rows = copied(in_rows(oracle.start.T))
        return StreamState(rows=rows, gamma=namespace(rows).zeros_like(rows[:, 0]))

    @abstractmethod
    def advance(self, oracle: MomentStream, state: StreamState, count: int) -> None:
        """Take `count` batches, or fewer where the run fails."""

    def solution(self, state: StreamState) -> Solution:
        """Return Q, shape (n, r)."""
        return Solution(copied(in_rows(state.rows.T)))


def split(X: Any, batch: int) -> list[tuple[Any, int, int]]:
    """Return samples as whole batches and as what is left: each with its batch and their number."""
    whole = X.shape[0] // batch
    parts = [(X[: whole * batch, :], batch, whole)]
    left = X.shape[0] - whole * batch
    return [*parts, (X[whole * batch :, :], left, 1)] if left else parts


def count_batches(state: StreamState, asked: int, done: int, batch: int, step_flops: int) -> None:
    """Count the work of `done` batches; fail where more were asked, since the next overflowed.

    Parameters
    ----------
    state : StreamState
    asked, done : int
        Number of batches that were to be taken, and that were.
    batch : int
        Samples of a batch.
    step_flops : int
        Flops of a step.
    """
    state.work.steps += done
    state.work.samples += done * batch
    state.work.flops += done * step_flops
    if done < asked:
        state.status = Status.FAILED
        state.reason = (
            f"the gradient of batch {state.work.steps + 1} overflows: rescale the samples "
            "so that their lengths are near one"
        )


def hoevd_phase(
    oracle: MomentStream, state: StreamState, count: int, batch: int, step_size: float
) -> None:
    """Do `count` iterations of Algorithm 3, lines 5 to 8, each on `batch` fresh samples."""
    for X, size, some in split(oracle.take(count * batch), batch):
        if state.status is not Status.RUNNING:
            return
        if is_plain(X):
            done = hoevd_ascent(X, size, state.rows, state.gamma, oracle.order, step_size)
        else:
            done, weights = some, arrays.hoevd_weights(oracle.order, size)
            state.rows, state.gamma = arrays.ascend(
                X, size, state.rows, state.gamma, step_size, weights
            )
        count_batches(state, some, done, size, hoevd_flops(oracle.n, oracle.k, oracle.order, size))


def hoevd_ascent(
    X: Array, batch: int, rows: Array, gamma: Array, order: int, step_size: float
) -> int:
    """Ascend along G = (2/b²) X (X'X)^[d-1] X'Q for each batch; return the number of batches.

    It stops before a batch whose step is not finite.

    Parameters
    ----------
    X : ndarray, shape (count * batch, n), C order
    batch : int
    rows : ndarray, shape (r, n), C order
        Q', updated in place.
    gamma : ndarray, shape (r,)
        AdaGrad's denominators, updated in place.
    order : int
        d.
    step_size : float

    Notes
    -----
    `hoevd_flops` for each batch; memory of G, of Y = X'Q, and of `TILE`² inner products.
    """
    from orthobench_tucker._kernels.streaming_kernels import ascend

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
    """Return R = Y (XX')^[d-1], an entrywise power, from tiles on and below the diagonal.

    Parameters
    ----------
    X : ndarray, shape (b, n)
        Samples in rows.
    Y : ndarray, shape (r, b)
    order : int
        d.

    Returns
    -------
    ndarray, shape (r, b)
    """
    R = np.zeros_like(Y)
    tiles = [slice(begin, begin + TILE) for begin in range(0, len(X), TILE)]
    for i, own in enumerate(tiles):
        for other in tiles[: i + 1]:
            powers = integer_power(X[own] @ X[other].T, order - 1)
            R[:, own] += Y[:, other] @ powers.T
            if own != other:
                R[:, other] += Y[:, own] @ powers
    return R


def hoevd_flops(n: int, r: int, order: int, b: int) -> int:
    """Return the flops of an iteration of Algorithm 3: O(rnb + nb² + rb²) (equation 14).

    2nb² + (d - 2)b² for (X'X)^[d-1]; 2rb² + 4rnb for its products with X'Q and X; `step_flops`.
    """
    power = flops.gemm(b, b, n) + (order - 2) * b * b
    return power + 2 * flops.gemm(b, r, n) + flops.gemm(b, r, b) + step_flops(n, r)


def step_flops(n: int, r: int) -> int:
    """Return the flops of an AdaGrad step: column norms and update, 2nr each, and the QR."""
    return 4 * n * r + flops.qr(n, r)
