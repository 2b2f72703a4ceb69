"""Canonical correlation analysis: a family of its own, outside the core.

Oracle, judge, maker, problems and solvers need `orthobench.contract` alone, as those of any other
package would; ``ob.cca`` is found by the entry point in the group ``orthobench.makers``.
"""

from __future__ import annotations

from pathlib import Path

from orthobench.contract import AnyProblem, AnySolver, hookimpl
from orthobench_cca.alternating import AlternatingLeastSquares
from orthobench_cca.app_grad import AppGrad
from orthobench_cca.exact import Exact
from orthobench_cca.maker import cca
from orthobench_cca.oracle import PairsOracle
from orthobench_cca.problems import CCA, DigitHalves, PlantedCorrelations

__all__ = ["CCA", "PairsOracle", "cca"]


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [Exact, AlternatingLeastSquares, AppGrad]


@hookimpl
def orthobench_problems() -> list[type[AnyProblem]]:
    """Return the problems of the plugin."""
    return [PlantedCorrelations, DigitHalves]


@hookimpl
def orthobench_suites() -> list[Path]:
    """Return the suites of the plugin."""
    return sorted(Path(__file__).parent.glob("suites/*.toml"))
