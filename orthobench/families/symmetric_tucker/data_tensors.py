"""Data tensors, and what the judge computes of them: norms, errors, gradients and cores.

A data tensor X is a sample moment, which is never formed, or a tensor with all its entries.
Everything follows from its partial core X ·(I, Q, ..., Q) (`sample_moments`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from orthobench.contract.problem import Solution
from orthobench.families.symmetric_tucker import full_tensors, sample_moments
from orthobench.families.symmetric_tucker.sample_moments import (
    core_norm_squared,
    full_core,
    gradient,
    integer_power,
)
from orthobench.families.symmetric_tucker.solution import ComponentSolution
from orthobench.tools.arrays import Array


class DataTensor(ABC):
    """A symmetric tensor X of order d, that solutions are measured on.

    Parameters
    ----------
    order : int
        d.
    """

    def __init__(self, order: int) -> None:
        self.order = order

    @property
    @abstractmethod
    def norm_squared(self) -> float:
        """|X|²."""

    @property
    def norm_error(self) -> float:
        """The standard error of `norm_squared`; zero where that is exact."""
        return 0.0

    @abstractmethod
    def partial_core(self, Q: Array) -> Array:
        """Return X ·(I, Q, ..., Q), shape (n, N), a column for each monomial of degree d - 1."""

    @abstractmethod
    def contracted(self, V: Array) -> Array:
        """Return X ·(v, ..., v) for each column v of `V`, shape (m,)."""

    def core(self, Q: Array) -> Array:
        """Return the core X ·(Q, ..., Q), shape (r,) * d."""
        return full_core(Q.T @ self.partial_core(Q), self.order)

    def objective(self, Q: Array) -> float:
        """Return F(Q) = |X ·(Q, ..., Q)|²."""
        return core_norm_squared(Q.T @ self.partial_core(Q), self.order)

    def relative_error(self, solution: Solution) -> float:
        """Return |X̂ - X|² / |X|² of the approximation X̂ by a solution, without forming either.

        Section 4.5 of Jin et al. (2022) calls this squared ratio the relative error. For a basis X̂
        is X ·(QQ', ..., QQ') as in equation 18, for components their sum. Below about 1e-15 it is
        rounding, but never negative.
        """
        if isinstance(solution, ComponentSolution):
            return max(0.0, self._component_residual(solution) / self.norm_squared)
        return self.error_from_objective(self.objective(solution.point))

    def error_from_objective(self, objective: float) -> float:
        """Return the relative error of a basis from its objective, 1 - F(Q) / |X|²."""
        return max(0.0, 1 - objective / self.norm_squared)

    def _component_residual(self, solution: ComponentSolution) -> float:
        V, w = solution.point, np.asarray(solution.weights)
        own = w @ integer_power(V.T @ V, self.order) @ w
        return float(self.norm_squared - 2 * (w @ self.contracted(V)) + own)

    def relative_gradient(self, Q: Array) -> float:
        """Return |(I - QQ') ∇F(Q)|_F / F(Q), the Riemannian gradient relative to F (section 4.2).

        Zero where F is zero, since its gradient is zero there as well.
        """
        return self.objective_and_gradient(Q)[1]

    def objective_and_gradient(self, Q: Array) -> tuple[float, float]:
        """Return `objective` and `relative_gradient`, which have most of their cost in common."""
        W = self.partial_core(Q)
        S = Q.T @ W
        objective = core_norm_squared(S, self.order)
        if objective == 0:
            return 0.0, 0.0
        steepness = float(np.linalg.norm(gradient(W - Q @ S, S, self.order)))
        return objective, steepness / objective


class SampleMoment(DataTensor):
    """The moment M = (1/p) sum_i x_i ⊗ ... ⊗ x_i of samples, never formed.

    Parameters
    ----------
    X : ndarray, shape (p, n)
        Samples in rows.
    order : int
        d.
    """

    def __init__(self, X: Array, order: int) -> None:
        super().__init__(order)
        self.X = X

    @property
    def norm_squared(self) -> float:
        """|M|² (equation 9), estimated where it is dear (`sample_moments.norm_is_dear`)."""
        return self._norm_squared[0]

    @property
    def norm_error(self) -> float:
        """The standard error of that estimate; zero where |M|² is exact."""
        return self._norm_squared[1]

    @cached_property
    def _norm_squared(self) -> tuple[float, float]:
        p, n = self.X.shape
        if sample_moments.norm_is_dear(p, n, self.order):
            return sample_moments.estimated_norm_squared(self.X, self.order)
        return sample_moments.moment_norm_squared(self.X, self.order), 0.0

    def partial_core(self, Q: Array) -> Array:
        """Return M ·(I, Q, ..., Q)."""
        return sample_moments.partial_core(self.X, Q, self.order)

    def contracted(self, V: Array) -> Array:
        """Return the mean of (v'x)^d for each column v."""
        return np.asarray(integer_power(self.X @ V, self.order).mean(axis=0))


class FullTensor(DataTensor):
    """A symmetric tensor with all its entries.

    Parameters
    ----------
    T : ndarray, shape (n,) * d
    """

    def __init__(self, T: Array) -> None:
        super().__init__(T.ndim)
        self.T = T

    @cached_property
    def norm_squared(self) -> float:
        """|T|²."""
        return float(np.vdot(self.T, self.T))

    def partial_core(self, Q: Array) -> Array:
        """Return T ·(I, Q, ..., Q)."""
        return full_tensors.partial_core(self.T, Q)

    def contracted(self, V: Array) -> Array:
        """Return T ·(v, ..., v) for each column."""
        return np.array([self.core(v[:, None]).item() for v in V.T])
