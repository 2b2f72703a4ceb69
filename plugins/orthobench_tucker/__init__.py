"""Symmetric Tucker decomposition of tensors and of sample moments."""

from __future__ import annotations

from orthobench.hookspecs import hookimpl
from orthobench.solver import AnySolver
from orthobench_tucker.cp_adam import CPAdam


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [
        CPAdam,
    ]
