"""The hooks that a plugin may implement: functions that return what it brings.

A plugin is a module that an entry point names. Declare in ``pyproject.toml``::

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

from orthobench.contract import PROJECT
from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.registry.claims import Paper

hookspec = pluggy.HookspecMarker(PROJECT)


@hookspec
def orthobench_solvers() -> Iterable[type[AnySolver]]:  # type: ignore[empty-body]
    """Return classes of solvers."""


@hookspec
def orthobench_problems() -> Iterable[type[AnyProblem]]:  # type: ignore[empty-body]
    """Return classes of problems."""


@hookspec
def orthobench_suites() -> Iterable[Path]:  # type: ignore[empty-body]
    """Return paths of suites, TOML files; the name of a suite is the stem of its file."""


@hookspec
def orthobench_claims() -> Iterable[Paper]:  # type: ignore[empty-body]
    """Return papers, with their claims."""
