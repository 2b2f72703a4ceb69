"""Solvers that are told how many loadings a component has: what they share."""

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
    """Base of solvers whose parameter is the number of loadings of a component.

    Class attributes
    ----------------
    most : float
        The most features of a problem that it takes.
    too_many : str
        What it says of more, with a place for their number.
    """

    most: ClassVar[float] = math.inf
    too_many: ClassVar[str] = ""

    cardinality: int = parameter(
        10, help="non-zero loadings of a component", low=1, grid=(3, 5, 10, 20, 40, 80, 160, 320)
    )

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why it cannot take a problem: too many features, or no use of `cardinality`."""
        features = getattr(problem, "d", 0)
        too_many = self.too_many.format(features) if features > self.most else None
        return super().refuses(problem) or settled(self, problem, "cardinality") or too_many

    def asked(self, oracle: SparsePCAOracle, component: int) -> int:
        """Return the number of loadings of a component: the problem's, or else its own.

        A number in all is shared equally, and the first components get what is left.
        """
        if oracle.cardinality is None or oracle.each:
            return oracle.cardinality or self.cardinality
        share, left = divmod(oracle.cardinality, oracle.k)
        return share + (component < left)

    def data(self, oracle: SparsePCAOracle) -> Array:
        """Return a copy of the data, C order, in a unit in which squares do not overflow.

        Raises
        ------
        UsageError
            If more loadings are sought than there are features.
        DataError
            If data are not finite, or their squares all underflow or overflow.
        """
        if (most := self.asked(oracle, 0)) > oracle.n:
            raise UsageError(f"cardinality = {most} is more than the {oracle.n} features")
        return np.array(oracle.A, order="C") / oracle.unit


def largest(values: Array, count: int) -> Support:
    """Return the indices of the largest values, ascending; of equal values the first ones.

    Parameters
    ----------
    values : ndarray, shape (d,)
    count : int
        1 <= count <= d.
    """
    least = np.partition(values, len(values) - count)[len(values) - count]
    above = np.flatnonzero(values > least)
    equal = np.flatnonzero(values == least)
    return np.sort(np.concatenate([above, equal[: count - len(above)]]))
