"""Solutions of the convex relaxation of stochastic PCA."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from orthobench.contract.problem import Solution
from orthobench.tools.arrays import Array


@dataclass(frozen=True)
class RelaxedSolution(Solution):
    """A basis taken from a feasible matrix M of the convex relaxation.

    M = vectors diag(values) vectors' + floor (I - vectors vectors'), as in equation 3.3 of Arora,
    Cotter and Srebro (2013); the judge measures M as well as the basis.

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
