"""What a plugin's hooks may return: checked as it is loaded, so that no run meets it first."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
import traceback
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import pluggy

from orthobench.contract.hooks import PROJECT
from orthobench.contract.parameters import parameters_of
from orthobench.contract.problem import Oracle, Problem
from orthobench.contract.solver import Solver
from orthobench.errors import OrthobenchError
from orthobench.registry import hookspecs
from orthobench.registry.claims import Paper

HOOKS = tuple(name for name in vars(hookspecs) if name.startswith(f"{PROJECT}_"))
"""The hooks, by name."""

SOLVER_METHODS = ("init", "step", "advance", "solution", "refuses")
PROBLEM_METHODS = ("build", "checksum")
"""What the harness calls of a solver and of a problem."""


class AdmissionError(OrthobenchError, TypeError):
    """Something that a plugin brings and that could not run; says what of it is wrong."""


def implementations(module: object) -> dict[str, Callable[[], object]]:
    """Return the hooks that a plugin implements, as pluggy finds and checks them.

    Parameters
    ----------
    module : object
        The plugin: a module, or any object with the hooks as attributes.

    Raises
    ------
    AdmissionError
        On a misspelt hook (suggests the nearest), one that takes arguments, one that is not
        marked with ``@hookimpl``, or where there is none.
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
        raise AdmissionError(_arguments(module) or " ".join(str(error).split())) from error
    finally:
        if manager.is_registered(module):
            manager.unregister(module)
    _refuse_unknown(found)
    if not found:
        raise AdmissionError(f"it implements no hook; the hooks are {', '.join(HOOKS)}")
    return found


@cache
def _manager() -> pluggy.PluginManager:
    """Return pluggy's manager with the hooks of orthobench; it holds a plugin while it is read."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def items_of(hook: str, function: Callable[[], object]) -> list[object]:
    """Return what a hook returns, as a list.

    Raises
    ------
    AdmissionError
        Where it raises, or returns something else than a list or another iterable.
    """
    try:
        returned = function()
        if isinstance(returned, Iterable) and not isinstance(returned, (str, bytes)):
            return list(returned)
    except Exception as error:
        package = getattr(function, "__module__", None) or ""
        raise AdmissionError(f"{hook} raises {reason(error, package, hook)}") from error
    hint = "; is a return missing?" if returned is None else ""
    raise AdmissionError(f"{hook} must return a list, not {returned!r}{hint}")


def reason(error: BaseException, package: str, otherwise: str) -> str:
    """Return what was raised, and where in a package: its innermost line that took part.

    Parameters
    ----------
    error : BaseException
    package : str
        The package, or a module of it.
    otherwise : str
        What to say where no line of the package took part.
    """
    top, where = package.partition(".")[0], otherwise
    if isinstance(error, SyntaxError):
        where = f"{error.filename}, line {error.lineno}"
    for frame, line in traceback.walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__")).partition(".")[0] == top:
            where = f"{frame.f_code.co_filename}, line {line}"
    said = error.msg if isinstance(error, SyntaxError) else error
    return f"{type(error).__name__}: {said} ({where})"


def solver_name(item: object) -> str:
    """Return the name of a solver class.

    Raises
    ------
    AdmissionError
        Where it is no solver that could run.
    """
    cls = _admitted(item, Solver, SOLVER_METHODS)
    if cls.step is Solver.step and cls.advance is Solver.advance:
        raise AdmissionError(f"{cls.__name__} has neither the method step nor advance")
    _oracle_type(cls, "needs")
    return _name(cls)


def problem_name(item: object) -> str:
    """Return the name of a problem class.

    Raises
    ------
    AdmissionError
        Where it is no problem that could run.
    """
    cls = _admitted(item, Problem, PROBLEM_METHODS)
    _oracle_type(cls, "offers")
    for attribute in ("family", "primary", "tuned_by"):
        _text(cls, attribute)
    return _name(cls)


def suite_name(item: object) -> str:
    """Return the name of a suite: the stem of its file.

    Raises
    ------
    AdmissionError
        Where it is not the path of a TOML file that is there.
    """
    if not isinstance(item, Path):
        raise AdmissionError(f"{item!r} is not the path of a suite")
    if item.suffix != ".toml" or not item.is_file():
        raise AdmissionError(f"the suite {item} is no TOML file that is there")
    return item.stem


def paper_name(item: object) -> str:
    """Return the name of a paper.

    Raises
    ------
    AdmissionError
        Where it is none.
    """
    if not isinstance(item, Paper):
        raise AdmissionError(f"{item!r} is not a Paper")
    return item.name


def _refuse_unmarked(module: object, manager: pluggy.PluginManager) -> None:
    """Refuse functions that are called as hooks are, and that nobody would ever call."""
    for name in dir(module):
        near = get_close_matches(name, HOOKS, n=1, cutoff=0.8)
        unmarked = near and manager.parse_hookimpl_opts(module, name) is None
        if unmarked and inspect.isroutine(getattr(module, name)):
            raise AdmissionError(
                f"{name} is not marked as a hook: write @hookimpl above it "
                "(from orthobench.contract import hookimpl)"
            )


def _arguments(module: object) -> str:
    """Return which hook takes arguments, in a sentence; empty where none does."""
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
            raise AdmissionError(f"unknown hook {name!r}; {hint} hooks are {', '.join(HOOKS)}")


def _admitted(item: object, base: type, methods: Iterable[str]) -> Any:
    """Return the class, where it is one that can be made and called."""
    if not (inspect.isclass(item) and issubclass(item, base)):
        raise AdmissionError(f"{_shown(item)} is not a subclass of {base.__name__}")
    if inspect.isabstract(item):
        missing = ", ".join(sorted(getattr(item, "__abstractmethods__", ())))
        raise AdmissionError(f"{item.__name__} lacks the methods {missing}")
    if not dataclasses.is_dataclass(item) or not item.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise AdmissionError(f"{item.__name__} is not a frozen dataclass")
    for mistake in _uncallable(item, base, methods):
        raise AdmissionError(mistake)
    try:
        parameters_of(item)
    except (NameError, TypeError) as error:
        raise AdmissionError(f"{item.__name__} has a parameter without a type: {error}") from error
    return item


def _uncallable(cls: type, base: type, methods: Iterable[str]) -> Iterator[str]:
    """Yield the methods that do not take what the harness calls them with."""
    instance: object = object.__new__(cls)
    for name in methods:
        wanted = list(inspect.signature(getattr(base, name)).parameters)[1:]
        try:
            inspect.signature(getattr(instance, name)).bind(*wanted)
        except ValueError:  # compiled, without a signature
            continue
        except TypeError as error:
            yield (
                f"{cls.__name__}.{name} is called as {name}({', '.join(wanted)}), "
                f"which it does not take: {error}"
            )


def _oracle_type(cls: Any, attribute: str) -> None:
    value = _attribute(cls, attribute)
    if not (inspect.isclass(value) and issubclass(value, Oracle)):
        raise AdmissionError(f"{cls.__name__}.{attribute} must be a type of Oracle, not {value!r}")


def _name(cls: Any) -> str:
    name = _text(cls, "name")
    if any(character.isspace() for character in name):
        raise AdmissionError(f"{cls.__name__}.name must be one word, not {name!r}")
    return name


def _text(cls: Any, attribute: str) -> str:
    value = _attribute(cls, attribute)
    if not isinstance(value, str) or not value:
        raise AdmissionError(f"{cls.__name__}.{attribute} must be a word, not {value!r}")
    return value


def _attribute(cls: Any, attribute: str) -> Any:
    if not hasattr(cls, attribute):
        raise AdmissionError(f"{cls.__name__} lacks the class attribute {attribute!r}")
    return getattr(cls, attribute)


def _shown(item: object) -> str:
    return textwrap.shorten(repr(item), 80, placeholder=" ...")
