"""Checks of a plugin as it is loaded: its hooks and their items."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from orthobench.contract.parameters import parameters_of
from orthobench.contract.problem import Oracle, Problem
from orthobench.contract.solver import Solver
from orthobench.errors import OrthobenchError, unknown


class PluginError(OrthobenchError):
    """A plugin that cannot be used; the registry lists it as broken."""


def implementations(module: object) -> dict[str, Callable[[], object]]:
    """Return the hooks that a plugin implements, by name."""
    hooks: dict[str, Callable[[], object]] = {}
    for name in (name for name in dir(module) if name.startswith("orthobench_")):
        function = getattr(module, name)
        if not inspect.isroutine(function):
            continue
        marked = getattr(function, "is_hook", False)
        remedy = "write @hookimpl above it (from orthobench.contract import hookimpl)"
        _require(marked, f"{name} is not marked as a hook: {remedy}")
        _require(name in HOOKS, str(unknown("hook", name, HOOKS)))
        hooks[name] = function
    _require(hooks, f"it implements no hook; the hooks are {', '.join(HOOKS)}")
    return hooks


def items_of(hook: str, function: Callable[[], object]) -> list[object]:
    """Call a hook, and return a list of its items."""
    try:
        returned = function()
        if isinstance(returned, Iterable) and not isinstance(returned, (str, bytes)):
            return list(returned)
    except Exception as error:
        package = getattr(function, "__module__", None) or ""
        raise PluginError(f"{hook} raises {reason(error, package, hook)}") from error
    hint = "; is a return missing?" if returned is None else ""
    raise PluginError(f"{hook} must return a list, not {returned!r}{hint}")


def reason(error: BaseException, package: str, otherwise: str) -> str:
    """Return an error with file and line of the innermost frame in a package, or `otherwise`."""
    top, where = package.partition(".")[0], otherwise
    if isinstance(error, SyntaxError):
        where = f"{error.filename}, line {error.lineno}"
    for frame, line in traceback.walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__")).partition(".")[0] == top:
            where = f"{frame.f_code.co_filename}, line {line}"
    text = error.msg if isinstance(error, SyntaxError) else error
    return f"{type(error).__name__}: {text} ({where})"


def solver_name(item: object) -> str:
    """Return the name of a solver class, or raise `PluginError`."""
    called = "init", "step", "advance", "solution", "refuses"
    cls = _checked_class(item, Solver, called, "needs")
    steps = cls.step is not Solver.step or cls.advance is not Solver.advance
    _require(steps, f"{cls.__name__} has neither the method step nor advance")
    return str(cls.name)


def problem_name(item: object) -> str:
    """Return the name of a problem class, or raise `PluginError`."""
    cls = _checked_class(item, Problem, ("build", "checksum"), "offers")
    for attribute in ("family", "primary", "tuned_by"):
        _check_text(cls, attribute)
    return str(cls.name)


def suite_name(item: object) -> str:
    """Return the stem of a TOML file, or raise `PluginError`."""
    if not isinstance(item, Path) or item.suffix != ".toml" or not item.is_file():
        raise PluginError(f"the suite {item} is no TOML file that exists, as a Path")
    return item.stem


def paper_name(item: object) -> str:
    """Return the name of a paper, or raise `PluginError`."""
    if not (isinstance(name := getattr(item, "name", None), str) and hasattr(item, "claims")):
        raise PluginError(f"{item!r} is not a Paper")
    return name


KINDS: Mapping[str, tuple[str, Callable[[object], str]]] = {
    "solver": ("orthobench_solvers", solver_name),
    "problem": ("orthobench_problems", problem_name),
    "suite": ("orthobench_suites", suite_name),
    "paper": ("orthobench_claims", paper_name),
}
"""The hook of each kind, and the function that checks and names its items."""

HOOKS = tuple(hook for hook, _ in KINDS.values())
"""The names of all hooks."""


def _require(condition: object, message: str) -> None:
    if not condition:
        raise PluginError(message)


def _checked_class(item: object, base: type, methods: Iterable[str], oracle: str) -> Any:
    """Return a class that can be made, and whose `methods` can be called, or raise."""
    if not (inspect.isclass(item) and issubclass(item, base)):
        shown = textwrap.shorten(repr(item), 80, placeholder=" ...")
        raise PluginError(f"{shown} is not a subclass of {base.__name__}")
    name, cls = item.__name__, cast(Any, item)
    missing = ", ".join(sorted(getattr(item, "__abstractmethods__", ())))
    _require(not inspect.isabstract(item), f"{name} lacks the methods {missing}")
    frozen = dataclasses.is_dataclass(item) and cls.__dataclass_params__.frozen
    _require(frozen, f"{name} is not a frozen dataclass")
    for method in methods:
        _check_signature(item, base, method)
    try:
        parameters_of(item)
    except (NameError, TypeError) as error:
        raise PluginError(f"{name} has a parameter without a type: {error}") from error
    kind = getattr(cls, oracle, None)
    right = inspect.isclass(kind) and issubclass(kind, Oracle)
    _require(right, f"{name}.{oracle} must be a type of Oracle, not {kind!r}")
    _check_text(cls, "name")
    _require(len(cls.name.split()) == 1, f"{name}.name must be one word, not {cls.name!r}")
    return cls


def _check_signature(cls: type, base: type, name: str) -> None:
    """Raise unless a method takes the base class's arguments."""
    instance: object = object.__new__(cls)
    arguments = list(inspect.signature(getattr(base, name)).parameters)[1:]
    try:
        inspect.signature(getattr(instance, name)).bind(*arguments)
    except ValueError:  # compiled functions have no signature
        pass
    except TypeError as error:
        call = f"{name}({', '.join(arguments)})"
        why = f"{cls.__name__}.{name} is called as {call}, which it does not take: {error}"
        raise PluginError(why) from error


def _check_text(cls: Any, attribute: str) -> None:
    value = getattr(cls, attribute, None)
    right = isinstance(value, str) and value
    _require(right, f"{cls.__name__}.{attribute} must be a word, not {value!r}")
