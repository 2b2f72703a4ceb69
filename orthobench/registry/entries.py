"""The entries of suites: specifications, classes, ``FILE.py:CLASS``, objects and instances."""

from __future__ import annotations

import importlib
import shlex
import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

from orthobench.contract.black_boxes import black_box
from orthobench.contract.parameters import changed_values
from orthobench.contract.problem import AnyInstance, Instance, Problem
from orthobench.contract.solver import Solver
from orthobench.errors import OrthobenchError, UsageError, quoted, unknown
from orthobench.harness.given import problem_of
from orthobench.harness.source_digests import CORE, file_of, forget, reached
from orthobench.registry.plugin_checks import reason
from orthobench.registry.plugins import OWN, Provided, Registry
from orthobench.tools import toml

KeyPath: TypeAlias = tuple[str | int, ...]
"""The path of a table or key: ``("solver", 0, "step")``."""


class SuiteError(Exception):
    """An error at a key of a suite, with the path of the key."""

    def __init__(self, path: KeyPath, message: str) -> None:
        super().__init__(message)
        self.path, self.message = path, message

    def as_usage_error(self, source: str) -> UsageError:
        """Return the error for users, with source and key: ``solver 2.step``."""
        parts = (f" {p + 1}" if isinstance(p, int) else f".{p}" for p in self.path)
        key = "".join(parts).removeprefix(".")
        return UsageError(f"{source}: {key}: {self.message}".replace(": : ", ": "))


def entries(
    items: Any, kind: str, registry: Registry, folder: Path | None = None
) -> list[dict[str, Any]]:
    """Return the tables of problems or solvers, each with the name of its class.

    Items are tables, specifications, classes, objects, black boxes, or instances as problems. The
    registry gets classes that are not installed.
    """
    items = [items] if isinstance(items, str) else items
    if not isinstance(items, list):
        raise SuiteError((kind,), f"must be written as [[{kind}]]")
    if not items:
        raise SuiteError((kind,), f"a suite needs at least one [[{kind}]]")
    found, classes = [], dict[str, type]()
    for i, item in enumerate(items):
        try:
            entry, cls = _entry(item, registry, folder)
        except OrthobenchError as error:
            raise SuiteError((kind, i), str(error)) from error
        if not isinstance(entry.get("name"), str):
            raise SuiteError((kind, i, "name"), f"every [[{kind}]] needs the name of a {kind}")
        if cls and classes.setdefault(entry["name"], cls) is not cls:
            raise SuiteError((kind, i), f"another class is called {entry['name']!r} too")
        found.append(entry)
    return found


def _entry(item: Any, registry: Registry, folder: Path | None) -> tuple[Any, type | None]:
    """Return the table of an item, and its class if that is not installed."""
    entry: Any = item
    match item:
        case Instance():
            return _given(item, registry), None
        case Solver() | Problem():
            entry = {"name": type(item), **changed_values(item)}
        case type():
            entry = {"name": item}
        case FunctionType():
            entry = {"name": black_box(item)}
        case str():
            entry = specification(item)
        case Mapping():
            pass
        case _:
            known = "table, class, object or specification such as 'oja step=0.5'"
            raise UsageError(f"{quoted(item)} is no {known}")
    cls = entry.get("name")
    if isinstance(cls, str) and ".py:" in cls:
        cls = class_in(cls, folder)
    if not isinstance(cls, type):
        return entry, None
    return {**entry, "name": registry.register(cls)}, cls


def _given(instance: AnyInstance, registry: Registry) -> dict[str, Any]:
    """Add an instance to the problems; return its entry."""
    base = registry.base_of(instance.oracle)
    text = f"{base.family} n={instance.oracle.n} k={instance.oracle.k}"
    names = (f"{text} #{number}" if number > 1 else text for number in count(1))
    label = next(name for name in names if name not in registry.problems)
    registry.problems[label] = Provided(problem_of(instance, base), OWN)  # type: ignore[arg-type]
    return {"name": label, "label": label}


def class_in(text: str, folder: Path | None = None) -> type:
    """Return the class of ``FILE.py:CLASS``, or the `black_box` of a function there.

    A file that has changed is loaded again.
    """
    file, _, name = text.rpartition(":")
    path = ((folder or Path()) / Path(file).expanduser()).resolve()
    if folder is not None and not path.is_relative_to(folder.resolve()):
        raise UsageError(f"a suite names files of its own folder, not {file}: pass it with -s")
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    module = _module(path)
    found = getattr(module, name, None)
    if isinstance(found, type):
        return found
    if isinstance(found, FunctionType):
        return black_box(found)
    own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == path.stem]
    raise unknown(f"class or function in {path.name}:", name, own)


def _module(path: Path) -> ModuleType:
    """Import a file by its name, as worker processes do."""
    folder, name = str(path.parent), path.stem
    if folder not in sys.path:
        sys.path.append(folder)  # last, so that it hides nothing
    importlib.invalidate_caches()
    spec = find_spec(name) if name.isidentifier() else None
    origin = spec.origin if spec else None
    if origin is None or Path(origin).resolve() != path:
        other = f", which is that of {origin}" if origin else ""
        raise UsageError(f"{path} cannot be imported by its name{other}: give it another")
    known = _states.get(path, {})
    if known != _state(known):
        for loaded in known:
            sys.modules.pop(loaded, None)
        forget()
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise UsageError(f"cannot import {path.name}: {reason(error, name, str(path))}") from error
    _states[path] = _state(reached(name))
    return module


def _state(modules: Iterable[str]) -> dict[str, int]:
    """Return the last changes of the files of modules outside the core."""
    files = {name: file_of(name) for name in modules if name.partition(".")[0] != CORE}
    return {name: file.stat().st_mtime_ns if file and file.exists() else 0
            for name, file in files.items()}  # fmt: skip


_states: dict[Path, dict[str, int]] = {}
"""The last changes of loaded files, and of those that they import."""


def specification(text: str) -> dict[str, Any]:
    """Parse ``NAME key=value ...``; a value that is not TOML is taken as a string."""
    if not isinstance(text, str):
        raise UsageError(f"a specification is a string NAME key=value ..., not {quoted(text)}")
    try:
        name, *words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"cannot read {text!r}: {error}; write NAME key=value ...") from None
    entry: dict[str, Any] = {"name": name}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"cannot read {word!r} in {text!r}; write NAME key=value ...")
        entry[key] = _value(value)
    return entry


def _value(text: str) -> Any:
    try:
        return toml.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
