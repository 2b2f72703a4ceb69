"""Cells of a store, made again from its names and values, and differences of platforms.

Nothing in a store is code. Names are looked up among the installed plugins, values are checked like
those of a suite, and files are read only in folders that the user named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orthobench.contract.solver import AnySolver
from orthobench.errors import OrthobenchError, UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.stopping import Budget, Target
from orthobench.harness.suite import Suite, SuiteProblem, SuiteSolver
from orthobench.registry.plugins import Registry
from orthobench.results.runs import Run
from orthobench.tools.files import refuse_files

MAY_DIFFER = ("versions", "blas", "place", "code")
"""The parts of a cell's content about platform and code; a cell with another part is another."""

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
"""Distributions on whose arithmetic results depend."""


class NotHereError(UsageError):
    """A cell cannot be run here, for the reason in the message."""


def rebuilt(content: Mapping[str, Any], registry: Registry, folders: Sequence[Path] = ()) -> Cell:
    """Return the cell with a content.

    Parameters
    ----------
    content : mapping
        `Identity.content` of a run.
    registry : Registry
        The solvers and problems that a store can name.
    folders : sequence of Path
        Files in them that the store names may be read.

    Raises
    ------
    NotHereError
        If it cannot be run here, or would be another cell, for instance with other data.
    """
    if "imported" in content:
        raise NotHereError("it was imported, and only its own harness can repeat it")
    try:
        cell = _cell(content, registry, folders)
        here = cell.content
    except OrthobenchError as error:
        raise NotHereError(str(error)) from None
    except (TypeError, ValueError, LookupError, ArithmeticError) as error:
        raise NotHereError(f"no cell has such values: {error!s:.200}") from None
    for part in sorted({*content, *here} - {*MAY_DIFFER}):
        if content.get(part) != here.get(part):
            raise NotHereError(f"its {part} is another here: that of {cell.label}")
    return cell


def _cell(content: Mapping[str, Any], registry: Registry, folders: Sequence[Path]) -> Cell:
    (problem_name, of_problem), (solver_name, of_solver) = (
        (content[kind]["name"], content[kind]["parameters"]) for kind in ("problem", "solver")
    )
    for parameters in (of_problem, of_solver):
        refuse_files(parameters, folders)
    problem = registry.problem(problem_name, of_problem)
    solver = registry.solver(solver_name, of_solver, problem.offers)
    _refuse_missing(solver)
    version = registry.problems[problem_name].version
    entry = SuiteProblem(problem, problem_name, Budget(**content["budget"]), version)
    version = registry.solver_class(solver_name, problem.offers).version
    method = SuiteSolver(solver, solver_name, {}, version)
    target = None if content["until"] is None else Target(**content["until"])
    seeds, threads = (content["seed"],), content["threads"]
    (cell,) = Suite("", (entry,), (method,), seeds, threads=threads, target=target).cells()
    return cell


def _refuse_missing(solver: AnySolver) -> None:
    if missing := solver.missing_packages():
        raise NotHereError(f"solver {solver.name}: {missing}")
    if solver.place.address:
        raise NotHereError("a store names no cluster, whose owner could run code here")
    if why := solver.place.missing():
        raise NotHereError(f"nothing can be computed on {solver.place}: {why}")


def platform_differences(
    run: Run, cell: Cell, there: Mapping[str, Any], here: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the differences of platform and code between a stored run and its cell here.

    Parameters
    ----------
    run : Run
    cell : Cell
    there, here : mapping
        The environments of the run's session and of this process.
    """
    old, new = _platform(run.identity.content, there), _platform(cell.content, here)
    return tuple(
        f"{name} {old.get(name) or 'none'!s:.80} there, {new.get(name) or 'none'!s:.80} here"
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    )


def _platform(content: Mapping[str, Any], environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return, by name, what the bits of a result depend on beside the cell and its data."""
    packages = environment.get("packages") or {}
    system = str(environment.get("platform") or "").split("-")
    code = content.get("code") or {}
    return {
        **{f"code of {name}": digest for name, digest in dict(code).items()},
        "BLAS": content.get("blas"),
        **content.get("versions", {}),
        "device": content.get("place"),
        "processor": environment.get("cpu"),
        "system": "-".join([system[0], *system[-3:]]),
        "Python": ".".join(str(environment.get("python", "")).split(".")[:2]),
        **{name: packages.get(name) for name in PACKAGES},
    }
