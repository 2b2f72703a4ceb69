"""The judge of symmetric Tucker decomposition: by moments never formed, or by full tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from orthobench.contract.solution import Solution
from orthobench.families.symmetric_tucker import full_tensors, sample_moments
from orthobench.families.symmetric_tucker.sample_moments import (
    core_square,
    expanded,
    gradient,
    inner_core,
    integer_power,
)
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import drift, subspace_error


@dataclass(frozen=True)
class ComponentSolution(Solution):
    """A symmetric CP decomposition sum_i w_i v_i ⊗ ... ⊗ v_i: no basis, but unit columns.

    Its `point` is V (n, r'), its `weights` w (r',); r' may be any number.
    """


class Measured(ABC):
    """A symmetric tensor X that the judge asks for what it needs.

    Parameters
    ----------
    order : int
    """

    def __init__(self, order: int) -> None:
        self.order = order

    @property
    @abstractmethod
    def square(self) -> float:
        """|X|²."""

    @abstractmethod
    def partial_core(self, Q: Array) -> Array:
        """Return X ·(I, Q, ..., Q), shape (n, N), a column for each monomial of degree d - 1."""

    @abstractmethod
    def at(self, V: Array) -> Array:
        """Return X ·(v, ..., v) for each column v of `V`."""

    def core(self, Q: Array) -> Array:
        """Return the core X ·(Q, ..., Q), shape (r,) * d."""
        return expanded(inner_core(self.partial_core(Q), Q), self.order)

    def objective(self, Q: Array) -> float:
        """Return F(Q) = |X ·(Q, ..., Q)|²."""
        return core_square(inner_core(self.partial_core(Q), Q), self.order)

    def error(self, solution: Solution) -> float:
        """Return |X̂ - X|² / |X|², without forming either.

        The squared ratio, which section 4.5 calls the relative error. Of a basis X̂ is
        X ·(QQ', ..., QQ') as in equation 18, and it is 1 - F(Q) / |X|². Below about 1e-15 it is
        rounding, and never negative.
        """
        if isinstance(solution, ComponentSolution):
            return max(0.0, self._component_residual(solution) / self.square)
        return self.relative(self.objective(solution.point))

    def relative(self, objective: float) -> float:
        """Return the relative error of a basis from its objective, 1 - F(Q) / |X|²."""
        return max(0.0, 1 - objective / self.square)

    def _component_residual(self, solution: ComponentSolution) -> float:
        V, w = solution.point, np.asarray(solution.weights)
        own = w @ integer_power(V.T @ V, self.order) @ w
        return float(self.square - 2 * (w @ self.at(V)) + own)

    def relative_gradient(self, Q: Array) -> float:
        """Return |(I - QQ') ∇F(Q)|_F / F(Q), the Riemannian gradient over F (section 4.2).

        Zero where F is, and so its gradient.
        """
        W = self.partial_core(Q)
        S = inner_core(W, Q)
        square = core_square(S, self.order)
        if square == 0:
            return 0.0
        return float(np.linalg.norm(gradient(W - Q @ S, S, self.order))) / square


class MeasuredMoment(Measured):
    """The moment of samples, never formed.

    Parameters
    ----------
    X : ndarray, shape (p, n)
    order : int
    """

    def __init__(self, X: Array, order: int) -> None:
        super().__init__(order)
        self.X = X

    @cached_property
    def square(self) -> float:
        """|M|² (equation 9)."""
        return sample_moments.moment_square(self.X, self.order)

    def partial_core(self, Q: Array) -> Array:
        """Return M ·(I, Q, ..., Q)."""
        return sample_moments.partial_core(self.X, Q, self.order)

    def at(self, V: Array) -> Array:
        """Return the mean of (v'x)^d for each column v."""
        return np.asarray(integer_power(self.X @ V, self.order).mean(axis=0))


class MeasuredTensor(Measured):
    """A tensor with all its entries.

    Parameters
    ----------
    T : ndarray, shape (n,) * d
    """

    def __init__(self, T: Array) -> None:
        super().__init__(T.ndim)
        self.T = T

    @cached_property
    def square(self) -> float:
        """|T|²."""
        return float(np.vdot(self.T, self.T))

    def partial_core(self, Q: Array) -> Array:
        """Return T ·(I, Q, ..., Q)."""
        return full_tensors.partial_core(self.T, Q)

    def at(self, V: Array) -> Array:
        """Return T ·(v, ..., v) for each column."""
        return np.array([self.core(v[:, None]).item() for v in V.T])


class Judge:
    """Measures decompositions on fresh samples, and on the data that solvers see.

    Parameters
    ----------
    test : Measured
        What is reported on.
    seen : Measured, optional
        What solvers see, where it has an end.
    validation : Measured, optional
        What parameters are tuned on.
    basis : ndarray, shape (n, r*), optional
        The true basis Q*.

    Notes
    -----
    Each tensor costs 2pn(r + N) flops a call, N = C(r + d - 2, d - 1), or about 2 n^d r; |X|²,
    of the test and the validation part, once what `sample_moments.moment_square` does.
    """

    def __init__(
        self,
        test: Measured,
        seen: Measured | None = None,
        validation: Measured | None = None,
        basis: Array | None = None,
    ) -> None:
        self.test, self.seen, self.validation, self.basis = test, seen, validation, basis

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; the relative error, the primary one, first.

        ``relative_error`` is |X̂ - X|² / |X|² on the test samples, with the best core there
        (equation 18), or of components as they are; section 4.5 calls the squared ratio so. With
        validation data ``validation_relative_error``. Of a basis also:

        - ``objective``: F on the test samples, the sum of the entries of (X'QQ'X)^[d] over p²
          (section 4.4, which prints the norm in place of the sum).
        - ``objective_ratio``: F(Q) / F(Q*) there, where the true basis is known (figure 5); above
          one where Q has more columns, or fits the samples better.
        - ``subspace_error``: |(I - QQ')Q*|_F, where the true basis is known: the paper's
          |QQ' - Q*Q*'| is √2 times that where the ranks are equal.
        - ``relative_gradient``: |(I - QQ')∇F| / F of the data that the solver sees, where they
          have an end.
        """
        if isinstance(solution, ComponentSolution):
            return {"relative_error": self.test.error(solution)} | self._tuning(solution)
        Q = solution.point
        objective = self.test.objective(Q)
        metrics = {"relative_error": self.test.relative(objective), "objective": objective}
        if self.basis is not None:
            metrics["objective_ratio"] = objective / self.attained
            metrics["subspace_error"] = subspace_error(Q, self.basis)
        if self.seen is not None:
            metrics["relative_gradient"] = self.seen.relative_gradient(Q)
        return metrics | self._tuning(solution)

    def _tuning(self, solution: Solution) -> dict[str, float]:
        if self.validation is None:
            return {}
        return {"validation_relative_error": self.validation.error(solution)}

    @cached_property
    def attained(self) -> float:
        """F(Q*) of the true basis on the test samples."""
        return self.test.objective(np.asarray(self.basis))


def violation(solution: Solution) -> float:
    """Return |Q'Q - I|_F of a basis; of components how far a column is from unit length."""
    if isinstance(solution, ComponentSolution):
        return float(np.abs(np.linalg.norm(solution.point, axis=0) - 1).max())
    return drift(solution.point)
