"""The iterate of stochastic symmetric CP: its start, its objective, and its solution."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthobench.contract import Array, flops
from orthobench_tucker import ComponentSolution
from orthobench_tucker.sample_moments import integer_power, sample_blocks

JITTER = 1e-3
"""Norm of the noise added to unit vectors at the start: equal components would stay equal."""


class CPIterate(NamedTuple):
    """Components and weights, and Adam's running means.

    Attributes
    ----------
    point : ndarray, shape (r'(n + 1),)
        The components, one after the other, then the weights: the model is the mean of
        w_i v_i ⊗ ... ⊗ v_i, in units in which the entries of the data have mean square one.
    mean, square : ndarray, shape (r'(n + 1),)
        Running means of the gradient and of its square.
    iterations : int
        Number of gradients in these means.
    """

    point: Array
    mean: Array
    square: Array
    iterations: int

    @classmethod
    def at(cls, components: Array, weights: Array) -> CPIterate:
        """Return components (r', n) with weights (r',), and empty running means."""
        point = np.concatenate([components.ravel(), weights])
        return cls(point, np.zeros_like(point), np.zeros_like(point), 0)

    def components(self, n: int) -> Array:
        """Return the components as rows (r', n), a view."""
        return self.point[: len(self.point) // (n + 1) * n].reshape(-1, n)

    def weights(self, n: int) -> Array:
        """Return the weights (r',), a view."""
        return self.point[len(self.point) // (n + 1) * n :]

    def copy(self) -> CPIterate:
        """Return a copy that shares no arrays."""
        return CPIterate(self.point.copy(), self.mean.copy(), self.square.copy(), self.iterations)


def first_iterate(batch: Array, count: int, rng: np.random.Generator) -> CPIterate:
    """Return the start: random combinations of samples, of length √n and weight one.

    The randomized range finder of the Tensor Toolbox's cp_isym, from one batch, with a little
    noise.

    Parameters
    ----------
    batch : ndarray, shape (b, n)
        Samples in rows, not all zero.
    count : int
        r'.
    rng : numpy.random.Generator

    Notes
    -----
    2bnr' flops.
    """
    n = batch.shape[1]
    rows = _unit(rng.standard_normal((count, len(batch))) @ batch)
    rows += JITTER / np.sqrt(n) * rng.standard_normal(rows.shape)
    return CPIterate.at(np.sqrt(n) * rows, np.ones(count))


def objective(iterate: CPIterate, samples: Array, order: int, inverse: float = 1.0) -> float:
    """Return |M̂|² - 2<M̂, M>, which is |M̂ - M|² up to a constant.

    Parameters
    ----------
    iterate : CPIterate
    samples : ndarray, shape (p, n)
        M is the moment of these samples times `inverse`.
    order : int
        d.
    inverse : float

    Notes
    -----
    `objective_flops`; memory of `BLOCK_BYTES`.
    """
    n = samples.shape[1]
    rows, shares = iterate.components(n), iterate.weights(n)
    shares = shares / len(shares)
    scaled = inverse * rows
    inner = 0.0
    for block in sample_blocks(samples, len(rows)):
        powers = integer_power(block @ scaled.T, order)
        inner += float(powers.sum(axis=0) @ shares)
    own = shares @ integer_power(rows @ rows.T, order) @ shares
    return float(own) - 2 * inner / len(samples)


def objective_flops(n: int, count: int, samples: int, order: int) -> int:
    """Return the flops of `objective`: 2(p + r')r'n + d(p + r')r'."""
    rows = samples + count
    return flops.gemm(rows, count, n) + order * rows * count


def solution(iterate: CPIterate, n: int, order: int, scale: float) -> ComponentSolution:
    """Return unit columns and their weights, in the units of the data.

    A component of zeros becomes a unit vector of weight zero. Where the order is odd, signs are
    chosen so that no weight is negative.

    Parameters
    ----------
    iterate : CPIterate
    n, order : int
    scale : float
        The unit of the iterate, in that of the data.
    """
    rows, weights = iterate.components(n), iterate.weights(n)
    lengths = np.linalg.norm(rows, axis=1)
    point = _unit(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = weights / len(weights) * integer_power(scale * lengths, order)
    if order % 2:
        point[weights < 0] *= -1
        weights = np.abs(weights)
    return ComponentSolution(np.ascontiguousarray(point.T), weights)


def _unit(rows: Array) -> Array:
    """Return rows at unit length, rows of zeros as the first unit vector; a fresh array."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled = rows / np.where(lengths > 0, lengths, 1.0)
    scaled[lengths[:, 0] == 0, 0] = 1.0
    return np.asarray(scaled)
