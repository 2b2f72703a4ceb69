"""Symmetric Tucker decomposition of tensors and of sample moments."""

from __future__ import annotations

from orthobench.hookspecs import hookimpl
from orthobench.solver import AnySolver
from orthobench_tucker.quasi_newton import QuasiNewton
from orthobench_tucker.trust_region import TrustRegion


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [
        QuasiNewton,
        TrustRegion,
    ]
