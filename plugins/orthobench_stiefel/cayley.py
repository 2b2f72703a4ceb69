"""The Cayley curve through a point of the Stiefel manifold."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array, flops


class CayleyCurve:
    """The curve Y(t) = (I + tA/2)⁻¹ (I - tA/2) X with the skew A = GX' - XG'.

    Its points have orthonormal columns, and Y'(0) = -AX. Where 2p < n it is computed in the form
    of Wen and Yin's Lemma 4, with U = [G, X] and V = [X, -G]:
    Y(t) = X - t U (I + t V'U / 2)⁻¹ V'X, whose system has size 2p. The blocks of V'U are X'G, its
    transpose, G'G and X'X = I.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        Orthonormal columns.
    G : ndarray, shape (n, p)

    Attributes
    ----------
    slope : ndarray, shape (n, p)
        AX = G - XG'X, minus the derivative at zero.

    Notes
    -----
    Once 6np² flops, then for each point 4np² + 40p³/3; where 2p >= n once 6n²p, then 2n³/3 + 2n²p
    for each point. Memory 3np + 4p², or 2n² + 2np.
    """

    def __init__(self, X: Array, G: Array) -> None:
        self.X, self.G = X, G
        n, p = X.shape
        self.small = 2 * p < n
        XG = X.T @ G
        self.slope: Array = G - X @ XG.T
        self.flops = 2 * flops.gemm(p, p, n) + G.size
        if self.small:
            self._system: Array = np.block([[XG, np.eye(p)], [-(G.T @ G), -XG.T]])
            self._right = np.vstack([np.eye(p), -XG.T])
            self.flops += flops.gemm(p, p, n)
            self.point_flops = 2 * flops.gemm(n, p, p) + 3 * G.size + 40 * p**3 // 3 + 8 * p * p
        else:
            B = G @ X.T
            self._system = B - B.T
            self.flops += flops.gemm(n, n, p) + n * n
            self.point_flops = 2 * n**3 // 3 + flops.gemm(n, p, n) + 2 * G.size + 2 * n * n

    def __call__(self, t: float) -> Array:
        """Return Y(t), a fresh array."""
        M = np.eye(len(self._system)) + (t / 2) * self._system
        if not self.small:
            moved = np.linalg.solve(M, self.X - (t / 2) * self.slope)
            return moved.astype(np.float64, copy=False)
        W, p = np.linalg.solve(M, self._right), self.X.shape[1]
        point: Array = self.X - t * (self.G @ W[:p] + self.X @ W[p:])
        return point
