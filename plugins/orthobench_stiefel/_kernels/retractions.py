"""Retractions: maps from a tangent step D at X to a point near X + D with orthonormal columns.

Each takes X (n, p), or a stack, and D, and returns a fresh array and its flops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, log
from typing import Any, TypeAlias

import numpy as np
from orthobench_kit.arrays import inner, norm
from orthobench_kit.polar import gram, polynomial
from orthobench_kit.stacks import lengths, most, q_factor, sizes, transposed

from orthobench.contract import Array, flops, identity, is_plain, namespace
from orthobench_stiefel.descent import size_of

Retraction: TypeAlias = Callable[[Any, Any], tuple[Any, int]]

WIDE = 32
"""Minimum number of columns for Q factors by products of matrices."""

CLOSE = 1e-8
"""|Y'Y - I| from which one Newton-Schulz iteration reaches double precision."""

ITERATIONS = 60
"""Maximum number of Newton-Schulz iterations."""

QUADRATIC = 7
"""Number of Newton-Schulz iterations from singular values in [sqrt(1/2), sqrt(2)] to 1."""


def qr(X: Any, D: Any) -> tuple[Any, int]:
    """Return the Q factor of X + D, with a positive diagonal of R; 4np² - 4p³/3 flops."""
    m, n, p = sizes(X)
    factor = _compact_q if p >= WIDE and X.ndim == 2 and is_plain(X) else q_factor
    return factor(X + D), m * flops.qr(n, p) + 2 * size_of(X)


def _compact_q(Y: Array) -> Array:
    """Return the Q factor as I - VTV', in fast products of matrices."""
    from scipy.linalg.lapack import dgeqrt

    p = Y.shape[1]
    V, T, _ = dgeqrt(p, Y)
    signs = np.where(np.diagonal(V) < 0, -1.0, 1.0)
    V[:p] = np.tril(V[:p], -1) + np.eye(p)
    Q: Array = V @ (T @ (V[:p].T * -signs))
    Q[np.arange(p), np.arange(p)] += signs
    return Q


def polar(X: Any, D: Any) -> tuple[Any, int]:
    """Return Y (Y'Y)^(-1/2) for Y = X + D, by the eigenvectors of Y'Y; 4np² + 11p³ flops."""
    xp, (m, n, p) = namespace(X), sizes(X)
    Y = X + D
    values, V = xp.linalg.eigh(transposed(Y) @ Y)
    factor = (V / xp.expand_dims(xp.sqrt(values), axis=-2)) @ transposed(V)
    done = 2 * flops.gemm(n, p, p) + flops.eigh(p) + flops.gemm(p, p, p) + p * p + p + n * p
    return Y @ factor, m * done


def cayley(X: Any, D: Any) -> tuple[Any, int]:
    """Return the Cayley transform of PDX' - XD'P, P = I - XX'/2, applied to X.

    14np² + 40p³/3 flops. Rounding adds up over steps.
    """
    m, n, p = sizes(X)
    curve = CayleyCurve(X, X @ ((transposed(X) @ D) / 2) - D)
    done = curve.flops + curve.point_flops + 2 * flops.gemm(n, p, p) + n * p + p * p
    return curve(1.0), m * done


def newton_schulz(X: Any, D: Any) -> tuple[Any, int]:
    """Return the polar factor of X + D by Y <- Y (3I - Y'Y)/2; 4np² flops an iteration.

    Y is divided by sqrt(1 + |D|²) if that is above sqrt(2).
    """
    m, n, p = sizes(X)
    squared = most(lengths(D)) ** 2 if D.ndim > 2 else inner(D, D)
    Y, bound = X + D, float(np.sqrt(1 + float(squared)))
    if bound > np.sqrt(2):
        Y = Y / bound
    done, unit = 4 * m * n * p, identity(p, X)
    for _ in range(iterations(bound, X)):
        S = gram(Y)
        Y = Y @ polynomial(S)[0]
        done += m * (2 * flops.gemm(n, p, p) + 5 * p * p)
        if isinstance(Y, np.ndarray) and norm(S - unit) <= CLOSE:
            break
    return Y, done


def iterations(bound: float, X: Any) -> int:
    """Return the maximum number of iterations for a bound."""
    if isinstance(X, np.ndarray) or not bound < np.inf:
        return ITERATIONS
    return QUADRATIC + max(0, ceil(log(bound / np.sqrt(2), 1.5)))


def cholesky_qr(X: Any, D: Any) -> tuple[Any, int]:
    """Return Y L'⁻¹ for Y = X + D and Y'Y = LL', the Q factor up to eps cond(Y)².

    3np² + p³/3 flops.
    """
    (m, n, p), linalg = sizes(X), namespace(X).linalg
    Y = X + D
    L = linalg.cholesky(transposed(Y) @ Y)
    by_blas = Y.ndim == 2 and is_plain(Y)
    Q = _divided(Y, L) if by_blas else transposed(linalg.solve(L, transposed(Y)))
    return Q, m * (flops.gemm(n, p, p) + n * p * p + p**3 // 3 + n * p)


def _divided(Y: Array, L: Array) -> Array:
    from scipy.linalg.blas import dtrsm

    Q: Array = dtrsm(1.0, L.T, Y.T, trans_a=True, overwrite_b=True).T
    return Q


class CayleyCurve:
    """The curve Y(t) = (I + tA/2)⁻¹ (I - tA/2) X with the skew A = GX' - XG'.

    If 2p < n the system has size 2p (Wen and
    Yin, Lemma 4): Y(t) = X - t U (I + t V'U / 2)⁻¹ V'X with U = [G, X] and V = [X, -G].

    Parameters
    ----------
    X, G : array, shape (n, p) or (m, n, p)
        Orthonormal columns, and any matrix.

    Attributes
    ----------
    slope : array, of the shape of X
        AX = G - XG'X, minus the derivative at zero.

    Notes
    -----
    6np² flops, then 4np² + 40p³/3 for each point; if 2p >= n, 6n²p, then 2n³/3 + 2n²p. Memory 3np
    + 4p², or 2n² + 2np.
    """

    def __init__(self, X: Any, G: Any) -> None:
        self.X, self.G = X, G
        xp, (_, n, p) = namespace(X), sizes(X)
        self.small = 2 * p < n
        XG = transposed(X) @ G
        self.slope = G - X @ transposed(XG)
        self.flops = 2 * flops.gemm(p, p, n) + n * p
        if self.small:
            unit = xp.broadcast_to(identity(p, X), XG.shape)
            self._right = xp.concat([unit, -transposed(XG)], axis=-2)
            left = xp.concat([XG, -(transposed(G) @ G)], axis=-2)
            self._system = xp.concat([left, self._right], axis=-1)
            self.flops += flops.gemm(p, p, n)
            self.point_flops = 2 * flops.gemm(n, p, p) + 3 * n * p + 40 * p**3 // 3 + 8 * p * p
        else:
            B = G @ transposed(X)
            self._system = B - transposed(B)
            self.flops += flops.gemm(n, n, p) + n * n
            self.point_flops = 2 * n**3 // 3 + flops.gemm(n, p, n) + 2 * n * p + 2 * n * n

    def __call__(self, t: float) -> Any:
        """Return Y(t), a fresh array."""
        solve, p = namespace(self.X).linalg.solve, self.X.shape[-1]
        M = identity(self._system.shape[-1], self.X) + (t / 2) * self._system
        if not self.small:
            return solve(M, self.X - (t / 2) * self.slope)
        W = solve(M, self._right)
        return self.X - t * (self.G @ W[..., :p, :] + self.X @ W[..., p:, :])


RETRACTIONS: Mapping[str, Retraction] = {
    "qr": qr,
    "polar": polar,
    "cayley": cayley,
    "newton-schulz": newton_schulz,
    "cholesky-qr": cholesky_qr,
}
"""The retractions by name."""
