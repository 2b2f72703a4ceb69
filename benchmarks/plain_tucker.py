"""The data of the Tucker benchmarks, and opponents in plain numpy."""

from __future__ import annotations

import numpy as np


def nig(rng, size, alpha=4 / 3, beta=2 / 3, delta=0.75**0.5, mu=-0.5):
    """Draw normal-inverse Gaussian numbers: by default mean 0, variance 1, skewness 1.5."""
    mixed = rng.wald(delta / np.sqrt(alpha**2 - beta**2), delta**2, size)
    return mu + beta * mixed + np.sqrt(mixed) * rng.standard_normal(size)


def factor_samples(n, p, rank=5, inverse_snr=0.5, seed=0):
    """Samples (p, n) of x = B f + noise, skewed factors (Jin et al. 2022, section 4.1)."""
    rng = np.random.default_rng([seed, n])
    B = rng.standard_normal((n, rank))
    noise = inverse_snr * np.linalg.norm(B) / np.sqrt(n)
    return nig(rng, (p, rank)) @ B.T + noise * rng.standard_normal((p, n))


def gram_gradient(X, Q, order, rows=1000):
    """Equation 13, X (X'QQ'X)^[d-1] X'Q samples in rows, the p-by-p matrix in blocks."""
    Z, total = X @ Q, np.zeros(Q.shape)
    for begin in range(0, len(X), rows):
        block = Z[begin : begin + rows] @ Z.T
        powers = block.copy()
        for _ in range(order - 2):
            powers *= block
        total += X[begin : begin + rows].T @ (powers @ Z)
    return 2 * order * total / len(X) ** 2


def core_gradient(W, Q, order, counts):
    """The gradient from W by equation 6."""
    return 2 * order * (W @ (counts * (Q.T @ W)).T)


def on_grassmann(T, r):
    """Return Pymanopt's problem of F of an order-3 tensor, by hand-written numpy.

    F, its Euclidean gradient and Hessian, by matrix products.
    """
    import pymanopt
    from pymanopt.manifolds import Grassmann

    n = len(T)
    flat, manifold = T.reshape(n, n * n), Grassmann(n, r)

    def w(Q):
        once = (flat.reshape(n * n, n) @ Q).reshape(n, n, r)
        return np.matmul(once.transpose(0, 2, 1), Q).transpose(0, 2, 1).reshape(n, -1), once

    @pymanopt.function.numpy(manifold)
    def cost(Q):
        return -float(np.sum((Q.T @ w(Q)[0]) ** 2))

    @pymanopt.function.numpy(manifold)
    def gradient(Q):
        W, _ = w(Q)
        return -6 * (W @ (Q.T @ W).T)

    @pymanopt.function.numpy(manifold)
    def hessian(Q, V):
        W, once = w(Q)
        half = np.matmul(once.transpose(0, 2, 1), V)
        dW = (half + half.transpose(0, 2, 1)).reshape(n, -1)
        S, dS = Q.T @ W, V.T @ W + Q.T @ dW
        return -6 * (dW @ S.T + W @ dS.T)

    return pymanopt.Problem(manifold, cost, euclidean_gradient=gradient, euclidean_hessian=hessian)


def trust_regions(T, Q0, tolerance):
    """Return a basis by Pymanopt's trust regions on the Grassmann manifold."""
    from pymanopt.optimizers import TrustRegions

    problem = on_grassmann(T, Q0.shape[1])
    scale = -problem.cost(Q0)
    optimizer = TrustRegions(verbosity=0, min_gradient_norm=tolerance * scale, max_iterations=500)
    return optimizer.run(problem, initial_point=Q0).point
