"""The result of sparse PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.signs import signs

from orthobench.contract import Array, Result, Solution
from orthobench_sparse_pca.oracle import SparsePCAOracle


@dataclass(frozen=True, repr=False, eq=False)
class SparseResult(Result):
    """Sparse components.

    Attributes
    ----------
    loadings : ndarray, shape (d, m)
        Columns of unit length, or of zeros, the largest variance first; in each the entry of
        largest absolute value is positive.
    variance : ndarray, shape (m,)
        Variance of the scores of each component alone, with the divisor N - 1, in the unit of the
        data squared.
    nonzeros : ndarray of int, shape (m,)
        Number of non-zero loadings of each component.
    """

    loadings: Annotated[Array, "unit columns, the largest variance first"]
    variance: Annotated[Array, "of each component alone, unit of the data squared, divisor N - 1"]
    nonzeros: Annotated[NDArray[np.intp], "non-zero loadings of each component"]


def sparse_components(oracle: SparsePCAOracle, solution: Solution) -> SparseResult:
    """Return the loadings of a point in order; 2dNm flops and Nm numbers."""
    scores = oracle.A.T @ solution.point
    variance = scores.var(axis=0) * (len(scores) / max(len(scores) - 1, 1))
    order = np.argsort(-variance, kind="stable")
    Z = solution.point[:, order]
    return SparseResult(Z * signs(Z), variance[order], np.count_nonzero(Z, axis=0))
