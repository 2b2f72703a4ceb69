"""The judge of symmetric Tucker decomposition: by moments never formed, or by full tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from orthobench.arrays import Array
from orthobench.families import full_tensors, sample_moments
from orthobench.families.sample_moments import (
    core_square,
    expanded,
    gradient,
    inner_core,
    integer_power,
)
from orthobench.geometry import drift, subspace_error
from orthobench.solution import Solution


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
        X ·(QQ', ..., QQ') as in equation 18, and it is 1 - F(Q) / |X|².
        """
        if isinstance(solution, ComponentSolution):
            return self._component_error(solution) / self.square
        return 1 - self.objective(solution.point) / self.square

    def _component_error(self, solution: ComponentSolution) -> float:
        V, w = solution.point, np.asarray(solution.weights)
        own = w @ integer_power(V.T @ V, self.order) @ w
        return float(self.square - 2 * (w @ self.at(V)) + own)

    def relative_gradient(self, Q: Array) -> float:
        """Return |(I - QQ') ∇F(Q)|_F / F(Q); zero where both are (section 4.2)."""
        W = self.partial_core(Q)
        S = inner_core(W, Q)
        G = gradient(W - Q @ S, S, self.order)
        length = float(np.linalg.norm(G - Q @ (Q.T @ G)))
        return length / core_square(S, self.order) if length else 0.0


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
        The true basis.

    Notes
    -----
    Each tensor costs 2pn(r + N) flops a call, N = C(r + d - 2, d - 1), or about 2 n^d r.
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
        (equation 18), or of components as they are. Of a basis also ``objective``, F on the test
        samples; ``relative_gradient``, |(I - QQ')∇F| / F of the data that the solver sees;
        ``subspace_error``, |(I - QQ')Q*|_F, where the true basis is known: the paper's
        |QQ' - Q*Q*'| is √2 times that where the ranks are equal. With validation data
        ``validation_relative_error``.
        """
        metrics = {"relative_error": self.test.error(solution)}
        if self.validation is not None:
            metrics["validation_relative_error"] = self.validation.error(solution)
        if isinstance(solution, ComponentSolution):
            return metrics
        Q = solution.point
        metrics["objective"] = (1 - metrics["relative_error"]) * self.test.square
        if self.seen is not None:
            metrics["relative_gradient"] = self.seen.relative_gradient(Q)
        if self.basis is not None:
            metrics["subspace_error"] = subspace_error(Q, self.basis)
        return metrics


def violation(solution: Solution) -> float:
    """Return |Q'Q - I|_F of a basis; of components how far a column is from unit length."""
    if isinstance(solution, ComponentSolution):
        return float(np.abs(np.linalg.norm(solution.point, axis=0) - 1).max())
    return drift(solution.point)
