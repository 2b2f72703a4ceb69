"""Orthogonal tensor decomposition by power iterations."""

from __future__ import annotations

from orthobench.contract import AnySolver, hookimpl
from orthobench_tensor_power.polar_power import PolarPower
from orthobench_tensor_power.tensor_power import TensorPower


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [TensorPower, PolarPower]
