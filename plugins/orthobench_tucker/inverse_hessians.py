"""Quasi-Newton approximations of the inverse Hessian of -F, carried along geodesics.

Both kinds are given pairs: s, a step, and y, the change of the gradient of -F along it, transported
to the end of the geodesic. Parallel transport carries what was learnt before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Protocol

import numpy as np

from orthobench.contract import Array, flops
from orthobench_tucker.geodesics import Geodesic, transport_flops
from orthobench_tucker.objective import Point
from orthobench_tucker.second_order import core_metric

CURVED = 1e-10
"""Least s'y, relative to |s| |y|, of a pair that is kept."""

OUTDATED = 2.0
"""By what factor the metric of the core may change before a matrix is begun anew."""


class InverseHessian(Protocol):
    """An approximation H of (-Hess F)^-1 at a point."""

    @property
    def blank(self) -> bool:
        """Whether it has learnt nothing yet."""

    def direction(self, point: Point) -> Array:
        """Return H grad F, a direction of ascent, horizontal."""

    def move(self, geodesic: Geodesic, t: float, s: Array, y: Array) -> None:
        """Carry H along a geodesic, and update it with the pair (s, y) at its end.

        A pair that shows no curvature, s'y <= 1e-10 |s| |y|, is left out: H stays positive
        definite, as the strong Wolfe conditions have it in exact arithmetic.
        """

    def outdated(self, point: Point) -> bool:
        """Return whether it had better be begun anew at a point."""

    def cost(self, n: int, r: int) -> int:
        """Flops of `direction` and `move`, with what it holds now."""


@dataclass(slots=True)
class LimitedMemory:
    """L-BFGS: the last pairs, each a tangent vector (n, r), transported with the point.

    The first H is a multiple of the inverse M of the present core's metric
    (`orthobench_tucker.second_order.core_metric`), or of the identity: s'y / y'My times it, of the
    last pair.

    Parameters
    ----------
    memory : int
        Pairs kept, at most.
    preconditioned : bool

    Notes
    -----
    Memory 2nr doubles a pair.

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
        """Return H grad F by the two loops."""
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
        """Transport the pairs, drop the oldest, and add the new one."""
        self.pairs = [(geodesic.transport(a, t), geodesic.transport(b, t)) for a, b in self.pairs]
        if curved(s, y):
            self.pairs = [*self.pairs, (s, y)][-self.memory :]

    def outdated(self, point: Point) -> bool:
        """Return False: its first H is that of the present point."""
        del point
        return False

    def cost(self, n: int, r: int) -> int:
        """Flops of `direction` and `move`: 12nr and two transports a pair, and the metric.

        It is applied once, and to the last pair; 12nr also for the slope and the curvature.
        """
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
    """BFGS in local coordinates: H is a matrix, of tangent vectors written in a moving frame.

    With Z (n, n - r) an orthonormal basis of the complement of Q, the coordinates of V are Z'V.
    Parallel transport of Z leaves coordinates, and so the matrix, as they are.

    The first H is that of `core_metric`, or a multiple of the identity. A matrix that began from
    the core of a distant point misleads for hundreds of steps: where the metric of the core has
    changed by more than a factor of two since, in any direction, it is begun anew.

    Parameters
    ----------
    preconditioned : bool
    Z : ndarray, shape (n, n - r)
    H : ndarray, shape (k, k), k = (n - r) r
    metric : ndarray, shape (r, r)
        The inverse of the metric of the core that H began from.
    blank : bool

    Notes
    -----
    Memory 2k² doubles while it is updated.

    References
    ----------
    Savas and Lim 2010, in local coordinates, where BFGS has the optimality of the usual one. That
    H begins from the core, and is begun anew, is this project's.
    """

    preconditioned: bool
    Z: Array
    H: Array
    metric: Array
    blank: bool = True

    @classmethod
    def at(cls, point: Point, preconditioned: bool) -> LocalMatrix:
        """Return the first approximation."""
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
        """Transport the frame, and update H, which before the first pair is scaled to it."""
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
        """Return whether the metric of the core is another than the one that H began from."""
        if not self.preconditioned:
            return False
        metric, scale = core_metric(point.B, self.preconditioned)
        ratios = np.linalg.eigvals(np.linalg.solve(metric / scale, self.metric)).real
        return bool(ratios.max() > OUTDATED or ratios.min() < 1 / OUTDATED)

    def cost(self, n: int, r: int) -> int:
        """Flops of `direction` and `move`: 7k² for the matrix, 10n(n - r)r + 4nr² for the frame."""
        k = (n - r) * r
        frame = 3 * flops.gemm(n, n - r, r) + 2 * flops.gemm(n, r, r)
        return 7 * k * k + frame + transport_flops(n, r, n - r)

    def _coordinates(self, V: Array) -> Array:
        return np.asarray((self.Z.T @ V).ravel())


def curved(s: Array, y: Array) -> bool:
    """Return whether a pair shows curvature, s'y > 1e-10 |s| |y|."""
    return bool(np.vdot(s, y) > CURVED * sqrt(np.vdot(s, s) * np.vdot(y, y)))
