"""The origin of a method: its paper, and the code and licence of the library that it calls."""

from __future__ import annotations

from collections.abc import Iterable

from orthobench.contract.solver import AnySolver
from orthobench.registry.plugins import catalogue
from orthobench.tools.environment import published


def origins(solver: type[AnySolver]) -> dict[str, str]:
    """Return source and DOI of a method, code and licence of its library."""
    packages: object = solver.packages
    named = packages[0] if isinstance(packages, tuple) and packages else ""  # else of an instance
    code, licence = published(named) if named else ("", "")
    return {
        "source": solver.source, "doi": solver.doi, "code": solver.code or code,
        "licence": solver.licence or licence,
    }  # fmt: skip


def origin_lines(names: Iterable[str]) -> dict[str, str]:
    """Return a line about each method that calls a library or has a DOI."""
    installed = catalogue().solvers
    known = {name: origins(installed[name].item) for name in names if name in installed}
    return {
        name: "; ".join(filter(None, own.values()))
        for name, own in known.items()
        if own["doi"] or own["code"] or own["licence"]
    }
