"""The `Solution` that solvers return and judges measure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthobench.tools.arrays import Array


@dataclass(frozen=True)
class Solution:
    """A solution at one point of a run, in float64 arrays that the solver never touches again.

    Families whose solutions say more derive from it, such as
    `orthobench.families.stochastic_pca.RelaxedSolution`.

    Attributes
    ----------
    point : ndarray, shape (n, k)
        A matrix with orthonormal columns, or with whatever the family asks for instead.
    weights : ndarray, shape (k,), optional
        The weight of each column, in a decomposition.
    core : ndarray, shape (k, ..., k), optional
        The core tensor of a Tucker decomposition.
    """

    point: Array
    weights: Array | None = None
    core: Array | None = None

    @property
    def is_finite(self) -> bool:
        """Whether point, weights and core are finite; the harness ends a run where they are not."""
        parts = (self.point, self.weights, self.core)
        return all(bool(np.isfinite(part).all()) for part in parts if part is not None)
