"""The Cayley curve through a point of the Stiefel manifold."""

from __future__ import annotations

from typing import Any

from orthobench.contract import flops, identity, namespace


class CayleyCurve:
    """The curve Y(t) = (I + tA/2)⁻¹ (I - tA/2) X with the skew A = GX' - XG'.

    Its points have orthonormal columns, and Y'(0) = -AX. Where 2p < n it is computed in the form
    of Wen and Yin's Lemma 4, with U = [G, X] and V = [X, -G]:
    Y(t) = X - t U (I + t V'U / 2)⁻¹ V'X, whose system has size 2p. The blocks of V'U are X'G, its
    transpose, G'G and X'X = I.

    Parameters
    ----------
    X : array, shape (n, p)
        Orthonormal columns.
    G : array, shape (n, p)

    Attributes
    ----------
    slope : array, shape (n, p)
        AX = G - XG'X, minus the derivative at zero.

    Notes
    -----
    Once 6np² flops, then for each point 4np² + 40p³/3; where 2p >= n once 6n²p, then 2n³/3 + 2n²p
    for each point. Memory 3np + 4p², or 2n² + 2np.
    """

    def __init__(self, X: Any, G: Any) -> None:
        self.X, self.G = X, G
        xp, (n, p) = namespace(X), X.shape
        self.small = 2 * p < n
        XG = X.T @ G
        self.slope = G - X @ XG.T
        self.flops = 2 * flops.gemm(p, p, n) + n * p
        if self.small:
            self._right = xp.concat([identity(p, X), -XG.T])
            left = xp.concat([XG, -(G.T @ G)])
            self._system = xp.concat([left, self._right], axis=1)
            self.flops += flops.gemm(p, p, n)
            self.point_flops = 2 * flops.gemm(n, p, p) + 3 * n * p + 40 * p**3 // 3 + 8 * p * p
        else:
            B = G @ X.T
            self._system = B - B.T
            self.flops += flops.gemm(n, n, p) + n * n
            self.point_flops = 2 * n**3 // 3 + flops.gemm(n, p, n) + 2 * n * p + 2 * n * n

    def __call__(self, t: float) -> Any:
        """Return Y(t), a fresh array."""
        solve, p = namespace(self.X).linalg.solve, self.X.shape[1]
        M = identity(self._system.shape[0], self.X) + (t / 2) * self._system
        if not self.small:
            return solve(M, self.X - (t / 2) * self.slope)
        W = solve(M, self._right)
        return self.X - t * (self.G @ W[:p, :] + self.X @ W[p:, :])
