"""Checks of a plugin, made as it is loaded: its hooks, and what each of them returns."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
import traceback
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import pluggy

from orthobench.contract import PROJECT
from orthobench.contract.parameters import parameters_of
from orthobench.contract.problem import Oracle, Problem
from orthobench.contract.solver import Solver
from orthobench.errors import OrthobenchError
from orthobench.registry import hookspecs
from orthobench.registry.claims import Paper

HOOKS = tuple(name for name in vars(hookspecs) if name.startswith(f"{PROJECT}_"))
"""The names of all hooks."""

SOLVER_METHODS = ("init", "step", "advance", "solution", "refuses")
"""The methods of a solver that are called."""

PROBLEM_METHODS = ("build", "checksum")
"""The methods of a problem that are called."""


class PluginError(OrthobenchError):
    """A plugin that cannot be used; the registry lists it as broken, and the rest works."""


def implementations(module: object) -> dict[str, Callable[[], object]]:
    """Return the hooks that a plugin implements, by name.

    Parameters
    ----------
    module : object
        The plugin: a module, or any object with the hooks as attributes.

    Raises
    ------
    PluginError
        Where there is no hook, or one is misspelt, takes arguments or is not marked with
        ``@hookimpl``.
    """
    manager = _manager()
    _refuse_unmarked(module, manager)
    try:
        manager.register(module)
        found = {
            caller.name: implementation.function
            for caller in manager.get_hookcallers(module) or ()
            for implementation in caller.get_hookimpls()
        }
    except pluggy.PluginValidationError as error:
        raise PluginError(_arguments(module) or " ".join(str(error).split())) from error
    finally:
        if manager.is_registered(module):
            manager.unregister(module)
    _refuse_unknown(found)
    if not found:
        raise PluginError(f"it implements no hook; the hooks are {', '.join(HOOKS)}")
    return found


@cache
def _manager() -> pluggy.PluginManager:
    """Return a manager that knows the hooks; it holds a plugin only while that is checked."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def items_of(hook: str, function: Callable[[], object]) -> list[object]:
    """Call a hook, and return a list of what it returns.

    Parameters
    ----------
    hook : str
        Its name.
    function : callable

    Raises
    ------
    PluginError
        Where the hook raises, or does not return an iterable.
    """
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
    """Return an error as text, with file and line of the innermost frame in a package.

    Parameters
    ----------
    error : BaseException
    package : str
        The package, or a module of it.
    otherwise : str
        The place to name where no frame is in the package.
    """
    top, where = package.partition(".")[0], otherwise
    if isinstance(error, SyntaxError):
        where = f"{error.filename}, line {error.lineno}"
    for frame, line in traceback.walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__")).partition(".")[0] == top:
            where = f"{frame.f_code.co_filename}, line {line}"
    text = error.msg if isinstance(error, SyntaxError) else error
    return f"{type(error).__name__}: {text} ({where})"


def solver_name(item: object) -> str:
    """Return the name of a solver class.

    Raises
    ------
    PluginError
        Where it is not a solver, or could not run.
    """
    cls = _checked_class(item, Solver, SOLVER_METHODS)
    if cls.step is Solver.step and cls.advance is Solver.advance:
        raise PluginError(f"{cls.__name__} has neither the method step nor advance")
    _oracle_type(cls, "needs")
    return _name(cls)


def problem_name(item: object) -> str:
    """Return the name of a problem class.

    Raises
    ------
    PluginError
        Where it is not a problem, or could not be built.
    """
    cls = _checked_class(item, Problem, PROBLEM_METHODS)
    _oracle_type(cls, "offers")
    for attribute in ("family", "primary", "tuned_by"):
        _text(cls, attribute)
    return _name(cls)


def suite_name(item: object) -> str:
    """Return the name of a suite: the stem of its file.

    Raises
    ------
    PluginError
        Where it is not the path of a TOML file that exists.
    """
    if not isinstance(item, Path):
        raise PluginError(f"{item!r} is not the path of a suite")
    if item.suffix != ".toml" or not item.is_file():
        raise PluginError(f"the suite {item} is no TOML file that exists")
    return item.stem


def paper_name(item: object) -> str:
    """Return the name of a paper.

    Raises
    ------
    PluginError
        Where it is not a `Paper`.
    """
    if not isinstance(item, Paper):
        raise PluginError(f"{item!r} is not a Paper")
    return item.name


def _refuse_unmarked(module: object, manager: pluggy.PluginManager) -> None:
    """Refuse functions with the name of a hook, or nearly, that lack the marker of hooks."""
    for name in dir(module):
        near = get_close_matches(name, HOOKS, n=1, cutoff=0.8)
        unmarked = near and manager.parse_hookimpl_opts(module, name) is None
        if unmarked and inspect.isroutine(getattr(module, name)):
            raise PluginError(
                f"{name} is not marked as a hook: write @hookimpl above it "
                "(from orthobench.contract import hookimpl)"
            )


def _arguments(module: object) -> str:
    """Return a sentence about the first hook that takes arguments; empty where none does."""
    for hook in HOOKS:
        function = getattr(module, hook, None)
        names = ", ".join(inspect.signature(function).parameters) if callable(function) else ""
        if names:
            return f"{hook} takes ({names}), but hooks are called without arguments"
    return ""


def _refuse_unknown(names: Iterable[str]) -> None:
    for name in names:
        if name not in HOOKS:
            near = get_close_matches(name, HOOKS, n=1)
            hint = f"did you mean {near[0]!r}? The" if near else "the"
            raise PluginError(f"unknown hook {name!r}; {hint} hooks are {', '.join(HOOKS)}")


def _checked_class(item: object, base: type, methods: Iterable[str]) -> Any:
    """Return a class, or raise where it cannot be made, or its methods cannot be called."""
    if not (inspect.isclass(item) and issubclass(item, base)):
        raise PluginError(f"{_shown(item)} is not a subclass of {base.__name__}")
    if inspect.isabstract(item):
        missing = ", ".join(sorted(getattr(item, "__abstractmethods__", ())))
        raise PluginError(f"{item.__name__} lacks the methods {missing}")
    if not dataclasses.is_dataclass(item) or not item.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise PluginError(f"{item.__name__} is not a frozen dataclass")
    for name in methods:
        _check_signature(item, base, name)
    try:
        parameters_of(item)
    except (NameError, TypeError) as error:
        raise PluginError(f"{item.__name__} has a parameter without a type: {error}") from error
    return item


def _check_signature(cls: type, base: type, name: str) -> None:
    """Raise where a method does not take the arguments of the base class's."""
    instance: object = object.__new__(cls)
    arguments = list(inspect.signature(getattr(base, name)).parameters)[1:]
    try:
        inspect.signature(getattr(instance, name)).bind(*arguments)
    except ValueError:  # compiled functions have no signature
        pass
    except TypeError as error:
        raise PluginError(
            f"{cls.__name__}.{name} is called as {name}({', '.join(arguments)}), "
            f"which it does not take: {error}"
        ) from error


def _oracle_type(cls: Any, attribute: str) -> None:
    value = _attribute(cls, attribute)
    if not (inspect.isclass(value) and issubclass(value, Oracle)):
        raise PluginError(f"{cls.__name__}.{attribute} must be a type of Oracle, not {value!r}")


def _name(cls: Any) -> str:
    name = _text(cls, "name")
    if any(character.isspace() for character in name):
        raise PluginError(f"{cls.__name__}.name must be one word, not {name!r}")
    return name


def _text(cls: Any, attribute: str) -> str:
    value = _attribute(cls, attribute)
    if not isinstance(value, str) or not value:
        raise PluginError(f"{cls.__name__}.{attribute} must be a word, not {value!r}")
    return value


def _attribute(cls: Any, attribute: str) -> Any:
    if not hasattr(cls, attribute):
        raise PluginError(f"{cls.__name__} lacks the class attribute {attribute!r}")
    return getattr(cls, attribute)


def _shown(item: object) -> str:
    return textwrap.shorten(repr(item), 80, placeholder=" ...")
