"""The judge of subspaces."""

from __future__ import annotations

import numpy as np
from orthobench_kit.geometry import subspace_error
from orthobench_kit.second_moments import SecondMoment

from orthobench.contract.problem import Solution
from orthobench.tools.arrays import Array
from orthobench_stochastic_pca.oracle import RelaxedSolution

RELAXED_METRICS = ("relaxed_suboptimality", "rank")
"""Metrics of a `RelaxedSolution` only."""


class Optimum:
    """The k-dimensional subspace of largest variance of a second moment C.

    Attributes
    ----------
    value : float
        The maximum of tr(U'CU), the sum of the k largest eigenvalues of C.
    subspace : ndarray, shape (d, k)
        Their eigenvectors.
    tied : bool
        Whether the next eigenvalue is as large.
    """

    def __init__(self, moment: SecondMoment, k: int) -> None:
        self.moment = moment
        self.values, self.subspace = moment.leading(k)
        self.value = float(self.values.sum())
        self.tied = moment.tied(self.values, self.subspace)

    def gap(self, U: Array) -> float:
        """Return the suboptimality of an orthonormal `U`, without cancellation.

        ``sum_i λ_i |(I - UU')s_i|² - tr(W'CW)``, W = (I - SS')U, with the leading eigenpairs (Λ,
        S): both terms vanish with the square of the angle. 8dk² flops and those of `variances`.
        """
        S = self.subspace
        missed = S - U @ (U.T @ S)
        gained = U - S @ (S.T @ U)
        lost = float(self.values @ np.einsum("ij,ij->j", missed, missed))
        return lost - float(self.moment.variances(gained).sum())


VARIANCES = {"suboptimality", "relaxed_suboptimality", "validation_suboptimality"}
"""The metrics that have the unit of a variance."""


class Judge:
    """Measures solutions on data that no solver sees.

    Parameters
    ----------
    test : SecondMoment
        Second moment of the test data or of the population.
    k : int
    validation : SecondMoment, optional
        Second moment of the data for tuning.
    unit : float
        Divisor of the samples, a power of two; variances are multiplied by its square.

    Notes
    -----
    A call costs one `variances` and about 12dk² flops for each moment.
    """

    def __init__(
        self, test: SecondMoment, k: int, validation: SecondMoment | None = None, unit: float = 1.0
    ) -> None:
        self.test, self.optimum, self.unit = test, Optimum(test, k), unit
        self.validation = None if validation is None else Optimum(validation, k)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``suboptimality``, the primary one, first.

        ``suboptimality`` is the maximum of tr(U'CU) minus that of the solution;
        ``explained_variance_ratio`` is tr(U'CU) / tr C; ``subspace_error`` is |(I - UU')U*|, if the
        best subspace U* is unique. A `RelaxedSolution` also has ``relaxed_suboptimality``, the same
        for tr(MC), and ``rank``, that of M. With validation data there is
        ``validation_suboptimality``.
        """
        gap = self.optimum.gap(solution.point)
        achieved = self.optimum.value - gap
        metrics = {
            "suboptimality": gap,
            "explained_variance_ratio": achieved / self.test.trace if self.test.trace else 0.0,
        }
        if not self.optimum.tied:
            metrics["subspace_error"] = subspace_error(solution.point, self.optimum.subspace)
        if isinstance(solution, RelaxedSolution):
            metrics["relaxed_suboptimality"] = self.optimum.value - self._relaxed_value(solution)
            metrics["rank"] = float(solution.rank)
        if self.validation is not None:
            metrics["validation_suboptimality"] = self.validation.gap(solution.point)
        for name in VARIANCES & metrics.keys():
            metrics[name] *= self.unit**2
        return metrics

    def _relaxed_value(self, solution: RelaxedSolution) -> float:
        variances = self.test.variances(solution.vectors)
        excess = float(variances @ (solution.values - solution.floor))
        return excess + solution.floor * self.test.trace
