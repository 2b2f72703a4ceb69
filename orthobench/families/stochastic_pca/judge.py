"""The judge of stochastic PCA: suboptimality on the training, validation and test parts."""

from __future__ import annotations

from orthobench.contract.solution import Solution
from orthobench.families.moments import Optimum, SecondMoment
from orthobench.families.stochastic_pca.problem import RelaxedSolution
from orthobench.tools.geometry import subspace_error

OF_RELAXED = ("relaxed_suboptimality", "rank")
"""Metrics of a `RelaxedSolution` only."""


class Judge:
    """Measures solutions on data that no solver sees.

    Parameters
    ----------
    test : SecondMoment
        Of the test part or the population: what is reported.
    validation : SecondMoment, optional
        What parameters are tuned on.
    k : int
    """

    def __init__(self, test: SecondMoment, k: int, validation: SecondMoment | None = None) -> None:
        self.test, self.optimum = test, Optimum(test, k)
        self.held_out = None if validation is None else Optimum(validation, k)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; suboptimality, the primary one, first.

        ``suboptimality`` is the best attainable tr(U'CU) minus the achieved;
        ``explained_variance_ratio`` is tr(U'CU) / tr C; ``subspace_error`` is |(I - UU')U*|_F.
        Of a `RelaxedSolution` also ``relaxed_suboptimality``, of tr(MC), and its ``rank``;
        with validation data ``validation_suboptimality``.
        """
        gap = self.optimum.gap(solution.point)
        achieved = self.optimum.value - gap
        metrics = {
            "suboptimality": gap,
            "explained_variance_ratio": achieved / self.test.trace if self.test.trace else 0.0,
            "subspace_error": subspace_error(solution.point, self.optimum.subspace),
        }
        if isinstance(solution, RelaxedSolution):
            metrics["relaxed_suboptimality"] = self.optimum.value - self._relaxed(solution)
            metrics["rank"] = float(solution.rank)
        if self.held_out is not None:
            metrics["validation_suboptimality"] = self.held_out.gap(solution.point)
        return metrics

    def _relaxed(self, solution: RelaxedSolution) -> float:
        variances = self.test.variances(solution.vectors)
        excess = float(variances @ (solution.values - solution.floor))
        return excess + solution.floor * self.test.trace
