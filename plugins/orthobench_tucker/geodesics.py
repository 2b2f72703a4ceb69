"""Geodesics of the Grassmannian, and inverse Hessians that are transported along them.

H approximates (-Hess F)^-1. Pairs (s, y) of a step and of the change of the gradient of -F along it
update H. It stays positive definite, since pairs with s'y <= 1e-10 |s| |y| are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from orthobench.contract import Array, flops
from orthobench_tucker.objective import Point, core_metric

CURVED = 1e-10
"""Minimum s'y, relative to |s| |y|, of a pair that is kept."""

OUTDATED = 2.0
"""Maximum factor of change of the core's metric."""


class Geodesic:
    """The geodesic from the span of Q (n, r) in a horizontal direction D = U Σ V', Q'D = 0.

    Q(t) = Q V cos(Σt) V' + U sin(Σt) V', computed as Q plus a change, which is accurate for small
    t. Tangent vectors keep their coordinates in the bases Q(t). At t = `longest` the largest
    principal angle between Q(0) and Q(t) is π/2. A thin SVD (n, r), and 2nr² flops.

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
        """Return Q(t), (n, r), after a Newton-Schulz step against rounding."""
        turn = t * self.angles
        change = self.QV * (-2 * np.sin(turn / 2) ** 2) + self.U * np.sin(turn)
        Q = self.Q + change @ self.Vt
        return np.asarray(1.5 * Q - Q @ (0.5 * (Q.T @ Q)))

    def velocity(self, t: float) -> Array:
        """Return dQ/dt at t."""
        turn = t * self.angles
        columns = (self.U * np.cos(turn) - self.QV * np.sin(turn)) * self.angles
        return np.asarray(columns @ self.Vt)

    def transport(self, X: Array, t: float) -> Array:
        """Return columns X (n, m) orthogonal to Q(0), transported to Q(t)."""
        turn = t * self.angles
        columns = self.U * (-2 * np.sin(turn / 2) ** 2) - self.QV * np.sin(turn)
        return np.asarray(X + columns @ (self.U.T @ X))


def geodesic_flops(n: int, rank: int) -> int:
    """Return the flops of making a geodesic."""
    return flops.svd(n, rank) + flops.gemm(n, rank, rank)


def arrival_flops(n: int, rank: int) -> int:
    """Return the flops of a point and a slope there: 8nr² + 12nr."""
    return 4 * flops.gemm(n, rank, rank) + 12 * n * rank


def transport_flops(n: int, rank: int, columns: int) -> int:
    """Return the flops of transporting m columns: 4nrm + 3nr + nm."""
    return 2 * flops.gemm(n, rank, columns) + 3 * n * rank + n * columns


@dataclass(slots=True)
class LimitedMemory:
    """L-BFGS: the last `memory` pairs of tangent vectors (n, r), transported with the point.

    The initial H is M times s'y / y'My, with the last pair (s, y) and M of `core_metric`. Memory:
    2nr doubles a pair.

    References
    ----------
    Savas and Lim 2010; Nocedal and Wright 2006, Algorithm 7.4. The metric is this project's.
    """

    memory: int
    preconditioned: bool
    pairs: list[tuple[Array, Array]] = field(default_factory=list)

    @property
    def blank(self) -> bool:
        """Whether there are no pairs."""
        return not self.pairs

    def direction(self, point: Point) -> Array:
        """Return H grad F."""
        M, scale = core_metric(point.B, self.preconditioned)
        V, shares = point.gradient.copy(), []
        for s, y in reversed(self.pairs):
            shares.append(np.vdot(s, V) / np.vdot(s, y))
            V -= shares[-1] * y
        V = V @ M * self._multiple(M, scale)
        for (s, y), share in zip(self.pairs, reversed(shares), strict=True):
            V += (share - np.vdot(y, V) / np.vdot(s, y)) * s
        return np.asarray(V)

    def move(self, geodesic: Geodesic, t: float, s: Array, y: Array) -> None:
        """Transport the pairs, and add the new one."""
        self.pairs = [(geodesic.transport(a, t), geodesic.transport(b, t)) for a, b in self.pairs]
        if curved(s, y):
            self.pairs = [*self.pairs, (s, y)][-self.memory :]

    def outdated(self, point: Point) -> bool:
        """Return False, since the initial H is that of the present point."""
        del point
        return False

    def step_flops(self, n: int, r: int) -> int:
        """Return the flops of `direction` and `move`."""
        each = 12 * n * r + 2 * transport_flops(n, r, r)
        applied = (1 + bool(self.pairs)) * flops.gemm(n, r, r)
        return len(self.pairs) * each + applied + flops.eigh(r) + 12 * n * r

    def _multiple(self, M: Array, scale: float) -> float:
        if not self.pairs:
            return 1 / scale
        s, y = self.pairs[-1]
        return float(np.vdot(s, y) / np.vdot(y, y @ M))


@dataclass(slots=True)
class LocalMatrix:
    """BFGS in local coordinates: H is a matrix (k, k) that acts on coordinates in a moving frame.

    The frame is an orthonormal basis Z (n, n - r) of the complement of Q, V has the coordinates
    Z'V, and k = (n - r) r. Transport of Z leaves coordinates and H unchanged. H is reset to that of
    `core_metric` if the metric of the core has changed by more than a factor of two. Memory: 2k²
    doubles during an update.

    References
    ----------
    Savas and Lim 2010, in local coordinates. The initial H and the reset are this project's.
    """

    preconditioned: bool
    Z: Array
    H: Array
    metric: Array
    blank: bool = True

    @classmethod
    def at(cls, point: Point, preconditioned: bool) -> LocalMatrix:
        """Return the initial approximation."""
        n, r = point.Q.shape
        metric, scale = core_metric(point.B, preconditioned)
        Z = np.ascontiguousarray(np.linalg.qr(point.Q, mode="complete")[0][:, r:])
        H = np.asarray(np.kron(np.eye(n - r), metric / scale), dtype=np.float64)
        return cls(preconditioned, Z, H, metric / scale)

    def direction(self, point: Point) -> Array:
        """Return H grad F."""
        V = self.Z @ (self.H @ self._coordinates(point.gradient)).reshape(self.Z.shape[1], -1)
        return np.asarray(V - point.Q @ (point.Q.T @ V))

    def move(self, geodesic: Geodesic, t: float, s: Array, y: Array) -> None:
        """Transport the frame, and update H."""
        self.Z = geodesic.transport(self.Z, t)
        if not curved(s, y):
            return
        a, b = self._coordinates(s), self._coordinates(y)
        inner, Hb = float(a @ b), self.H @ b
        if self.blank:
            factor = inner / float(b @ Hb)
            self.H *= factor
            Hb *= factor
        half = np.outer(a, ((1 + b @ Hb / inner) / 2 * a - Hb) / inner)
        self.H += half
        self.H += half.T
        self.blank = False

    def outdated(self, point: Point) -> bool:
        """Return whether the metric of the core has changed too much."""
        if not self.preconditioned:
            return False
        metric, scale = core_metric(point.B, self.preconditioned)
        ratios = np.linalg.eigvals(np.linalg.solve(metric / scale, self.metric)).real
        return bool(ratios.max() > OUTDATED or ratios.min() < 1 / OUTDATED)

    def step_flops(self, n: int, r: int) -> int:
        """Return the flops of `direction` and `move`."""
        k = (n - r) * r
        frame = 3 * flops.gemm(n, n - r, r) + 2 * flops.gemm(n, r, r)
        return 7 * k * k + frame + transport_flops(n, r, n - r)

    def _coordinates(self, V: Array) -> Array:
        return np.asarray((self.Z.T @ V).ravel())


def curved(s: Array, y: Array) -> bool:
    """Return whether a pair has curvature, s'y > 1e-10 |s| |y|."""
    return bool(np.vdot(s, y) > CURVED * sqrt(np.vdot(s, s) * np.vdot(y, y)))
