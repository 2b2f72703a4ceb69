"""Base of solvers that take a number of loadings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import AnyProblem, Array, Solver, UsageError, parameter
from orthobench.contract.solver import StateT
from orthobench_sparse_pca.oracle import SparsePCAOracle, settled

Support: TypeAlias = NDArray[np.intp]
"""Features, ascending."""


@dataclass(frozen=True)
class CardinalitySolver(Solver[SparsePCAOracle, StateT]):
    """Base of solvers with a number of loadings as parameter.

    `most` is the maximum number of features, `too_many` the refusal of more.
    """

    converges: ClassVar[bool] = True
    most: ClassVar[float] = math.inf
    too_many: ClassVar[str] = ""

    cardinality: int = parameter(
        10, help="non-zero loadings of a component", low=1, grid=(3, 5, 10, 20, 40, 80, 160, 320)
    )

    def refuses(self, problem: AnyProblem) -> str | None:
        features = getattr(problem, "d", 0)
        too_many = self.too_many.format(features) if features > self.most else None
        return super().refuses(problem) or settled(self, problem, "cardinality") or too_many

    def asked(self, oracle: SparsePCAOracle, component: int) -> int:
        """Return the number of loadings of a component: the problem's, or else the solver's own.

        A total is shared equally; the first components get the rest.
        """
        if oracle.cardinality is None or oracle.each:
            return oracle.cardinality or self.cardinality
        share, left = divmod(oracle.cardinality, oracle.k)
        return share + (component < left)

    def data(self, oracle: SparsePCAOracle) -> Array:
        """Return a copy of the data, C order, in a unit in which squares do not overflow.

        UsageError if there are fewer features than loadings; DataError as `SparsePCAOracle.unit`.
        """
        if (most := self.asked(oracle, 0)) > oracle.n:
            raise UsageError(f"cardinality = {most} is more than the {oracle.n} features")
        return np.array(oracle.A, order="C") / oracle.unit


def largest(values: Array, count: int) -> Support:
    """Return the indices of the `count` largest values, ascending; among equal ones the first."""
    least = np.partition(values, len(values) - count)[len(values) - count]
    above = np.flatnonzero(values > least)
    equal = np.flatnonzero(values == least)
    return np.sort(np.concatenate([above, equal[: count - len(above)]]))
