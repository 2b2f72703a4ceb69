"""Objectives on a manifold for Pymanopt: value, gradient, Hessian-vector products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from orthobench_stiefel import StiefelOracle
from orthobench_tucker import SymmetricTensorOracle, sample_moments

from orthobench.contract import Array, Oracle, UsageError, flops
from orthobench_pymanopt.manifolds import FlopCounter, grassmann, stiefel

STEP = 1e-5
"""Step of central differences of a gradient."""


class ManifoldOracle(Oracle):
    """An oracle of a smooth function on the Stiefel manifold or on subspaces.

    Oracles that Pymanopt can use are registered as virtual subclasses.
    """


ManifoldOracle.register(StiefelOracle)  # type: ignore[type-abstract]
ManifoldOracle.register(SymmetricTensorOracle)  # type: ignore[type-abstract]


class Objective(FlopCounter, ABC):
    """A function to be minimized on a manifold, which counts its flops.

    `calls` are evaluations of values and gradients on the Stiefel manifold.
    """

    calls: int = 0

    @abstractmethod
    def manifold(self) -> Any:
        """Return Pymanopt's manifold, whose operations add their flops to `counted`."""

    @abstractmethod
    def value(self, U: Array) -> float:
        """Return the value of the function."""

    @abstractmethod
    def gradient(self, U: Array) -> Array:
        """Return the matrix of partial derivatives."""

    def scale(self, U: Array) -> float:
        """Return the unit of the gradient tolerance; here one."""
        return 1.0

    def hessian(self, U: Array, V: Array) -> Array:
        """Return the derivative of the gradient in the direction V, by central differences."""
        size = float(np.linalg.norm(V))
        if size == 0:
            return np.zeros_like(V)
        self.counted += 7 * V.size
        step = STEP / size * V
        difference = self.gradient(U + step) - self.gradient(U - step)
        return difference * (size / (2 * STEP))


class StiefelObjective(Objective):
    """The cost of an oracle with a gradient on the Stiefel manifold or the orthogonal group.

    The last value is kept for the next step.
    """

    def __init__(self, oracle: StiefelOracle) -> None:
        super().__init__()
        self.oracle = oracle
        self.unit = 1.0
        self._last: tuple[Array, float] | None = None

    def manifold(self) -> Any:
        return stiefel(self.oracle.n, self.oracle.k, self)

    def value(self, U: Array) -> float:
        if self._last is None or self._last[0] is not U:
            self.counted += self.oracle.cost_flops
            self.calls += self.oracle.terms
            self._last = U, self.oracle.value(U) / self.unit
        return self._last[1]

    def gradient(self, U: Array) -> Any:
        self.counted += self.oracle.gradient_flops
        self.calls += self.oracle.terms
        return self.oracle.gradient(U) / self.unit

    def hessian(self, U: Array, V: Array) -> Array:
        """Return the oracle's Hessian product, or central differences if it has none."""
        if self.oracle.hessian is None:
            return super().hessian(U, V)
        self.counted += self.oracle.hessian_flops
        self.calls += self.oracle.terms
        return self.oracle.hessian(U, V) / self.unit

    def scale(self, U: Array) -> float:
        """Return one, with gradients scaled to norm one.

        Pymanopt compares with fixed numbers.
        """
        self.unit = float(np.linalg.norm(self.gradient(U))) or 1.0
        return 1.0


class TuckerObjective(Objective):
    """-F(Q) = -|X ·(Q, ..., Q)|² on Grassmann(n, r), divided by F at the start (n, r).

    From the samples if there are any, else from the tensor.
    """

    def __init__(self, oracle: SymmetricTensorOracle, start: Array) -> None:
        super().__init__()
        self.oracle, self.order = oracle, oracle.order
        self._last: tuple[Array, Array, Array] | None = None
        self.unit = 1.0
        self.unit = -self.value(start) or 1.0

    def manifold(self) -> Any:
        return grassmann(self.oracle.n, self.oracle.k, self)

    def value(self, U: Array) -> float:
        _, S = self._cores(U)
        return -sample_moments.core_norm_squared(S, self.order) / self.unit

    def gradient(self, U: Array) -> Array:
        W, S = self._cores(U)
        self.counted += flops.gemm(len(U), S.shape[1], len(S))
        return -sample_moments.gradient(W, S, self.order) / self.unit

    def _cores(self, U: Array) -> tuple[Array, Array]:
        if self._last is None or self._last[0] is not U:
            W, work = self.oracle.partial_core(U)
            self._last = U, W, U.T @ W
            self.counted += work.flops + flops.gemm(U.shape[1], W.shape[1], len(U))
        return self._last[1:]


class MomentObjective(Objective):
    """-tr(U'CU) on Grassmann(d, k), with the second moment C of samples, scaled to trace one."""

    def __init__(self, X: Array, k: int) -> None:
        super().__init__()
        self.n, self.k = X.shape[1], k
        C = X.T @ X
        self._moment: Array = C / C.trace()
        self.counted = flops.gemm(self.n, self.n, len(X)) + self.n**2

    def manifold(self) -> Any:
        return grassmann(self.n, self.k, self)

    def value(self, U: Array) -> float:
        self.counted += 2 * U.size
        return float(np.vdot(U, self.gradient(U))) / 2

    def gradient(self, U: Array) -> Array:
        self.counted += U.size + flops.gemm(self.n, self.k, self.n)
        product: Array = self._moment @ U
        return -2 * product

    def hessian(self, U: Array, V: Array) -> Array:
        return self.gradient(V)


def objective(oracle: Oracle, start: Array) -> Objective:
    """Return the objective of an oracle registered as a `ManifoldOracle`, or raise UsageError."""
    if isinstance(oracle, StiefelOracle):
        return StiefelObjective(oracle)
    if isinstance(oracle, SymmetricTensorOracle):
        return TuckerObjective(oracle, start)
    raise UsageError(f"Pymanopt takes no {type(oracle).__name__} here")
