"""The judge of symmetric Tucker decomposition, and the tensors that it measures on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property

import numpy as np
from orthobench_kit.geometry import subspace_error

from orthobench.contract.problem import Solution
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import drift, polar, unit_columns
from orthobench_tucker import sample_moments
from orthobench_tucker.oracle import ComponentSolution
from orthobench_tucker.sample_moments import core_norm_squared, full_core, gradient, integer_power


class DataTensor(ABC):
    """A symmetric tensor X of order d, on which solutions are measured."""

    def __init__(self, order: int) -> None:
        self.order = order

    @property
    @abstractmethod
    def norm_squared(self) -> float:
        """|X|²."""

    @property
    def norm_error(self) -> float:
        """The standard error of `norm_squared`."""
        return 0.0

    @abstractmethod
    def partial_core(self, Q: Array) -> Array:
        """Return X ·(I, Q, ..., Q), shape (n, N)."""

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

        X̂ is X ·(QQ', ..., QQ') for a basis, or the sum of components (Jin et al. 2022, section 4.5
        and equation 18). Values below about 1e-15 are rounding.
        """
        if isinstance(solution, ComponentSolution):
            return max(0.0, self._component_residual(solution) / self.norm_squared)
        return self.error_from_objective(self.objective(solution.point))

    def error_from_objective(self, objective: float) -> float:
        """Return 1 - F(Q) / |X|²."""
        return max(0.0, 1 - objective / self.norm_squared)

    def _component_residual(self, solution: ComponentSolution) -> float:
        V, w = solution.point, np.asarray(solution.weights)
        own = w @ integer_power(V.T @ V, self.order) @ w
        return float(self.norm_squared - 2 * (w @ self.contracted(V)) + own)

    def relative_gradient(self, Q: Array) -> float:
        """Return |(I - QQ') ∇F(Q)| / F(Q) (section 4.2); zero if F is zero."""
        return self.objective_and_gradient(Q)[1]

    def objective_and_gradient(self, Q: Array) -> tuple[float, float]:
        """Return both at about the cost of one."""
        W = self.partial_core(Q)
        S = Q.T @ W
        objective = core_norm_squared(S, self.order)
        if objective == 0:
            return 0.0, 0.0
        steepness = float(np.linalg.norm(gradient(W - Q @ S, S, self.order)))
        return objective, steepness / objective


class SampleMoment(DataTensor):
    """The moment M = (1/p) sum_i x_i ⊗ ... ⊗ x_i of samples X (p, n), never formed."""

    def __init__(self, X: Array, order: int) -> None:
        super().__init__(order)
        self.X = X

    @property
    def norm_squared(self) -> float:
        return self._norm_squared[0]

    @property
    def norm_error(self) -> float:
        return self._norm_squared[1]

    @cached_property
    def _norm_squared(self) -> tuple[float, float]:
        p, n = self.X.shape
        if sample_moments.norm_is_dear(p, n, self.order):
            return sample_moments.estimated_norm_squared(self.X, self.order)
        return sample_moments.moment_norm_squared(self.X, self.order), 0.0

    def partial_core(self, Q: Array) -> Array:
        return sample_moments.partial_core(self.X, Q, self.order)

    def contracted(self, V: Array) -> Array:
        return np.asarray(integer_power(self.X @ V, self.order).mean(axis=0))


class FullTensor(DataTensor):
    """A symmetric tensor with all its entries."""

    def __init__(self, T: Array) -> None:
        super().__init__(T.ndim)
        self.T = T

    @cached_property
    def norm_squared(self) -> float:
        return float(np.vdot(self.T, self.T))

    def partial_core(self, Q: Array) -> Array:
        return sample_moments.tensor_core(self.T, Q)

    def contracted(self, V: Array) -> Array:
        return np.array([self.core(v[:, None]).item() for v in V.T])


class Judge:
    """Measures decompositions on test data, and on the data that solvers see.

    Parameters
    ----------
    test : DataTensor
        Fresh samples, or the data themselves.
    train : DataTensor, optional
        Data that solvers see; None for an endless stream.
    validation : DataTensor, optional
        Data for tuning.
    basis : ndarray, shape (n, r*), optional
        The true basis Q*.

    Notes
    -----
    2pn(r + N) flops for each moment of p samples, N = C(r + d - 2, d - 1), or about 2 n^d r for a
    tensor. The first call also computes |X|²: p²n flops up to 3e9, else 64pn for an estimate.
    """

    def __init__(
        self,
        test: DataTensor,
        train: DataTensor | None = None,
        validation: DataTensor | None = None,
        basis: Array | None = None,
    ) -> None:
        self.test, self.train, self.validation, self.basis = test, train, validation, basis

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``relative_error``, the primary one, first.

        ``relative_error`` is |X̂ - X|² / |X|² on the test data. If |X|² is estimated,
        ``relative_error_standard_error`` is its standard error and its lower bound, the same for
        all solvers. With validation data there is ``validation_relative_error``. Bases also have:

        - ``objective``: F on the test data. For samples it is the sum of the entries of
          (X'QQ'X)^[d] over p²; section 4.4 misprints the norm for the sum.
        - ``objective_ratio``: F(Q) / F(Q*) there, if Q* is known (figure 5). It may exceed one.
        - ``subspace_error``: |(I - QQ')Q*|, if Q* is known. The paper's |QQ' - Q*Q*'| is √2 times
          that for equal ranks.
        - ``relative_gradient``: |(I - QQ')∇F| / F on the data that solvers see.
        """
        if isinstance(solution, ComponentSolution):
            error = self.test.relative_error(solution)
            return self._errors(error) | self._tuning(solution)
        Q = solution.point
        both = self.test.objective_and_gradient(Q) if self.train is self.test else None
        objective = both[0] if both else self.test.objective(Q)
        error = self.test.error_from_objective(objective)
        metrics = self._errors(error) | {"objective": objective}
        if self.basis is not None:
            metrics["objective_ratio"] = objective / self.true_objective
            metrics["subspace_error"] = subspace_error(Q, self.basis)
        if self.train is not None:
            metrics["relative_gradient"] = both[1] if both else self.train.relative_gradient(Q)
        return metrics | self._tuning(solution)

    def _errors(self, error: float) -> dict[str, float]:
        if self.test.norm_error == 0:
            return {"relative_error": error}
        standard = abs(1 - error) * self.test.norm_error / self.test.norm_squared
        return {"relative_error": max(error, standard), "relative_error_standard_error": standard}

    def _tuning(self, solution: Solution) -> dict[str, float]:
        if self.validation is None:
            return {}
        return {"validation_relative_error": self.validation.relative_error(solution)}

    @cached_property
    def true_objective(self) -> float:
        """F(Q*) of the true basis on the test data."""
        return self.test.objective(np.asarray(self.basis))


def violation(solution: Solution) -> float:
    """Return |Q'Q - I| of a basis, or the deviation of components from unit length."""
    if isinstance(solution, ComponentSolution):
        return float(np.abs(np.linalg.norm(solution.point, axis=0) - 1).max())
    return drift(solution.point)


def nearest(solution: Solution) -> Solution:
    """Return an orthonormal basis, or components of unit length."""
    retract = unit_columns if isinstance(solution, ComponentSolution) else polar
    return replace(solution, point=retract(solution.point))
