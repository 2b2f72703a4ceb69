"""The hooks that a plugin may implement; a plugin is a module found through an entry point.

Declare in your distribution::

    [project.entry-points.orthobench]
    my-plugin = "my_package"

and in ``my_package/__init__.py``::

    from orthobench.contract import hookimpl

    @hookimpl
    def orthobench_solvers():
        return [MySolver]
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pluggy

from orthobench.contract.hooks import PROJECT
from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.registry.claims import Paper

hookspec = pluggy.HookspecMarker(PROJECT)


@hookspec
def orthobench_solvers() -> Iterable[type[AnySolver]]:  # type: ignore[empty-body]
    """Return the solver classes of the plugin."""


@hookspec
def orthobench_problems() -> Iterable[type[AnyProblem]]:  # type: ignore[empty-body]
    """Return the problem classes of the plugin."""


@hookspec
def orthobench_suites() -> Iterable[Path]:  # type: ignore[empty-body]
    """Return the paths of the suites (TOML) of the plugin; a suite's name is its file's stem."""


@hookspec
def orthobench_claims() -> Iterable[Paper]:  # type: ignore[empty-body]
    """Return the papers of the plugin, with their claims."""
