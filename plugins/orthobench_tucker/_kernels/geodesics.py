"""Geodesics of the Grassmannian, and parallel transport along them."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array, flops


class Geodesic:
    """The geodesic from the span of Q in a horizontal direction D = U Σ V'.

    Q(t) = Q V cos(Σt) V' + U sin(Σt) V', computed as Q plus a change, so that no digits are lost
    where t is small. Parallel transport along the geodesic multiplies tangent vectors (n, r) from
    the left only: with the bases Q(t) they keep their coordinates.

    Parameters
    ----------
    Q : ndarray, shape (n, r)
        Orthonormal.
    D : ndarray, shape (n, r)
        Q'D = 0.

    Attributes
    ----------
    longest : float
        The t at which the largest principal angle between Q(0) and Q(t) is π/2; up to it the
        geodesic is the shortest curve.

    Notes
    -----
    A thin SVD (n, r), and 2nr² flops (`geodesic_flops`).

    References
    ----------
    Edelman, Arias and Smith 1998, Theorems 2.3 and 2.4.
    """

    def __init__(self, Q: Array, D: Array) -> None:
        self.Q = Q
        self.U, self.angles, self.Vt = np.linalg.svd(D, full_matrices=False)
        self.QV = Q @ self.Vt.T
        self.longest = float(np.pi / 2 / self.angles[0]) if self.angles[0] > 0 else np.inf

    def at(self, t: float) -> Array:
        """Return Q(t), orthonormal up to the last bits.

        6nr² flops. A Newton step towards the polar factor, Q(3I - Q'Q)/2, keeps rounding errors
        from accumulating from one geodesic to the next.
        """
        turn = t * self.angles
        change = self.QV * (-2 * np.sin(turn / 2) ** 2) + self.U * np.sin(turn)
        Q = self.Q + change @ self.Vt
        return np.asarray(1.5 * Q - Q @ (0.5 * (Q.T @ Q)))

    def velocity(self, t: float) -> Array:
        """Return dQ/dt at t, which is D transported to Q(t); 2nr² flops."""
        turn = t * self.angles
        columns = (self.U * np.cos(turn) - self.QV * np.sin(turn)) * self.angles
        return np.asarray(columns @ self.Vt)

    def transport(self, X: Array, t: float) -> Array:
        """Return columns orthogonal to Q(0), moved to Q(t) by parallel transport, an isometry.

        Parameters
        ----------
        X : ndarray, shape (n, m)
            A tangent vector, or a basis of the complement of Q(0).
        t : float

        Notes
        -----
        `transport_flops`.
        """
        turn = t * self.angles
        columns = self.U * (-2 * np.sin(turn / 2) ** 2) - self.QV * np.sin(turn)
        return np.asarray(X + columns @ (self.U.T @ X))


def geodesic_flops(n: int, rank: int) -> int:
    """Return the flops of making a geodesic: a thin SVD and 2nr²."""
    return flops.svd(n, rank) + flops.gemm(n, rank, rank)


def arrival_flops(n: int, rank: int) -> int:
    """Return the flops of a point on a geodesic and a slope there: 8nr² + 12nr."""
    return 4 * flops.gemm(n, rank, rank) + 12 * n * rank


def transport_flops(n: int, rank: int, columns: int) -> int:
    """Return the flops of transporting m = `columns` columns: 4nrm + 3nr + nm."""
    return 2 * flops.gemm(n, rank, columns) + 3 * n * rank + n * columns
