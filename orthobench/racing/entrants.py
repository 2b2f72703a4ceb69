"""The configurations that race on a problem, the best expected first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orthobench.atlas.advice import likely
from orthobench.contract.parameters import changed_values, values_of
from orthobench.contract.problem import AnyInstance, AnyProblem
from orthobench.errors import DataError, OrthobenchError, UsageError
from orthobench.harness.cell import instance_of
from orthobench.harness.identity import canonical, describe, digest
from orthobench.harness.stopping import Budget, Target
from orthobench.harness.suite import Suite, SuiteProblem, SuiteSolver
from orthobench.racing.standing import SEEDS
from orthobench.registry.suite_file import requested_suite
from orthobench.tools.formatting import assignments, listed


@dataclass(frozen=True)
class Entrants:
    """The configurations that race on a problem.

    Attributes
    ----------
    suite : Suite
        Its solvers are configurations in the order of their runs, each with its own label.
    missing : mapping
        Names of solvers that are not installed, with the remedy.
    source : str, Problem or Instance, optional
        The problem as the caller gave it, if not by a suite.
    endless : collection of str
        The configurations that only a limit ends: those that take samples without an end.
    """

    suite: Suite
    missing: Mapping[str, str]
    source: Any = None
    endless: frozenset[str] = frozenset()

    @property
    def order(self) -> dict[str, str]:
        """The solver of each configuration, in the order in which they run."""
        return {s.label: s.solver.name for s in self.suite.solvers}

    @property
    def ending(self) -> frozenset[str]:
        """The configurations that end by their own test on all data."""
        return frozenset(s.label for s in self.suite.solvers if s.solver.converges)

    def on(self, instance: AnyInstance) -> Entrants:
        """Return the configurations, with those that only a limit ends on an instance."""
        takers = {s.label for s in self.suite.solvers if s.solver.batch > 0}
        unlimited = math.isinf(instance.oracle.remaining())
        return replace(self, endless=frozenset(takers - self.ending if unlimited else ()))


def entrants_on(problem: Any, cost: str = "seconds", solvers: Sequence[Any] = ()) -> Entrants:
    """Return the configurations that race on a problem: those of all solvers by default.

    The problem is built once, and the map orders the solvers by its features. Each of them also
    races with the parameters that the map has first, as its advice would be.

    Raises
    ------
    UsageError
        If a specification is wrong, or no solver can take the problem.
    DataError
        If the data are unfit.
    """
    measure = "memory" if cost == "memory" else None
    asked = requested_suite(None, [problem], solvers, SEEDS, measure=measure)
    known = asked.problems[0]
    instance = _built(known.problem)
    order = likely(known.problem, instance)
    if not solvers:
        asked = replace(asked, solvers=(*asked.solvers, *_advised(asked.solvers, order)))
    return replace(entrants(asked, known, order).on(instance), source=problem)


def _advised(
    solvers: Sequence[SuiteSolver], order: Sequence[tuple[str, Mapping[str, Any]]]
) -> Iterator[SuiteSolver]:
    """Yield the solvers that the map knows, with the parameters that it has first."""
    first = dict(reversed(order))
    for name, s in {s.solver.name: s for s in solvers}.items():
        try:
            advised = type(s.solver)(**first[name])
        except (KeyError, TypeError, OrthobenchError):  # the map was measured with older code
            continue
        values = assignments(changed_values(advised), " ")
        yield replace(s, solver=advised, label=f"{name} {values}".strip(), tuned={})


def _built(problem: AnyProblem) -> AnyInstance:
    try:
        return instance_of(problem, 0)
    except OrthobenchError:
        raise
    except Exception as error:  # as in a run, in which it is no fault of a solver
        raise DataError(f"problem {problem.name}: {type(error).__name__}: {error}") from error


def entrants(
    asked: Suite, known: SuiteProblem, order: Sequence[tuple[str, Mapping[str, Any]]] = ()
) -> Entrants:
    """Return the configurations that race on one problem of a suite; see `entrants_on`.

    ``order`` has the solvers that come first, and their parameters.
    """
    refusals = {s.label: s.solver.refuses(known.problem) for s in asked.solvers}
    able = [s for s in asked.solvers if s.solver.refuses(known.problem) is None]
    if not able:
        reasons = [f"{name}: {why}" for name, why in refusals.items()]
        raise UsageError(f"no solver can take {known.label} ({listed(reasons, 3)})")
    names = [solver for solver, _ in order]
    first = {(solver, canonical(values)): at for at, (solver, values) in enumerate(order)}

    def place(s: SuiteSolver) -> tuple[int, bool]:
        """Return the position of a configuration; with default values, of its solver."""
        name, plain = s.solver.name, not changed_values(s.solver)
        otherwise = names.index(name) if plain and name in names else len(order)
        return first.get((name, canonical(values_of(s.solver))), otherwise), not plain

    about = canonical(describe(known.problem)) + known.problem.checksum()
    name = f"race-{known.problem.name}-{digest(about)[:8]}"
    levels = [Target(metric, most[0]) for metric, most in known.problem.at.items() if most]
    return Entrants(
        replace(
            asked,
            name=f"{name}-{asked.measure}" if asked.measure else name,
            problems=(replace(known, budget=Budget(), levels=tuple(levels)),),
            solvers=tuple(sorted(_configurations(able), key=place)),
        ),
        {s.solver.name: why for s in asked.solvers if (why := s.solver.missing_packages())},
    )


def _configurations(solvers: Sequence[SuiteSolver]) -> list[SuiteSolver]:
    """Return each solver with its defaults, and at the points of its grid."""
    found: dict[Any, SuiteSolver] = {}
    for s in solvers:
        if s.tuned and s.label == s.solver.name:
            plain = type(s.solver)()
            found.setdefault(plain, replace(s, solver=plain, tuned={}))
        label = " ".join([s.label, assignments(s.tuned, " ")]).strip()
        found.setdefault(s.solver, replace(s, label=label, tuned={}))
    return list(found.values())
