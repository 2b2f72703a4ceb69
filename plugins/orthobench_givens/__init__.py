"""Coordinate descent on the orthogonal group by Givens rotations, and sparse PCA by it."""

from __future__ import annotations

from orthobench.hookspecs import hookimpl
from orthobench.solver import AnySolver
from orthobench_givens.tensor import GivensTensor


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [GivensTensor]
