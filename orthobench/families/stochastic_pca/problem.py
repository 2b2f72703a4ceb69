"""The base class of stochastic PCA problems, and the solution of their relaxation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from orthobench.contract.problem import Problem
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solution import Solution
from orthobench.tools.arrays import Array


@dataclass(frozen=True)
class RelaxedSolution(Solution):
    """A solution read off a feasible matrix M of the convex relaxation (equation 3.3).

    M = vectors diag(values) vectors' + floor (I - vectors vectors').

    Attributes
    ----------
    vectors : ndarray, shape (n, m)
        Eigenvectors of M whose eigenvalues differ from `floor`.
    values : ndarray, shape (m,)
        Their eigenvalues, in [0, 1].
    floor : float
        The eigenvalue of all other directions; zero where M has rank m.
    """

    vectors: Array = field(kw_only=True)
    values: Array = field(kw_only=True)
    floor: float = field(default=0.0, kw_only=True)

    @property
    def rank(self) -> int:
        """The rank of M."""
        return len(self.vectors) if self.floor > 0 else int(np.count_nonzero(self.values))


class StochasticPCA(Problem[SampleOracle]):
    """Base of the problems of this family: what its judge reports and what it ranks by."""

    family: ClassVar[str] = "stochastic PCA"
    offers: ClassVar[type[SampleOracle]] = SampleOracle
    primary: ClassVar[str] = "suboptimality"
    tuned_by: ClassVar[str] = "validation_suboptimality"
