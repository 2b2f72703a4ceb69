"""Coordinate descent on the orthogonal group by Givens rotations, and sparse PCA by it."""

from __future__ import annotations

from orthobench.contract import AnySolver, hookimpl
from orthobench_givens.coordinate_descent import Givens
from orthobench_givens.sparse_pca import GivensSparsePCA
from orthobench_givens.streaming_sparse_pca import GivensStreamingSparsePCA
from orthobench_givens.tensor import GivensTensor


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [Givens, GivensSparsePCA, GivensStreamingSparsePCA, GivensTensor]
