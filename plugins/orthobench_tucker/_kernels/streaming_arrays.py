"""Steps of the streaming methods with arrays of any library.

The formulae are those of `orthobench_tucker._kernels.streaming_kernels`, which takes NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from orthobench.contract import namespace, orthonormalize
from orthobench_tucker._kernels.adagrad import GAMMA_0


def ascend(
    X: Any,
    batch: int,
    rows: Any,
    gamma: Any,
    step: float,
    weights: Callable[[Any, Any], Any],
) -> tuple[Any, Any]:
    """Do an AdaGrad step for each batch of samples; return the basis and the denominators.

    Parameters
    ----------
    X : array, shape (count * batch, n)
    batch : int
    rows : array, shape (r, n)
        Q'.
    gamma : array, shape (r,)
        Zero before the first gradient that is not zero.
    step : float
    weights : callable
        Maps a batch (b, n) and Q'X' (r, b) to the weights R (r, b) of the samples in the
        gradient RX.

    Notes
    -----
    The flops of `orthobench_tucker.streaming.hoevd_flops` or
    `orthobench_tucker.solvers.spgd.tucker_flops` for each batch, with all entries of symmetric
    products. Nothing waits for the device.
    """
    for begin in range(0, X.shape[0], batch):
        samples = X[begin : begin + batch, :]
        G = weights(samples, rows @ samples.T) @ samples
        rows, gamma = _stepped(rows, gamma, G, step)
    return rows, gamma


def hoevd_weights(order: int, batch: int) -> Callable[[Any, Any], Any]:
    """Return the weights (2/b²) Y (XX')^[d-1] of Algorithm 3, an entrywise power."""
    return lambda X, Y: (2 / batch**2) * (Y @ (X @ X.T) ** (order - 1))


def tucker_weights(order: int, batch: int) -> Callable[[Any, Any], Any]:
    """Return the weights (2d/b²) Y (Y'Y)^[d-1] of Algorithm 2, an entrywise power."""
    return lambda _, Y: (2 * order / batch**2) * (Y @ (Y.T @ Y) ** (order - 1))


def _stepped(rows: Any, gamma: Any, G: Any, step: float) -> tuple[Any, Any]:
    """Return Q' after one step along a gradient, and AdaGrad's denominators."""
    xp = namespace(G)
    squares = xp.sum(G * G, axis=1)
    total = xp.sum(squares)
    first = xp.where(gamma == 0, GAMMA_0 * xp.sqrt(total), gamma)
    longer = xp.sqrt(first * first + squares)
    moves = total > 0
    scale = step / xp.where(moves, longer, xp.ones_like(longer))
    moved = orthonormalize((rows + scale[:, None] * G).T).T
    return xp.where(moves, moved, rows), xp.where(moves, longer, gamma)
