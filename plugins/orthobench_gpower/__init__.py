"""The generalized power method for sparse PCA."""

from __future__ import annotations

from orthobench.contract import AnySolver, hookimpl
from orthobench_gpower.gpower import GPower


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [GPower]
