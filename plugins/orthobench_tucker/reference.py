"""The methods of this family in plain NumPy, for comparison.

A tensor T has all its entries, shape (n,) * d; samples X are rows, (p, n).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from orthobench.tools.arrays import Array


def moment(X: Array, order: int) -> Array:
    """Return (1/p) sum_i x_i ⊗ ... ⊗ x_i."""
    powers = X.T
    for _ in range(order - 1):
        powers = np.einsum("...p,pi->...ip", powers, X)
    return np.asarray(powers.mean(axis=-1))


def composed(V: Array, w: Array, order: int) -> Array:
    """Return sum_i w_i v_i ⊗ ... ⊗ v_i."""
    powers = V * w
    for _ in range(order - 1):
        powers = np.einsum("...k,ik->...ik", powers, V)
    return np.asarray(powers.sum(axis=-1))


def multiplied(T: Array, *factors: Array | None) -> Array:
    """Return T ·(A, B, ...), one matrix (n, m) for each mode; None is the identity."""
    for mode, A in enumerate(factors):
        if A is not None:
            T = np.moveaxis(np.tensordot(T, A, axes=(mode, 0)), -1, mode)
    return T


def partial_core(T: Array, Q: Array) -> Array:
    """Return T ·(I, Q, ..., Q), shape (n, r^(d-1))."""
    return multiplied(T, None, *[Q] * (T.ndim - 1)).reshape(len(T), -1)


def objective(T: Array, Q: Array) -> float:
    """Return F(Q) = |T ·(Q, ..., Q)|²."""
    return float(np.sum(multiplied(T, *[Q] * T.ndim) ** 2))


def gradient(T: Array, Q: Array) -> Array:
    """Return ∇F(Q) (Jin, Kileel, Kolda and Ward 2022, equation 6)."""
    W = partial_core(T, Q)
    return np.asarray(2 * T.ndim * W @ (Q.T @ W).T)


def hoevd(T: Array, rank: int) -> Array:
    """Return leading left singular vectors of the unfolding (equation 7)."""
    return np.linalg.svd(T.reshape(len(T), -1), full_matrices=False)[0][:, :rank]


def hooi(T: Array, Q: Array) -> Array:
    """Return Q after an iteration of symmetric HOOI."""
    return np.linalg.svd(partial_core(T, Q), full_matrices=False)[0][:, : Q.shape[1]]


def hoqri(T: Array, Q: Array) -> Array:
    """Return Q after an iteration of HOQRI."""
    return np.linalg.qr(gradient(T, Q))[0]


def hoevd_gradient(X: Array, Q: Array, order: int) -> Array:
    """Return a batch's gradient: Algorithm 3, line 5."""
    return np.asarray(2 / len(X) ** 2 * (X.T @ ((X @ X.T) ** (order - 1) @ (X @ Q))))


def tucker_gradient(X: Array, Q: Array, order: int) -> Array:
    """Return a batch's gradient: Algorithm 2, line 3, its factor corrected to 2d/b²."""
    Y = X @ Q
    return np.asarray(2 * order / len(X) ** 2 * (X.T @ ((Y @ Y.T) ** (order - 1) @ Y)))


def ascent(
    gradient: Callable[[Array, Array, int], Array],
    Q: Array,
    X: Array,
    order: int,
    batch: int,
    step: float,
) -> Array:
    """Return Q after Algorithm 3, or Phase II of Algorithm 2, on whole batches of X.

    gamma_{t-1} stands on the right-hand side, which Algorithm 3 misprints; gamma_0 is relative to
    the first gradient that is not zero.
    """
    gamma = np.zeros(Q.shape[1])
    for begin in range(0, len(X) - batch + 1, batch):
        G = gradient(X[begin : begin + batch], Q, order)
        if not G.any():
            continue
        if not gamma.any():
            gamma += 1e-5 * np.linalg.norm(G)
        gamma = np.sqrt(gamma**2 + np.sum(G**2, axis=0))
        Q = np.linalg.qr(Q + step * G / gamma)[0]
    return Q


def cp_gradient(V: Array, w: Array, X: Array, order: int) -> tuple[Array, Array]:
    """Return the gradient of |M̂|² - 2<M̂, M> in V (n, r') and w, M the moment of the rows of X.

    M̂ is the mean of w_i v_i ⊗ ... ⊗ v_i.
    """
    shares = w / len(w)
    C, G = X @ V, V.T @ V
    C1, G1 = C, G
    for _ in range(order - 2):
        C1, G1 = C1 * C, G1 * G
    inside = V @ (shares[:, None] * G1) - X.T @ C1 / len(X)
    by_weight = 2 / len(w) * (shares @ (G1 * G) - (C1 * C).mean(axis=0))
    return 2 * order * inside * shares, by_weight


def cp_adam(
    V: Array, w: Array, X: Array, order: int, batch: int, rate: float
) -> tuple[Array, Array]:
    """Return V and w after Adam (Kingma and Ba 2015, Algorithm 1) on each batch of X."""
    x, m, v = [V, w], [0 * V, 0 * w], [0 * V, 0 * w]
    for t in range(1, len(X) // batch + 1):
        for i, g in enumerate(cp_gradient(x[0], x[1], X[(t - 1) * batch : t * batch], order)):
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.999 * v[i] + 0.001 * g**2
            m_hat, v_hat = m[i] / (1 - 0.9**t), v[i] / (1 - 0.999**t)
            x[i] = x[i] - rate * m_hat / (np.sqrt(v_hat) + 1e-8)
    return x[0], x[1]
