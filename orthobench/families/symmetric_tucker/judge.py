"""The judge of symmetric Tucker decomposition: errors on fresh samples, gradient on the data."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from orthobench.contract.problem import Solution
from orthobench.families.symmetric_tucker.data_tensors import DataTensor
from orthobench.families.symmetric_tucker.solution import ComponentSolution
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import drift, polar, subspace_error, unit_columns


class Judge:
    """Measures decompositions on the test data, and on the data that solvers see.

    Parameters
    ----------
    test : DataTensor
        Metrics are reported on it: of fresh samples, or of the data themselves.
    train : DataTensor, optional
        The data that solvers see; None for an endless stream.
    validation : DataTensor, optional
        Of the fresh samples that parameters are tuned on.
    basis : ndarray, shape (n, r*), optional
        The true basis Q*.

    Notes
    -----
    A call costs 2pn(r + N) flops for each moment of p samples, N = C(r + d - 2, d - 1), or about
    2 n^d r for each tensor. Once |X|² of the test and the validation data is computed, in at most
    p²n flops up to p = 10,000, and linearly many beyond: where the exact value would cost more, it
    is estimated from 384p pairs of samples, in 1024pn flops (`sample_moments.norm_is_dear`).
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

        ``relative_error`` is |X̂ - X|² / |X|² on the test data, for a basis with the best core
        there (equation 18), for components as they are; section 4.5 gives this name to the squared
        ratio. Where |X|² is estimated, ``relative_error_standard_error`` is the standard error
        that this gives to ``relative_error``: one error for all solvers, who share |X|². With
        validation data there is ``validation_relative_error``. Bases also have:

        - ``objective``: F on the test data. For samples it is the sum of the entries of
          (X'QQ'X)^[d] over p², where section 4.4 misprints the norm for the sum.
        - ``objective_ratio``: F(Q) / F(Q*) there, where the true basis is known (figure 5); above
          one where Q has more columns, or fits the test samples better.
        - ``subspace_error``: |(I - QQ')Q*|_F, where the true basis is known. The paper's
          |QQ' - Q*Q*'| is √2 times that where the ranks are equal.
        - ``relative_gradient``: |(I - QQ')∇F| / F on the data that solvers see, unless they are an
          endless stream.
        """
        if isinstance(solution, ComponentSolution):
            error = self.test.relative_error(solution)
            return {"relative_error": error} | self._estimated(error) | self._tuning(solution)
        Q = solution.point
        both = self.test.objective_and_gradient(Q) if self.train is self.test else None
        objective = both[0] if both else self.test.objective(Q)
        error = self.test.error_from_objective(objective)
        metrics = {"relative_error": error, **self._estimated(error), "objective": objective}
        if self.basis is not None:
            metrics["objective_ratio"] = objective / self.true_objective
            metrics["subspace_error"] = subspace_error(Q, self.basis)
        if self.train is not None:
            metrics["relative_gradient"] = both[1] if both else self.train.relative_gradient(Q)
        return metrics | self._tuning(solution)

    def _estimated(self, error: float) -> dict[str, float]:
        if self.test.norm_error == 0:
            return {}
        relative = self.test.norm_error / self.test.norm_squared
        return {"relative_error_standard_error": abs(1 - error) * relative}

    def _tuning(self, solution: Solution) -> dict[str, float]:
        if self.validation is None:
            return {}
        return {"validation_relative_error": self.validation.relative_error(solution)}

    @cached_property
    def true_objective(self) -> float:
        """F(Q*) of the true basis on the test data."""
        return self.test.objective(np.asarray(self.basis))


def violation(solution: Solution) -> float:
    """Return |Q'Q - I|_F of a basis; for components, the largest deviation from unit length."""
    if isinstance(solution, ComponentSolution):
        return float(np.abs(np.linalg.norm(solution.point, axis=0) - 1).max())
    return drift(solution.point)


def nearest(solution: Solution) -> Solution:
    """Return a basis with orthonormal columns, or components of unit length."""
    retract = unit_columns if isinstance(solution, ComponentSolution) else polar
    return replace(solution, point=retract(solution.point))
