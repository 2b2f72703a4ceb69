"""Checks of settings and suites before a run begins."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from orthobench.contract.parameters import parameters_of
from orthobench.contract.problem import AnyInstance, Instance, Problem, Solution
from orthobench.contract.solver import AnySolver
from orthobench.errors import OrthobenchError, UsageError, quoted, unknown
from orthobench.harness.cell import Cell, built
from orthobench.harness.judging import VIOLATION
from orthobench.harness.stopping import Budget, Rule, terminates
from orthobench.registry.suite_values import LARGEST_SEED, MOST
from orthobench.results.tuning import untunable
from orthobench.tools.arrays import whole
from orthobench.tools.collections import grouped
from orthobench.tools.geometry import random_point
from orthobench.tools.machine import Peak


def check_settings(budget: object, seed: Any, until: object, threads: Any, problem: object) -> None:
    """Refuse a wrong setting of a run."""
    if budget is not None and not isinstance(budget, Budget):
        raise UsageError(f"budget must be like ob.Budget(steps=1000), not {quoted(budget)}")
    whole(seed, "seed", 0, LARGEST_SEED)
    whole(threads, "threads", 1, MOST)
    if until is not None and not callable(until):
        raise UsageError(f"until must be like ob.Target('angle', 1e-3), not {quoted(until)}")
    if not isinstance(problem, (Problem, Instance)):
        known = "a name, a problem or an instance such as ob.pca(X, k=2)"
        raise UsageError(f"problem must be {known}, not {quoted(problem)}")


def check_instance(solver: AnySolver, instance: AnyInstance) -> None:
    """Refuse an instance that a solver cannot take or compute here."""
    if not isinstance(instance.oracle, solver.needs):
        offered = type(instance.oracle).__name__
        needed = solver.needs.__name__
        raise UsageError(f"solver {solver.name} needs a {needed}, the instance offers {offered}")
    if why := solver.place.missing():
        raise UsageError(f"solver {solver.name} cannot compute on {solver.place}: {why}")
    if why := solver.missing_packages():
        raise UsageError(f"solver {solver.name}: {why}")


def check_ending(
    solver: AnySolver, instance: AnyInstance, budget: Budget, until: Rule | None
) -> None:
    """Refuse a run that neither budget, target, solver nor data end."""
    finite = solver.batch > 0 and math.isfinite(instance.oracle.remaining())
    if finite or until is not None or terminates(solver, budget):
        return
    example = "samples=10_000" if solver.batch else "steps=1000"
    raise UsageError(f"nothing limits this run; give a budget such as ob.Budget({example})")


def check_cells(planned: Collection[Cell]) -> None:
    """Refuse cells that cannot run, whatever their data: places, measures, problems."""
    for solver in dict.fromkeys(p.solver for p in planned):
        # a default place that is missing concerns the problems of its solver alone
        default = {p.name: p.default for p in parameters_of(type(solver.single))}.get("on", "numpy")
        if str(solver.place) != default and (why := solver.place.missing()):
            raise UsageError(f"nothing can be computed on {solver.place}: {why}")
    for measure, place in dict.fromkeys((p.measure, p.solver.place) for p in planned if p.measure):
        blocks = "their workers report memory in any case" if place.reduces else None
        if why := blocks or Peak.missing(place):
            raise UsageError(f"the {measure} of runs on {place} cannot be measured: {why}")
    if all(cell.solver.refuses(cell.problem) for cell in planned):
        pairs = ((c.solver.name, c.problem.name, c.solver.refuses(c.problem)) for c in planned)
        reasons = dict.fromkeys(f"{solver} on {problem}: {why}" for solver, problem, why in pairs)
        raise UsageError(f"no solver can take these problems ({'; '.join(reasons)})")


def check_problems(planned: Iterable[Cell], done: Collection[str]) -> None:
    """Refuse problems whose judge does not report what the suite names."""
    for cells in grouped(planned, lambda cell: cell.problem_label).values():
        first = next((cell for cell in cells if cell.key not in done), None)
        if first is None:
            continue
        try:
            instance = built(first)
            point = random_point(instance.oracle.n, instance.oracle.k, np.random.default_rng(0))
            metrics = instance.measure(Solution(point))
        except OrthobenchError:
            raise
        except Exception:  # noqa: S112 - recorded where the cells run
            continue
        # of a plain solution, or of others
        _refuse_unreported(cells, {*metrics, *instance.conditional, VIOLATION})


def _refuse_unreported(cells: Sequence[Cell], reported: set[str]) -> None:
    problem, until, metric = cells[0].problem_label, cells[0].until, cells[0].problem.tuned_by
    if until is not None and until.metric not in reported:
        raise unknown(f"metric of {problem} as the target:", until.metric, reported)
    for level in cells[0].levels:
        if level.metric not in reported:
            raise unknown(f"metric of {problem} to compare at:", level.metric, reported)
    trials: dict[str, AnySolver] = {}
    for plan in cells:
        solver = plan.solver
        other = trials.setdefault(plan.solver_label, solver)
        if solver != other and solver.refuses(plan.problem) is None and metric not in reported:
            raise untunable(plan.solver_label, problem, metric)
