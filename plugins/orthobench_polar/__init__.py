"""Polar factors: the matrix with orthonormal columns nearest to a given one (msign, Muon)."""

from orthobench.contract import discovered
from orthobench_polar.maker import polar
from orthobench_polar.oracle import PolarOracle
from orthobench_polar.problems.spectra import PolarFactor

__all__ = [
    "PolarFactor",
    "PolarOracle",
    "polar",
]

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
