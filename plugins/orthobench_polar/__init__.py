"""Polar factors: the matrix with orthonormal columns nearest to a given one (msign, Muon).

A family outside the core: oracle, judge, maker, problems and solvers need `orthobench.contract` and
a few functions for stacks of matrices; ``ob.polar`` is found by its entry point.
"""

from __future__ import annotations

from pathlib import Path

from orthobench.contract import AnyProblem, AnySolver, hookimpl
from orthobench_polar.direct import PolarEigh, PolarSVD, ScipyPolar, TorchMuon
from orthobench_polar.maker import polar
from orthobench_polar.newton_schulz import GramNewtonSchulz, NewtonSchulz, TurboNewtonSchulz
from orthobench_polar.oracle import PolarOracle
from orthobench_polar.problems import (
    CauchyPolar,
    GaussianPolar,
    NetworkPolar,
    PolarFactor,
    PrescribedSpectrum,
    ScaledColumns,
)
from orthobench_polar.rational import QDWH, PolarNewton, Zolotarev

__all__ = ["PolarFactor", "PolarOracle", "polar"]


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [
        NewtonSchulz, GramNewtonSchulz, TurboNewtonSchulz, QDWH, Zolotarev, PolarNewton, PolarSVD,
        PolarEigh, ScipyPolar, TorchMuon,
    ]  # fmt: skip


@hookimpl
def orthobench_problems() -> list[type[AnyProblem]]:
    """Return the problems of the plugin."""
    return [GaussianPolar, PrescribedSpectrum, CauchyPolar, ScaledColumns, NetworkPolar]


@hookimpl
def orthobench_suites() -> list[Path]:
    """Return the suites of the plugin."""
    return sorted(Path(__file__).parent.glob("suites/*.toml"))
