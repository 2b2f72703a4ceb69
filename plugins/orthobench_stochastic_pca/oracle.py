"""The oracle of missing entries, relaxed solutions, and the base class of problems."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.problem import Problem, Solution
from orthobench.contract.samples import SampleOracle
from orthobench.tools.arrays import Array


@dataclass(frozen=True)
class RelaxedSolution(Solution):
    """A basis taken from a feasible matrix M of the convex relaxation; the judge measures both.

    M = vectors diag(values) vectors' + floor (I - vectors vectors') (Arora, Cotter and Srebro 2013,
    equation 3.3).

    Attributes
    ----------
    vectors : ndarray, shape (n, m)
        Eigenvectors of M whose eigenvalues differ from `floor`.
    values : ndarray, shape (m,)
        Their eigenvalues, in [0, 1].
    floor : float
        The eigenvalue of all other directions; zero if M has rank m.
    """

    vectors: Array = field(kw_only=True)
    values: Array = field(kw_only=True)
    floor: float = field(default=0.0, kw_only=True)

    @property
    def rank(self) -> int:
        """The rank of M."""
        return len(self.vectors) if self.floor > 0 else int(np.count_nonzero(self.values))


Positions: TypeAlias = "NDArray[np.bool_]"


class EntryOracle(SampleOracle):
    """Samples with missing entries, which are zero; `observed` has the positions of the others.

    An entry that is observed and exactly zero counts as missing.
    """

    portable: ClassVar[bool] = False

    def observed(self, samples: Array) -> Positions:
        """Return which entries of samples are observed."""
        return np.asarray(samples != 0)


class StochasticPCA(Problem[SampleOracle]):
    """Base of the problems of this family."""

    family: ClassVar[str] = "stochastic PCA"
    offers: ClassVar[type[SampleOracle]] = SampleOracle
    primary: ClassVar[str] = "suboptimality"
    tuned_by: ClassVar[str] = "validation_suboptimality"
