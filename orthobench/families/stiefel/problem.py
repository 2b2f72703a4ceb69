"""The base class of problems on the Stiefel manifold, and their instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar, TypeVar

import numpy as np

from orthobench.contract.problem import Instance, Problem, Solution, unchanged
from orthobench.families.stiefel.feasible import feasible, violation
from orthobench.families.stiefel.judge import Judge
from orthobench.families.stiefel.oracle import Cost, ProductOracle, StiefelOracle
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import random_point

OracleT = TypeVar("OracleT", bound=ProductOracle)


class Stiefel(Problem[ProductOracle]):
    """Base of the problems of this family: its oracle, and the metrics that rank and tune.

    Attributes
    ----------
    n : int
        Rows of X: a parameter of every problem of the family.
    """

    family: ClassVar[str] = "Stiefel manifold"
    offers: ClassVar[type[ProductOracle]] = StiefelOracle  # type: ignore[type-abstract]
    primary: ClassVar[str] = "objective_gap"
    tuned_by: ClassVar[str] = "objective"

    n: int

    @property
    def square(self) -> bool:
        """Whether X is square, so that methods for the orthogonal group can take the problem."""
        return self.n == getattr(self, "p", self.n)


def instance(
    oracle: OracleT,
    least: float,
    gap: Cost | None = None,
    further: Callable[[Array], Mapping[str, float]] | None = None,
) -> Instance[OracleT]:
    """Return an instance whose least cost is known.

    Parameters
    ----------
    oracle : ProductOracle
    least : float
        The least cost.
    gap : callable, optional
        Maps X to the cost minus the least one, where a formula has less rounding than the
        difference.
    further : callable, optional
        Maps X to metrics that only this problem has, by name.
    """

    def difference(X: Array) -> float:
        return float(oracle.value(X)) - least

    stack = oracle.stack
    judge = Judge(oracle.value, gap or difference, oracle.gradient, unit(oracle), further, stack)
    best = {"objective_gap": 0.0, "objective": float(least)}
    leaves, nearest = partial(violation, stack=stack), partial(feasible, stack=stack)
    return Instance(oracle, judge, best, leaves, unchanged, finish=nearest)


def unit(oracle: ProductOracle) -> float:
    """Return the norm of the partial derivatives at a random point, for the judge."""
    X = Solution(random_point(oracle.n, oracle.k, np.random.default_rng(0)))
    return float(np.linalg.norm(oracle.gradient(feasible(X, oracle.stack).point)))
