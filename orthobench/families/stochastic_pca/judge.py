"""The judge of stochastic PCA: suboptimality on the test data, and on the validation data."""

from __future__ import annotations

import numpy as np

from orthobench.contract.problem import Solution
from orthobench.families.second_moments import SecondMoment
from orthobench.families.stochastic_pca.solution import RelaxedSolution
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import subspace_error

RELAXED_METRICS = ("relaxed_suboptimality", "rank")
"""Metrics of a `RelaxedSolution` only."""


class Optimum:
    """The k-dimensional subspace of largest variance.

    Parameters
    ----------
    moment : SecondMoment
        C.
    k : int

    Attributes
    ----------
    value : float
        The largest tr(U'CU), the sum of the k largest eigenvalues of C.
    subspace : ndarray, shape (d, k)
        Their eigenvectors.
    """

    def __init__(self, moment: SecondMoment, k: int) -> None:
        self.moment = moment
        self.values, self.subspace = moment.leading(k)
        self.value = float(self.values.sum())

    def gap(self, U: Array) -> float:
        """Return the suboptimality of an orthonormal `U`, without cancellation.

        With the leading eigenpairs (Λ, S) the difference tr Λ - tr(U'CU) is
        ``sum_i λ_i |(I - UU')s_i|² - tr(W'CW)``, W = (I - SS')U. Both terms vanish with the
        square of the angle to the optimum, so that a gap far below the rounding of tr Λ is still
        computed to full relative accuracy. 8dk² flops and those of `variances`.
        """
        S = self.subspace
        missed = S - U @ (U.T @ S)
        gained = U - S @ (S.T @ U)
        lost = float(self.values @ np.einsum("ij,ij->j", missed, missed))
        return lost - float(self.moment.variances(gained).sum())


class Judge:
    """Measures solutions on data that no solver sees.

    Parameters
    ----------
    test : SecondMoment
        Of the test data or of the population; metrics are reported on it.
    k : int
        Dimension of the subspace.
    validation : SecondMoment, optional
        Of the data that parameters are tuned on.

    Notes
    -----
    The optima are computed once, by `SecondMoment.leading`, from second moments whose cost is
    linear in the number of samples beyond d (`second_moment`). A call costs one `variances` and
    about 12dk² flops for each second moment; beyond d samples, that does not depend on their
    number.
    """

    def __init__(self, test: SecondMoment, k: int, validation: SecondMoment | None = None) -> None:
        self.test, self.optimum = test, Optimum(test, k)
        self.validation = None if validation is None else Optimum(validation, k)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``suboptimality``, the primary one, first.

        ``suboptimality`` is the largest tr(U'CU) minus that of the solution;
        ``explained_variance_ratio`` is tr(U'CU) / tr C; ``subspace_error`` is |(I - UU')U*|_F.
        A `RelaxedSolution` also has ``relaxed_suboptimality``, the same for tr(MC), and ``rank``,
        that of M; with validation data there is ``validation_suboptimality``.
        """
        gap = self.optimum.gap(solution.point)
        achieved = self.optimum.value - gap
        metrics = {
            "suboptimality": gap,
            "explained_variance_ratio": achieved / self.test.trace if self.test.trace else 0.0,
            "subspace_error": subspace_error(solution.point, self.optimum.subspace),
        }
        if isinstance(solution, RelaxedSolution):
            metrics["relaxed_suboptimality"] = self.optimum.value - self._relaxed_value(solution)
            metrics["rank"] = float(solution.rank)
        if self.validation is not None:
            metrics["validation_suboptimality"] = self.validation.gap(solution.point)
        return metrics

    def _relaxed_value(self, solution: RelaxedSolution) -> float:
        """Return tr(MC)."""
        variances = self.test.variances(solution.vectors)
        excess = float(variances @ (solution.values - solution.floor))
        return excess + solution.floor * self.test.trace
