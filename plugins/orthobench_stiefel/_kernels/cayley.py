"""The Cayley curve through a point of the Stiefel manifold."""

from __future__ import annotations

from typing import Any

from orthobench_kit.stacks import sizes, transposed

from orthobench.contract import flops, identity, namespace


class CayleyCurve:
    """The curve Y(t) = (I + tA/2)⁻¹ (I - tA/2) X with the skew A = GX' - XG'.

    Its points have orthonormal columns, and Y'(0) = -AX. Where 2p < n it is computed in the form
    of Wen and Yin's Lemma 4, with U = [G, X] and V = [X, -G]:
    Y(t) = X - t U (I + t V'U / 2)⁻¹ V'X, whose system has size 2p. The blocks of V'U are X'G, its
    transpose, G'G and X'X = I.

    Parameters
    ----------
    X : array, shape (n, p) or (m, n, p)
        Orthonormal columns.
    G : array, of the shape of X

    Attributes
    ----------
    slope : array, of the shape of X
        AX = G - XG'X, minus the derivative at zero.

    Notes
    -----
    Once 6np² flops, then for each point 4np² + 40p³/3; where 2p >= n once 6n²p, then 2n³/3 + 2n²p
    for each point. Memory 3np + 4p², or 2n² + 2np. All that for each matrix of a stack.
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
