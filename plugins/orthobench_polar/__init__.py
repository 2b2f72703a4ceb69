"""Spectral powers U S^p V' of a matrix U S V'; p = 0 is the polar factor (msign, Muon)."""

from orthobench.contract import discovered
from orthobench_polar.gram_stream import BasisSolution, GramStreamOracle, gram_stream
from orthobench_polar.maker import polar, spectral_power
from orthobench_polar.oracle import PolarOracle, SpectralOracle
from orthobench_polar.problems.gram_streams import GramStream
from orthobench_polar.problems.spectra import PolarFactor

__all__ = [
    "BasisSolution",
    "GramStream",
    "GramStreamOracle",
    "PolarFactor",
    "PolarOracle",
    "SpectralOracle",
    "gram_stream",
    "polar",
    "spectral_power",
]

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
