"""Sparse PCA of the whole data: generalized and truncated power methods, and proximal gradients."""

from __future__ import annotations

from orthobench.contract import AnySolver, hookimpl
from orthobench_gpower.aman_pg import AManPG
from orthobench_gpower.blocks import SparsePCABlocks
from orthobench_gpower.exact import SparsePCAExact
from orthobench_gpower.geospca import GeoSPCA
from orthobench_gpower.gpower import GPower
from orthobench_gpower.orthogonal_tpower import OrthogonalTPower
from orthobench_gpower.tpower import TPower


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [GPower, TPower, OrthogonalTPower, AManPG, SparsePCAExact, SparsePCABlocks, GeoSPCA]
