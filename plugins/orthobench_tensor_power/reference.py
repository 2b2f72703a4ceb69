"""The robust tensor power method in plain numpy."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array


def robust_power(T: Array, L: int, N: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return factors and weights by Algorithm 1 of Anandkumar et al. 2014, a vector at a time."""
    T, n = T.copy(), len(T)
    factors, weights = [], []
    for _ in range(n):
        X = rng.standard_normal((n, L))
        thetas = list((X / np.linalg.norm(X, axis=0)).T)
        for _ in range(N):
            thetas = [iterated(T, theta) for theta in thetas]
        best = max(thetas, key=lambda theta: np.einsum("abc,a,b,c->", T, theta, theta, theta))
        for _ in range(N):
            best = iterated(T, best)
        factors.append(best)
        weights.append(np.einsum("abc,a,b,c->", T, best, best, best))
        T -= weights[-1] * np.einsum("a,b,c->abc", best, best, best)
    return np.column_stack(factors), np.array(weights)


def iterated(T: Array, theta: Array) -> Array:
    """Return T(I, theta, theta) at unit length."""
    theta = np.einsum("abc,b,c->a", T, theta, theta)
    return np.asarray(theta / np.linalg.norm(theta))
