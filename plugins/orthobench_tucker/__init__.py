"""Symmetric Tucker decomposition of tensors and of sample moments."""

from __future__ import annotations

from orthobench.hookspecs import hookimpl
from orthobench.solver import AnySolver
from orthobench_tucker.hooi import HOOI
from orthobench_tucker.jacobi_tucker import JacobiTucker


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [
        HOOI,
        JacobiTucker,
    ]
