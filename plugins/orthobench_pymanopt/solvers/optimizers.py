"""Pymanopt's optimizers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, NamedTuple

import numpy as np
from orthobench_kit.rerun import Rerun, RerunState, Run
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker.library_tucker import hoevd
from orthobench_tucker.whole_tensor import refusal

from orthobench.contract import AnyProblem, Array, Solution, parameter, polar
from orthobench_pymanopt.objectives import ManifoldOracle, Objective, objective

PACKAGES = ("pymanopt",)

TRIALS = 60
"""Maximum number of trials of a line search."""

EXACT: Mapping[str, Any] = {"mininner": 0}
"""Settings of trust regions; Pymanopt's minimum of 1 may lead to 0 / 0."""


class Result(NamedTuple):
    """The result of an optimizer: a `point` (n, k)."""

    point: Array
    iterations: int
    cost: float


def run_optimizer(
    optimizer: type[Any],
    target: Objective,
    start: Array,
    tolerance: float,
    running: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Result:
    """Run one of Pymanopt's optimizers on an objective, from `start` (n, k).

    The run ends at a norm of the gradient of `tolerance`, relative to `Objective.scale`. `running`
    are settings of the optimizer's ``run``, the others of the optimizer.
    """
    import pymanopt

    manifold = target.manifold()
    if manifold.dim == 0:  # a single point, for which Pymanopt's trust regions raise
        return Result(start, 0, target.value(start))
    least = tolerance * target.scale(start)
    gradient = manifold.euclidean_to_riemannian_gradient(start, target.gradient(start))
    if manifold.norm(start, gradient) <= least:  # they would take a step first, and divide by it
        return Result(start, 0, target.value(start))
    numpy = pymanopt.function.numpy(manifold)
    problem = pymanopt.Problem(
        manifold,
        numpy(target.value),
        euclidean_gradient=numpy(target.gradient),
        euclidean_hessian=numpy(target.hessian),
    )
    found = optimizer(
        max_time=np.inf,
        max_cost_evaluations=np.inf,
        min_gradient_norm=least,
        verbosity=0,
        **settings,
    ).run(problem, initial_point=start, **(running or {}))
    return Result(found.point, found.iterations, float(found.cost))


@dataclass(frozen=True)
class Pymanopt(Rerun[ManifoldOracle]):
    """Base of Pymanopt's optimizers, on Stiefel(n, p) or, for Tucker, Grassmann(n, r).

    Runs end at a relative gradient norm of 1e-12, or at steps shorter than Pymanopt's 1e-10. They
    are re-run with growing ``max_iterations``.
    """

    packages: ClassVar[tuple[str, ...]] = PACKAGES

    start: str = parameter(
        "hoevd",
        help="first basis of a Tucker decomposition: of the unfolding, or the common random start",
        choices=("hoevd", "random"),
    )
    tolerance: float = parameter(
        1e-12,
        low=0.0,
        help="norm of the gradient to end at, over F, or on the Stiefel manifold over that of G",
    )

    def refuses(self, problem: AnyProblem) -> str | None:
        return super().refuses(problem) or refusal(problem, "explicit")

    def prepare(self, oracle: ManifoldOracle) -> tuple[Any, Solution, int]:
        if self.start == "random" or not isinstance(oracle, SymmetricTensorOracle):
            return oracle.start, Solution(oracle.start.copy()), 0
        first, flops = hoevd(oracle)
        return first, Solution(first.copy()), flops

    def run(self, oracle: ManifoldOracle, state: RerunState, iterations: int) -> Run:
        target = objective(oracle, state.prepared)
        found = self.minimize(target, state.prepared, iterations)
        failure = "" if isfinite(found.cost) else f"the cost is {found.cost} where the run ended"
        # removes rounding errors of retractions
        solution = Solution(polar(found.point))
        return Run(solution, found.iterations, target.counted, failure, target.calls)

    @abstractmethod
    def minimize(self, target: Objective, start: Array, iterations: int) -> Result:
        """Run the optimizer from the first point."""


@dataclass(frozen=True)
class PymanoptSteepestDescent(Pymanopt):
    """Pymanopt's SteepestDescent, with a backtracking line search.

    It uses cost and gradient of the instance, or works on subspaces for symmetric Tucker
    decomposition. The line search compares values, and stalls if their difference is
    rounding. From a random start Tucker runs may end far from the optimum.

    Notes
    -----
    A gradient and its projection for each iteration, and a value and a retraction for each trial
    of the line search; see `orthobench_pymanopt.manifolds`.

    References
    ----------
    Townsend, Koep and Weichwald 2016, "Pymanopt: a Python toolbox for optimization on manifolds
    using automatic differentiation"; Absil, Mahony and Sepulchre 2008, Algorithm 1.
    """

    name: ClassVar[str] = "pymanopt-steepest-descent"
    source: ClassVar[str] = "Pymanopt: pymanopt.optimizers.SteepestDescent"

    def minimize(self, target: Objective, start: Array, iterations: int) -> Result:
        from pymanopt.optimizers import SteepestDescent
        from pymanopt.optimizers.line_search import BackTrackingLineSearcher

        searcher = BackTrackingLineSearcher(max_iterations=TRIALS)
        return run_optimizer(
            SteepestDescent, target, start, self.tolerance,
            max_iterations=iterations, line_searcher=searcher,
        )  # fmt: skip


@dataclass(frozen=True)
class PymanoptConjugateGradient(Pymanopt):
    """Pymanopt's ConjugateGradient, with an adaptive line search.

    Like `pymanopt-steepest-descent`, in conjugate directions, by default of Hestenes and Stiefel.
    Line searches may take 60 trials, since Pymanopt's 10 end runs near the optimum.

    References
    ----------
    Townsend, Koep and Weichwald 2016; Hager and Zhang 2006, "A survey of nonlinear conjugate
    gradient methods", for the rules.
    """

    beta_rule: str = parameter(
        "HestenesStiefel",
        help="how directions are conjugated",
        choices=("FletcherReeves", "HagerZhang", "HestenesStiefel", "PolakRibiere", "LiuStorey"),
    )

    name: ClassVar[str] = "pymanopt-conjugate-gradient"
    source: ClassVar[str] = "Pymanopt: pymanopt.optimizers.ConjugateGradient"

    def minimize(self, target: Objective, start: Array, iterations: int) -> Result:
        from pymanopt.optimizers import ConjugateGradient
        from pymanopt.optimizers.line_search import AdaptiveLineSearcher

        found = run_optimizer(
            ConjugateGradient, target, start, self.tolerance,
            max_iterations=iterations + 1, beta_rule=self.beta_rule,
            line_searcher=AdaptiveLineSearcher(max_iterations=TRIALS),
        )  # fmt: skip
        return found._replace(iterations=found.iterations - 1)


@dataclass(frozen=True)
class PymanoptTrustRegions(Pymanopt):
    """Pymanopt's TrustRegions: truncated conjugate gradients within a trust region.

    Like `pymanopt-steepest-descent`. Hessian-vector products are those of the instance, or else
    central differences, two gradients each; an inner iteration takes one, and a Hessian of the
    manifold.

    References
    ----------
    Townsend, Koep and Weichwald 2016; Absil, Baker and Gallivan 2007, "Trust-region methods on
    Riemannian manifolds", Algorithms 1 and 2.
    """

    name: ClassVar[str] = "pymanopt-trust-regions"
    source: ClassVar[str] = "Pymanopt: pymanopt.optimizers.TrustRegions"

    def minimize(self, target: Objective, start: Array, iterations: int) -> Result:
        from pymanopt.optimizers import TrustRegions

        return run_optimizer(
            TrustRegions, target, start, self.tolerance, EXACT, max_iterations=iterations
        )
