"""Solutions of sparse PCA: sparse loadings."""

from __future__ import annotations

from dataclasses import dataclass, field

from orthobench.contract.problem import Solution


@dataclass(frozen=True)
class SparseSolution(Solution):
    """Sparse loadings: ``point`` is Z (d, m), with columns of unit length or of zeros.

    Attributes
    ----------
    gamma : float, optional
        The l1 penalty of the method, absolute; None for methods without one.
    """

    gamma: float | None = field(default=None, kw_only=True)
