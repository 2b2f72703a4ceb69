"""The eight methods as anyone would first write them in numpy: what the solvers are held against.

Each takes the start (d, k), samples (n, d) and step sizes (n,), handles one sample after the
other, and returns its k leading directions (d, k) and the rank of its iterate after each sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from orthobench.tools.arrays import Array


class Run(NamedTuple):
    """What a plain run returns."""

    point: Array
    ranks: list[int]


def oja(start: Array, X: Array, etas: Array) -> Run:
    U = start
    for x, eta in zip(X, etas, strict=True):
        U = np.linalg.qr(U + eta * np.outer(x, x @ U))[0]
    return Run(U, [U.shape[1]] * len(X))


def grassmannian_sgd(start: Array, X: Array, etas: Array) -> Run:
    U = start
    for x, eta in zip(X, etas, strict=True):
        w = U.T @ x
        p = U @ w
        r = x - p
        size, left = np.linalg.norm(p), np.linalg.norm(r)
        angle = eta * size * left
        turn = (np.cos(angle) - 1) / size * p + np.sin(angle) / left * r
        U = U + np.outer(turn, w / size)
    return Run(U, [U.shape[1]] * len(X))


def batch_pca(start: Array, X: Array, etas: Array) -> Run:
    del etas
    k = start.shape[1]
    return Run(np.linalg.svd(X, full_matrices=False)[2][:k].T, [k] * len(X))


def msg(start: Array, X: Array, etas: Array) -> Run:
    return _spectral(start, X, etas, lambda s, k: np.clip(s + min(0.0, _shift(s, k)), 0, 1))


def capped_msg(start: Array, X: Array, etas: Array) -> Run:
    k = start.shape[1]
    return _spectral(start, X, etas, lambda s, k: np.clip(s + _shift(s, k), 0, 1), most=k + 1)


def incremental_pca(start: Array, X: Array, etas: Array) -> Run:
    k = start.shape[1]
    return _spectral(start, X, np.ones_like(etas), lambda s, _: s, most=k, first=0.0)


def warmuth_kuzmin(start: Array, X: Array, etas: Array) -> Run:
    return _spectral(start, X, etas, _entropic, first=np.log(10.0))


def meg(start: Array, X: Array, etas: Array) -> Run:
    """Keeps log M = U diag(s) U' + floor (I - UU'), begun at M = (k/d) I."""
    d, k = start.shape
    U, s, floor, ranks = np.empty((d, 0)), np.empty(0), np.log(k / d), []
    for x, eta in zip(X, etas, strict=True):
        U, s = _rank_one(U, s - floor, x, eta)
        s, floor = _capped_density(s + floor, floor, d - len(s), k)
        U, s = U[:, s > floor], s[s > floor]
        ranks.append(len(s))
    return Run(U[:, ::-1][:, :k], ranks)


def _spectral(
    start: Array,
    X: Array,
    etas: Array,
    project: Callable[[Array, int], Array],
    most: int | None = None,
    first: float = 1.0,
) -> Run:
    """Algorithm 1: rank-one eigen-updates by a dense eigendecomposition, then `project`."""
    k, ranks = start.shape[1], list[int]()
    U, s = (start, np.full(k, first)) if first else (start[:, :0], np.empty(0))
    for x, eta in zip(X, etas, strict=True):
        U, s = _rank_one(U, s, x, eta)
        if most is not None:
            U, s = U[:, -most:], s[-most:]
        s = project(s, k)
        U, s = U[:, s > 0], s[s > 0]
        ranks.append(len(s))
    return Run(U[:, ::-1][:, :k], ranks)


def _rank_one(U: Array, s: Array, x: Array, eta: float) -> tuple[Array, Array]:
    """Return the eigenvectors and ascending eigenvalues of U diag(s) U' + eta xx'."""
    m = len(s)
    x = np.sqrt(eta) * x
    z = U.T @ x
    r = x - U @ z
    left = np.linalg.norm(r)
    if left <= 1e-10 * np.linalg.norm(x):
        s, V = np.linalg.eigh(np.diag(s) + np.outer(z, z))
        return U @ V, s
    S = np.empty((m + 1, m + 1))
    S[:m, :m] = np.diag(s) + np.outer(z, z)
    S[m, :m] = S[:m, m] = left * z
    S[m, m] = left * left
    s, V = np.linalg.eigh(S)
    return np.column_stack([U, r / left]) @ V, s


def _shift(s: Array, k: int) -> float:
    """Return the S with sum(clip(s + S, 0, 1)) = k; zero where that cannot be."""
    if len(s) <= k:
        return 0.0
    knots = np.sort(np.concatenate([-s, 1 - s]))
    sums = np.clip(s + knots[:, None], 0, 1).sum(axis=1)
    return float(np.interp(k, sums, knots))


def _entropic(s: Array, k: int) -> Array:
    """Project s = -log(1 - eigenvalues of M), ascending: max(0, s - gamma)."""
    if -np.expm1(-s).sum() <= k:
        return s
    s_down = s[::-1]
    logsums = np.logaddexp.accumulate(-s_down)
    kept = np.arange(k + 1, len(s) + 1)
    gammas = np.log(kept - k) - logsums[k:]
    after = np.append(s_down[k + 1 :], -np.inf)
    gamma = gammas[np.argmax(gammas >= after)]
    return np.maximum(0.0, s - gamma)


def _capped_density(s: Array, floor: float, others: int, k: int) -> tuple[Array, float]:
    """Project s = log eigenvalues of M, ascending: min(0, s + S) with the trace k."""
    down = np.exp(s[::-1])
    total = others * np.exp(floor) + down.sum()
    for ones in range(k):
        shift = np.log((k - ones) / total)
        if s[-1 - ones] + shift <= 0:
            break
        total -= down[ones]
    return np.minimum(0.0, s + shift), floor + shift


PLAIN: dict[str, Callable[[Array, Array, Array], Run]] = {
    "msg": msg,
    "capped-msg": capped_msg,
    "meg": meg,
    "warmuth-kuzmin": warmuth_kuzmin,
    "incremental-pca": incremental_pca,
    "grassmannian-sgd": grassmannian_sgd,
    "oja": oja,
    "batch-pca": batch_pca,
}
