"""orthobench: benchmarks for optimization under orthogonality constraints.

Examples
--------
>>> import numpy as np, orthobench as ob
>>> X = np.random.default_rng(0).standard_normal((2000, 30)) * np.linspace(2, 1, 30)
>>> instance = ob.stochastic_pca(X, k=3)
>>> outcome = ob.solve("capped-msg", instance, budget=ob.Budget(samples=1000), seed=0, step=1.0)
>>> outcome.solution.shape
(30, 3)
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from orthobench._version import __version__

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from orthobench.api import instance, run, solve
    from orthobench.atlas.advice import advise
    from orthobench.contract.problem import Solution
    from orthobench.errors import DataError, OrthobenchError, StoreError, UsageError
    from orthobench.harness.stopping import Budget, Target
    from orthobench.racing.race import race
    from orthobench.registry.plugins import catalogue, register
    from orthobench.report.notebook_view import Outcome, Results, report

__all__ = [
    "Budget", "DataError", "OrthobenchError", "Outcome", "Results", "Solution", "StoreError",
    "Target", "UsageError", "__version__", "advise", "catalogue", "instance", "race", "register",
    "report", "run", "solve",
]  # fmt: skip

MAKERS = "orthobench.makers"
"""The group of entry points whose functions are attributes here: ``ob.cca``."""

_HOMES = {
    "api": ("instance", "run", "solve"),
    "atlas.advice": ("advise",),
    "contract.problem": ("Solution",),
    "errors": ("DataError", "OrthobenchError", "StoreError", "UsageError"),
    "harness.stopping": ("Budget", "Target"),
    "racing.race": ("race",),
    "registry.plugins": ("catalogue", "register"),
    "report.notebook_view": ("Outcome", "Results"),
}
"""The names of each module; `report` is a module itself."""


def __getattr__(name: str) -> Any:
    # loaded on first use (PEP 562), so that the command line starts without what it does not need
    if name == "report":
        return import_module("orthobench.report")  # it can be called
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"orthobench.{home}"), name)
    for maker in () if name.startswith("_") else _makers().select(name=name):
        return maker.load()
    raise AttributeError(f"module 'orthobench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_makers().names})


@cache
def _makers() -> "EntryPoints":
    from importlib.metadata import entry_points  # a third of the time of `orthobench --help`

    return entry_points(group=MAKERS)
