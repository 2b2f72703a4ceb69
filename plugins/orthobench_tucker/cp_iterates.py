"""The iterate of stochastic symmetric CP: where it starts, its objective, what it stands for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthobench.contract import Array, flops
from orthobench.families.symmetric_tucker import ComponentSolution
from orthobench.families.symmetric_tucker.sample_moments import BLOCK_BYTES, integer_power

JITTER = 1e-3
"""Norm of the noise added to unit columns at the start: two that are equal would stay so."""


class Iterate(NamedTuple):
    """Components and weights, and what Adam remembers of their gradient.

    Attributes
    ----------
    point : ndarray, shape (r'(n + 1),)
        The components, one after the other, then the weights: the model is the mean of
        w_i v_i ⊗ ... ⊗ v_i, in units in which the entries of the data have mean square one.
    mean, square : ndarray, shape (r'(n + 1),)
        Running means of the gradient and of its square.
    iterations : int
        How many gradients these have seen.
    """

    point: Array
    mean: Array
    square: Array
    iterations: int

    @classmethod
    def at(cls, components: Array, weights: Array) -> Iterate:
        """Return components (r', n) with weights (r',), and no memory."""
        point = np.concatenate([components.ravel(), weights])
        return cls(point, np.zeros_like(point), np.zeros_like(point), 0)

    def components(self, n: int) -> Array:
        """Return the components as rows (r', n), a view."""
        return self.point[: len(self.point) // (n + 1) * n].reshape(-1, n)

    def weights(self, n: int) -> Array:
        """Return the weights (r',), a view."""
        return self.point[len(self.point) // (n + 1) * n :]

    def copy(self) -> Iterate:
        """Return a copy that shares nothing."""
        return Iterate(self.point.copy(), self.mean.copy(), self.square.copy(), self.iterations)


def begun(batch: Array, count: int, rng: np.random.Generator) -> Iterate:
    """Return `count` random combinations of samples, of length √n and weight one.

    The randomized range finder of the Tensor Toolbox's cp_isym, from one batch, with a little
    noise.

    Parameters
    ----------
    batch : ndarray, shape (b, n)
    count : int
    rng : numpy.random.Generator

    Notes
    -----
    2bnr' flops.
    """
    n = batch.shape[1]
    rows = _unit(rng.standard_normal((count, len(batch))) @ batch)
    rows += JITTER / np.sqrt(n) * rng.standard_normal(rows.shape)
    return Iterate.at(np.sqrt(n) * rows, np.ones(count))


def objective(iterate: Iterate, samples: Array, order: int, inverse: float = 1.0) -> float:
    """Return |M̂|² - 2<M̂, M>, which is |M̂ - M|² but for a constant.

    Parameters
    ----------
    iterate : Iterate
    samples : ndarray, shape (count, n)
        Those that M is the moment of, once they are multiplied by `inverse`.
    order : int
    inverse : float

    Notes
    -----
    `objective_flops`; memory of `BLOCK_BYTES`.
    """
    n = samples.shape[1]
    rows, shares = iterate.components(n), iterate.weights(n)
    shares = shares / len(shares)
    scaled = inverse * rows
    size, inner = max(1, BLOCK_BYTES // (8 * len(rows))), 0.0
    for first in range(0, len(samples), size):
        powers = integer_power(samples[first : first + size] @ scaled.T, order)
        inner += float(powers.sum(axis=0) @ shares)
    own = shares @ integer_power(rows @ rows.T, order) @ shares
    return float(own) - 2 * inner / len(samples)


def objective_flops(n: int, count: int, samples: int, order: int) -> int:
    """Return the flops of `objective`: 2(p + r')r'n + d(p + r')r'."""
    rows = samples + count
    return flops.gemm(rows, count, n) + order * rows * count


def solution(iterate: Iterate, n: int, order: int, scale: float) -> ComponentSolution:
    """Return unit columns and their weights, in the data's units.

    A column of zeros becomes a unit vector of weight zero. Where the order is odd signs are such
    that no weight is negative.

    Parameters
    ----------
    iterate : Iterate
    n, order : int
    scale : float
        The data's unit.
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
    """Return rows at unit length, those of zeros as the first unit vector; a fresh array."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled = rows / np.where(lengths > 0, lengths, 1.0)
    scaled[lengths[:, 0] == 0, 0] = 1.0
    return np.asarray(scaled)
