"""Which solver is tracked on which problem: a walk over what is installed, by rule, not by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import MISSING, dataclass, replace
from itertools import chain, combinations
from typing import Any

from orthobench.contract.parameters import make, parameters_of, values_of
from orthobench.contract.problem import AnyProblem, Problem
from orthobench.contract.solver import AnySolver
from orthobench.errors import UsageError
from orthobench.harness.identity import label
from orthobench.registry.plugins import Registry


@dataclass(frozen=True)
class Case:
    """A solver with the problem that it is tracked on."""

    solver: AnySolver
    problem: AnyProblem

    @property
    def name(self) -> str:
        """What the history calls it: both names, and what differs from the problem's defaults."""
        plain = {p.name: p.default for p in parameters_of(type(self.problem))}
        changed = {k: v for k, v in values_of(self.problem).items() if v != plain[k]}
        return f"{self.solver.name} on {label(self.problem, changed)}"


def cases(registry: Registry) -> dict[str, Case]:
    """Return each solver on the first problem that it takes, by name.

    Both are made with their defaults; a parameter without one takes the first value of its grid.
    Problems that refer to files are left out, solvers that take none of the others too. Where a
    solver takes no problem as it stands, one choice of a problem is changed, or one or two of its
    sizes are set equal to another, the largest first.
    """
    solvers = _made(provided.item for provided in registry.solvers.values())
    problems = [p for p in _made(p.item for p in registry.problems.values()) if _made_up(p)]
    found = [
        _first(solver, problems) or _first(solver, chain.from_iterable(map(_variants, problems)))
        for solver in solvers
    ]
    return {case.name: case for case in found if case}


def _first(solver: AnySolver, problems: Iterable[AnyProblem]) -> Case | None:
    return next((Case(solver, p) for p in problems if solver.refuses(p) is None), None)


def _made(classes: Iterable[Any]) -> Iterator[Any]:
    for cls in classes:
        required = [p for p in parameters_of(cls) if p.default is MISSING]
        if all(p.grid for p in required):
            yield make(cls, {p.name: p.grid[0] for p in required}, cls.name)


def _made_up(problem: AnyProblem) -> bool:
    """Return whether it refers to no data."""
    return type(problem).checksum is Problem.checksum


def _variants(problem: AnyProblem) -> Iterator[AnyProblem]:
    """Yield it with one choice changed, or with sizes equal to another."""
    parameters = parameters_of(type(problem))
    changes = [{p.field: choice} for p in parameters for choice in p.choices]
    sizes = [p.field for p in parameters if type(getattr(problem, p.field)) is int]
    for value in sorted({getattr(problem, size) for size in sizes}, reverse=True):
        changes += [dict.fromkeys(some, value) for n in (1, 2) for some in combinations(sizes, n)]
    for change in changes:
        try:
            yield replace(problem, **change)
        except UsageError:
            continue
