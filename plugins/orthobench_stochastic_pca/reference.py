"""The methods in plain NumPy, one sample after another, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from orthobench.contract import Array


class Spectrum(NamedTuple):
    """The matrix U diag(s) U' + floor (I - UU') with ascending s."""

    U: Array
    s: Array
    k: int
    floor: float = 0.0


class Method(NamedTuple):
    """Functions that make the first iterate of a start, the next, and a basis (d, k)."""

    begin: Callable[[Array], Any]
    step: Callable[[Any, Array, float], Any]
    read: Callable[[Any], Array]


def oja(U: Array, x: Array, eta: float) -> Array:
    """Return the Q factor of U + eta xx'U."""
    return np.linalg.qr(U + eta * np.outer(x, x @ U))[0]


def grassmannian_sgd(U: Array, x: Array, eta: float) -> Array:
    """Rotate U in the plane of p = UU'x and r = x - p by eta |p||r|."""
    w = U.T @ x
    p = U @ w
    r = x - p
    size, left = np.linalg.norm(p), np.linalg.norm(r)
    if size == 0 or left <= 1e-10 * size:
        return U
    angle = eta * size * left
    turn = (np.cos(angle) - 1) / size * p + np.sin(angle) / left * r
    return np.asarray(U + np.outer(turn, w / size))


def msg(M: Spectrum, x: Array, eta: float) -> Spectrum:
    """Shift eigenvalues down to the sum k, and clip them to [0, 1]."""
    U, V, s = rank_one(M.U, M.s, x, eta)
    return _positive(U, V, np.clip(s + min(0.0, _shift(s, M.k)), 0, 1), M.k)


def capped_msg(M: Spectrum, x: Array, eta: float) -> Spectrum:
    """Do so with the k + 1 largest eigenvalues, up or down."""
    U, V, s = rank_one(M.U, M.s, x, eta)
    V, s = V[:, -M.k - 1 :], s[-M.k - 1 :]
    return _positive(U, V, np.clip(s + _shift(s, M.k), 0, 1), M.k)


def incremental_pca(M: Spectrum, x: Array, eta: float) -> Spectrum:
    """Keep the k largest eigenvalues of M + xx'."""
    del eta
    U, V, s = rank_one(M.U, M.s, x, 1.0)
    return _positive(U, V[:, -M.k :], s[-M.k :], M.k)


def warmuth_kuzmin(M: Spectrum, x: Array, eta: float) -> Spectrum:
    """Lower the eigenvalues of -log(I - M), so that those of M sum to at most k."""
    U, V, s = rank_one(M.U, M.s, x, eta)
    if -np.expm1(-s).sum() > M.k:
        down, kept = s[::-1], np.arange(M.k + 1, len(s) + 1)
        gammas = np.log(kept - M.k) - np.logaddexp.accumulate(-down)[M.k :]
        after = np.append(down[M.k + 1 :], -np.inf)
        s = np.maximum(0.0, s - gammas[np.argmax(gammas >= after)])
    return _positive(U, V, s, M.k)


def meg(M: Spectrum, x: Array, eta: float) -> Spectrum:
    """Shift the eigenvalues of log M, and cap them at zero, so that those of M sum to k."""
    U, V, s = rank_one(M.U, M.s - M.floor, x, eta)
    U = U @ V
    logs, shift = np.append(s[::-1], np.zeros(len(U) - len(s))) + M.floor, 0.0
    for ones in range(M.k):
        shift = np.log((M.k - ones) / np.exp(logs[ones:]).sum())
        if logs[ones] + shift <= 0:
            break
    s, floor = np.minimum(0.0, s + M.floor + shift), min(0.0, M.floor + shift)
    return Spectrum(U[:, s > floor], s[s > floor], M.k, floor)


def rank_one(U: Array, s: Array, x: Array, eta: float) -> tuple[Array, Array, Array]:
    """Return B, V and ascending s of the eigenvectors BV of U diag(s) U' + eta xx'."""
    x = np.sqrt(eta) * x
    z = U.T @ x
    r = x - U @ z
    left = np.linalg.norm(r)
    if left > 1e-10 * np.linalg.norm(x):
        U, s, z = np.column_stack([U, r / left]), np.append(s, 0.0), np.append(z, left)
    s, V = np.linalg.eigh(np.diag(s) + np.outer(z, z))
    return U, V, s


def _positive(U: Array, V: Array, s: Array, k: int) -> Spectrum:
    return Spectrum(U @ V[:, s > 0], s[s > 0], k)


def _shift(s: Array, k: int) -> float:
    """Return the S with sum(clip(s + S, 0, 1)) = k, or zero."""
    if len(s) <= k:
        return 0.0
    knots = np.sort(np.concatenate([-s, 1 - s]))
    sums = np.clip(s + knots[:, None], 0, 1).sum(axis=1)
    return float(np.interp(k, sums, knots))


def _on_start(value: float) -> Callable[[Array], Spectrum]:
    return lambda U: Spectrum(U, np.full(U.shape[1], value), U.shape[1])


def _zero(start: Array) -> Spectrum:
    return Spectrum(start[:, :0], np.empty(0), start.shape[1])


def _leading(M: Spectrum) -> Array:
    return M.U[:, ::-1][:, : M.k]


METHODS = {
    "msg": Method(_on_start(1.0), msg, _leading),
    "capped-msg": Method(_on_start(1.0), capped_msg, _leading),
    "meg": Method(lambda U: _zero(U)._replace(floor=np.log(U.shape[1] / len(U))), meg, _leading),
    "warmuth-kuzmin": Method(_on_start(np.log(10.0)), warmuth_kuzmin, _leading),
    "incremental-pca": Method(_zero, incremental_pca, _leading),
    "grassmannian-sgd": Method(np.copy, grassmannian_sgd, np.copy),
    "oja": Method(np.copy, oja, np.copy),
}
"""By the names of solvers."""


def batch_pca(X: Array, k: int) -> Array:
    """Return the leading right singular vectors of samples."""
    return np.linalg.svd(X, full_matrices=False)[2][:k].T
