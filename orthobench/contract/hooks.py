"""Hooks: the functions of a plugin that return its solvers, problems and suites."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeVar

from orthobench.contract.problem import Problem
from orthobench.contract.solver import Solver

F = TypeVar("F", bound=Callable[..., Any])


def hookimpl(function: F) -> F:
    """Mark a function as a hook.

    ::

        @hookimpl
        def orthobench_solvers():
            return [MySolver]
    """
    vars(function)["is_hook"] = True
    return function


@dataclass(frozen=True)
class BrokenModule:
    """A module that cannot be imported, and the error; a hook may return it beside classes."""

    name: str
    error: BaseException


Hooks = tuple[Callable[[], list[Any]], Callable[[], list[Any]], Callable[[], list[Path]]]
"""The functions that return solvers, problems and suites."""


def discovered(package: str) -> Hooks:
    """Return hooks that return the contents of a package, by its ``__name__``.

    ::

        # __init__.py
        orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)

    Solvers are the classes with a `name` in modules of the folder ``solvers``, problems those in
    ``problems``, suites the files ``suites/*.toml``. Names that begin with an underscore are left
    out, those of modules too. Modules are imported when a hook is called; a broken one is listed
    with its error.
    """

    @hookimpl
    def orthobench_solvers() -> list[Any]:
        return _found(Solver, f"{package}.solvers")

    @hookimpl
    def orthobench_problems() -> list[Any]:
        return _found(Problem, f"{package}.problems")

    @hookimpl
    def orthobench_suites() -> list[Path]:
        return sorted(Path(import_module(package).__path__[0]).glob("suites/*.toml"))

    return orthobench_solvers, orthobench_problems, orthobench_suites


def _found(base: type, folder: str) -> list[Any]:
    return list(_classes(base, folder)) if find_spec(folder) else []


def _classes(base: type, name: str) -> Iterator[type | BrokenModule]:
    """Yield the named subclasses that a module and the modules in it define."""
    try:
        module = import_module(name)
    except (Exception, SystemExit) as error:
        yield BrokenModule(name, error)
        return
    for attribute, item in vars(module).items():
        own = inspect.isclass(item) and item.__module__ == name and item.__name__ == attribute
        if own and issubclass(item, base) and hasattr(item, "name") and attribute[0] != "_":
            yield item
    for _, inner, _ in iter_modules(getattr(module, "__path__", ()), f"{name}."):
        if not inner.rpartition(".")[2].startswith("_"):
            yield from _classes(base, inner)
