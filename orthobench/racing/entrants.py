"""Who races: the configurations of all solvers that take a problem, the best expected first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orthobench.atlas.advice import expected_order
from orthobench.contract.parameters import parameters_of
from orthobench.contract.problem import AnyProblem
from orthobench.errors import UsageError
from orthobench.harness.identity import label
from orthobench.harness.suite import TRIALS, SuiteSolver
from orthobench.registry.entries import specification
from orthobench.registry.plugins import catalogue
from orthobench.tools.formatting import listed


@dataclass(frozen=True)
class Entrants:
    """Who races on a problem.

    Attributes
    ----------
    solvers : tuple of SuiteSolver
        A configuration each, in the order in which they run.
    missing : mapping
        What to install for solvers that cannot run, by name.
    """

    solvers: tuple[SuiteSolver, ...]
    missing: Mapping[str, str]


def entrants(problem: AnyProblem, named: Sequence[str] = ()) -> Entrants:
    """Return who races on a problem.

    Parameters
    ----------
    problem : Problem
    named : sequence of str
        Specifications ``NAME key=value ...``; all solvers that take the problem where none is.

    Raises
    ------
    UsageError
        Where a specification is wrong, or nobody can take the problem.
    """
    known, missing, found = catalogue(), dict[str, str](), list[SuiteSolver]()
    entries = [specification(text) for text in named] or [{"name": n} for n in known.solvers]
    refusals = []
    for entry in entries:
        name, settings = entry["name"], {k: v for k, v in entry.items() if k != "name"}
        if name in known.solvers and not named and _required(name):
            continue
        first = known.solver(name, settings)
        if why := first.refuses(problem):
            if issubclass(problem.offers, first.needs) and first.missing_packages():
                missing[name] = why
            refusals.append(f"{name}: {why}")
            continue
        found += _configurations(name, settings)
    if not found:
        why = listed(refusals, 3) if named else "see orthobench list"
        raise UsageError(f"no installed solver can take {problem.name} ({why})")
    order = {name: i for i, name in enumerate(expected_order(problem))}
    return Entrants(
        tuple(sorted(found, key=lambda s: (bool(_extra(s, named)), order.get(s.solver.name, 99)))),
        missing,
    )


def _required(name: str) -> bool:
    return any(p.required for p in parameters_of(catalogue().solvers[name].item))


def _extra(entrant: SuiteSolver, named: Sequence[str]) -> bool:
    """Whether it is another point of a solver's grid than the one by default."""
    return entrant.label != entrant.solver.name and entrant.label not in named


def _configurations(name: str, settings: Mapping[str, Any]) -> Iterator[SuiteSolver]:
    """Yield a solver as it is by default, and at the points of the grids that it declares."""
    provided = catalogue().solvers[name]
    declared = parameters_of(provided.item)
    grids = {p.name: p.grid for p in declared if p.grid and p.name not in settings}
    points = itertools.product(*grids.values())
    seen = []
    tried = (dict(zip(grids, point, strict=True)) for point in itertools.islice(points, TRIALS))
    for given in ({}, *tried):
        solver = catalogue().solver(name, {**settings, **given})
        if solver not in seen:
            seen.append(solver)
            yield SuiteSolver(solver, label(solver, {**settings, **given}), {}, provided.version)
