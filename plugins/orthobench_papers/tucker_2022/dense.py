"""Formulae as the paper prints them, on dense tensors."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import factorial, sqrt

import numpy as np
from orthobench_kit.geometry import subspace_error
from orthobench_tucker.reference import moment, multiplied

from orthobench.contract import Array

FINE = 1e-5
"""Half the distance between the two points of a central difference."""


def symmetric(n: int, order: int, rng: np.random.Generator) -> Array:
    """Return a symmetric tensor of Gaussian noise, shape (n,) * order."""
    A = rng.standard_normal((n,) * order)
    mean = sum(A.transpose(axes) for axes in permutations(range(order))) / factorial(order)
    return np.asarray(mean)


def skewed(rng: np.random.Generator, n: int, factors: int, p: int) -> Array:
    """Draw samples (n, p) of a factor model with centred exponential factors, without noise."""
    B = rng.standard_normal((n, factors))
    return np.asarray(B @ (rng.exponential(size=(factors, p)) - 1))


def inner_but_first(A: Array, B: Array) -> Array:
    """Return <A, B>_{-1}, the inner product over all modes except the first (Definition 6)."""
    return np.asarray(A.reshape(len(A), -1) @ B.reshape(len(B), -1).T)


def gradient(T: Array, Q: Array) -> Array:
    """Return the Euclidean gradient of F (equation 6)."""
    partial = multiplied(T, np.eye(len(T)), *[Q] * (T.ndim - 1))
    return 2 * T.ndim * inner_but_first(partial, multiplied(T, *[Q] * T.ndim))


def differences(f: Callable[[Array], float], Q: Array) -> Array:
    """Return the gradient of `f` at `Q` by central differences."""
    found = np.empty_like(Q)
    for at in np.ndindex(*Q.shape):
        step = np.zeros_like(Q)
        step[at] = FINE
        found[at] = (f(Q + step) - f(Q - step)) / (2 * FINE)
    return found


def deviation(found: Array, true: Array) -> float:
    """Return |found - true| / |true|."""
    return float(np.linalg.norm(found - true) / np.linalg.norm(true))


def distance(Q: Array, R: Array) -> float:
    """Return |QQ' - RR'|, the subspace error of section 4.3, of two bases of equal rank."""
    return sqrt(2) * subspace_error(Q, R)


def batch_cost(X: Array, order: int, Q: Array) -> float:
    """Return the cost F_t(Q) of a batch (n, b), equation 12, with its moment formed."""
    return float(np.sum(moment((Q.T @ X).T, order) ** 2))
