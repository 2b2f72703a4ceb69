"""The origin of a method: its paper, its code, and the licence of the library that it calls."""

from __future__ import annotations

from collections.abc import Iterable

from orthobench.contract.solver import AnySolver
from orthobench.registry.plugins import catalogue
from orthobench.tools.environment import published


def origins(solver: type[AnySolver]) -> dict[str, str]:
    """Return source and DOI of a method, and code and licence of its library or its own module."""
    packages: object = solver.packages
    named = packages[0] if isinstance(packages, tuple) and packages else ""  # else of an instance
    code, licence = published(named) if named else (solver.__module__, "")
    return {
        "source": solver.source, "doi": solver.doi, "code": solver.code or code,
        "licence": solver.licence or licence,
    }  # fmt: skip


def origin_lines(names: Iterable[str]) -> dict[str, str]:
    """Return a line about each installed method."""
    installed = catalogue().solvers
    found = {name: origins(installed[name].item) for name in names if name in installed}
    return {name: "; ".join(filter(None, own.values())) for name, own in found.items()}
