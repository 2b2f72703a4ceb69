"""Cells of a stranger's store, made again from the names and values that it has.

Nothing in a store is code. Names are looked up among what is installed, values are checked like
those of a suite, and files are read only below folders that the user named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from orthobench._version import __version__
from orthobench.contract.problem import AnyProblem, Oracle
from orthobench.contract.solver import AnySolver
from orthobench.errors import OrthobenchError, UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.identity import canonical
from orthobench.harness.stopping import Budget, Target
from orthobench.registry.plugins import Registry
from orthobench.results import checks
from orthobench.tools.environment import version
from orthobench.tools.files import refuse_files

T = TypeVar("T")

MAY_DIFFER = ("versions", "blas", "place", "code")
"""The parts of a cell's content that say on what it ran, and by what; any other makes it another
cell."""


class NotHereError(UsageError):
    """Something that a cell needs and that is not here; says what."""


class Rebuilder:
    """What makes the cells of a store again.

    Parameters
    ----------
    registry : Registry
        All that a store can name.
    folders : sequence of Path
        Where files may be read that a store names.
    """

    def __init__(self, registry: Registry, folders: Sequence[Path] = ()) -> None:
        self._registry, self._folders = registry, folders
        self._problem = cache(partial(self._made, registry.problem))
        self._solver = cache(self._made_solver)
        self._data: Callable[[AnyProblem], str] = cache(lambda problem: problem.checksum())

    def cell(self, content: Mapping[str, Any]) -> Cell:
        """Return the cell with a content, as it is run here.

        Raises
        ------
        NotHereError
            Where it cannot be run here, or would be another cell: with other parameters, on other
            data.
        """
        try:
            cell = self._cell(content)
            here = cell.content
        except OrthobenchError as error:
            raise NotHereError(str(error)) from None
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise NotHereError(f"no cell has such values: {error!s:.200}") from None
        for part in sorted({*content, *here} - {*MAY_DIFFER}):
            if content.get(part) == here.get(part):
                continue
            if part == "data":
                raise NotHereError(f"its data are others here: those of {cell.problem.name}")
            if part in ("problem", "solver"):
                raise NotHereError(f"{part} {here[part]['name']} has other parameters here")
            raise NotHereError(f"its {part} is another here")
        return cell

    def _cell(self, content: Mapping[str, Any]) -> Cell:
        problem = self._problem(canonical(content["problem"]))
        solver = self._solver(canonical(content["solver"]), problem.offers)
        _refuse_missing(problem, solver)
        target, threads = content["until"], content["threads"]
        if not isinstance(threads, int) or not 1 <= threads <= (os.cpu_count() or 1):
            raise NotHereError(f"it needs {threads!r:.20} threads, this machine has fewer")
        provided = (
            self._registry.problems[problem.name],
            self._registry.solver_class(solver.name, problem.offers),
        )
        versions = {
            "orthobench": __version__,
            **{name: version(name) or "none" for name in solver.packages},
            **dict(one.version for one in provided),
        }
        return Cell(
            problem, solver, content["seed"], Budget(**content["budget"]),
            None if target is None else Target(**target), threads,
            tuple(sorted(versions.items())), self._data(problem),
        )  # fmt: skip

    def _made_solver(self, text: str, offers: type[Oracle]) -> AnySolver:
        return self._made(partial(self._registry.solver, offers=offers), text)

    def _made(self, make: Callable[[str, Mapping[str, Any]], T], text: str) -> T:
        named = checks.document(text)
        parameters = named["parameters"]
        refuse_files(parameters, self._folders)
        return make(named["name"], parameters)


def _refuse_missing(problem: AnyProblem, solver: AnySolver) -> None:
    if missing := solver.missing_packages():
        raise NotHereError(f"solver {solver.name}: {missing}")
    if solver.place.address:
        raise NotHereError("a store names no cluster, whose owner could run code here")
    if not solver.place.is_default and (why := solver.place.missing()):
        raise NotHereError(f"nothing can be computed on {solver.place}: {why}")
    for item in (problem, solver):
        if type(item).__module__ == "__main__":
            raise NotHereError(f"{item.name} is defined in a script")


def other_code(theirs: Mapping[str, Any], here: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the modules whose code is another here, from the contents of a cell."""
    old, new = theirs.get("code"), here["code"]
    old = old if isinstance(old, Mapping) else {}
    return tuple(sorted(name for name in {*old, *new} if old.get(name) != new.get(name)))
