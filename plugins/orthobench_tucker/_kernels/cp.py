"""Kernels of stochastic symmetric CP: the implicit gradient, and Adam's update.

Samples and components are stacked in one array, so that the gradient takes two matrix products.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from orthobench_kit.compiled import kernel, summed

from orthobench.contract import Array
from orthobench_tucker.solvers.cp_adam import CPIterate


class Settings(NamedTuple):
    """d, b, and Adam's decay rates and regularization."""

    order: int
    batch: int
    beta1: float
    beta2: float
    epsilon: float


@kernel
def descend(
    iterate: CPIterate, samples: Array, inverse: float, rate: float, settings: Settings
) -> tuple[int, bool]:
    """Do an iteration of Adam with each batch of samples (count * b, n), in place.

    `inverse` is a factor of the samples, `rate` the learning rate. Returns the number of
    iterations, up to the first without a finite squared gradient, and whether all gradients were
    finite.
    """
    point, mean, square, before = iterate
    n, b = samples.shape[1], settings.batch
    r = len(point) // (n + 1)
    size = r * n
    stacked, work = np.empty((b + r, n)), np.empty((2, b + r, r))
    components, weights = stacked[b:].reshape(size), point[size:]
    slope = np.empty(len(point))
    _scaled(point[:size], 1.0, components)
    done, finite = 0, True
    for first in range(0, len(samples), b):
        _scaled(samples[first : first + b].reshape(b * n), inverse, stacked[:b].reshape(b * n))
        gradient(stacked, weights, settings.order, work, slope)
        done += 1
        total = adam(components, slope, mean, square, rate, before + done, settings)
        total += adam(
            weights, slope[size:], mean[size:], square[size:], rate, before + done, settings
        )
        finite = bool(np.isfinite(total))
        if not finite:
            break
    _scaled(components, 1.0, point[:size])
    return done, finite


@kernel
def gradient(stacked: Array, weights: Array, order: int, work: Array, slope: Array) -> None:
    """Set the gradient of |M̂|² - 2<M̂, M>, M̂ = sum_i l_i v_i ⊗ ... ⊗ v_i, l = w/r'.

    By v_i and by w_i it is

        2d l_i (sum_k l_k (v_k'v_i)^(d-1) v_k - (1/b) sum_j (x_j'v_i)^(d-1) x_j)

        (2/r') (sum_k l_k (v_k'v_i)^d - (1/b) sum_j (x_j'v_i)^d)

    `stacked` (b + r', n) has the samples, then the components; `work` (2, b + r', r') is scratch.
    """
    (rows, n), r = stacked.shape, len(weights)
    b = rows - r
    products, powers = work[0], work[1]
    np.dot(stacked, stacked[b:].T, products)
    _power(products.reshape(rows * r), order - 1, powers.reshape(rows * r))
    by_weight = slope[r * n :]
    by_weight[:] = 0.0
    for j in range(rows):
        share = -1.0 / b if j < b else weights[j - b] / r
        for i in range(r):
            powers[j, i] *= share
            by_weight[i] += powers[j, i] * products[j, i]
            powers[j, i] *= 2.0 * order / r * weights[i]
    for i in range(r):
        by_weight[i] *= 2.0 / r
    np.dot(powers.T, stacked, slope[: r * n].reshape(r, n))


@summed
def adam(
    x: Array, slope: Array, mean: Array, square: Array, rate: float, t: int, settings: Settings
) -> float:
    """Update `x` and the running means at iteration t, in place (Kingma and Ba 2015, Algorithm 1).

    Returns the sum of the running mean squares, which is not finite if the gradient is not.
    """
    beta1, beta2, epsilon = settings.beta1, settings.beta2, settings.epsilon
    rate /= 1.0 - beta1**t
    unbias = 1.0 / np.sqrt(1.0 - beta2**t)
    total = 0.0
    for i in range(len(x)):
        g = slope[i]
        m = beta1 * mean[i] + (1.0 - beta1) * g
        v = beta2 * square[i] + (1.0 - beta2) * (g * g)
        mean[i], square[i] = m, v
        x[i] -= rate * m / (np.sqrt(v) * unbias + epsilon)
        total += v
    return total


@kernel
def _power(A: Array, exponent: int, out: Array) -> None:
    for i in range(len(A)):
        out[i] = A[i]
    for _ in range(exponent - 1):
        for i in range(len(A)):
            out[i] *= A[i]


@kernel
def _scaled(source: Array, factor: float, target: Array) -> None:
    for i in range(len(target)):
        target[i] = factor * source[i]
