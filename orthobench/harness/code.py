"""The code that a result depends on: digests of the modules that are reached by imports."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

CORE = "orthobench"
RUN = f"{CORE}.harness.cell"
"""The module of the core that every run goes through."""

FRONT_DOOR = f"{CORE}.families"
"""What ``import orthobench`` may lead to in a problem or a solver: makers of instances."""


@cache
def digests(*classes: type) -> dict[str, str]:
    """Return digests of the source code that a result of some classes depends on.

    Parameters
    ----------
    *classes : type
        The classes of a problem and a solver.

    Returns
    -------
    dict
        For the module of each class a digest of the modules of its own package that it reaches by
        imports, itself included; and for ``"orthobench"`` one of the core's modules that these and
        a run reach. What is next to them in the package does not count, nor does what nothing of
        them imports, such as the report. A module that imports by computed names
        (``importlib.import_module``) depends on its whole package.
    """
    homes = {cls.__module__ for cls in classes}
    core = {m for home in (RUN, *homes) for m in reached(home) if _package(m) == CORE}
    own = {home: reached(home) - core for home in sorted(homes) if _package(home) != CORE}
    return {CORE: _digest(core), **{home: _digest(found) for home, found in own.items()}}


@cache
def reached(home: str) -> frozenset[str]:
    """Return the modules of its own package and of the core that a module reaches, and itself.

    Parameters
    ----------
    home : str
        Its dotted name.
    """
    inside = {CORE, _package(home)}
    found: set[str] = set()
    left = [home]
    while left:
        module = left.pop()
        if module not in found and _package(module) in inside and file_of(module):
            found.add(module)
            left.extend(imports(module))
    return frozenset(found)


@cache
def imports(module: str) -> frozenset[str]:
    """Return the modules that a module imports anywhere, also inside functions.

    Parameters
    ----------
    module : str
        Its dotted name; it is parsed, not imported.
    """
    if module == CORE:
        return _below(FRONT_DOOR)
    path = file_of(module)
    if path is None:
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        found.update(_imported(node, module, is_package=path.stem == "__init__"))
    return frozenset(found - {module})


def _imported(node: ast.AST, module: str, is_package: bool) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parts = module.split(".")
        above = parts[: len(parts) - node.level + is_package] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            yield inner if file_of(inner) else base
    elif isinstance(node, (ast.Name, ast.Attribute)) and _name(node) == "import_module":
        yield from _below(_package(module))


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


@cache
def file_of(module: str) -> Path | None:
    """Return the file of a module, of a package its ``__init__.py``; None where there is none."""
    package, *rest = module.split(".")
    root = _root(package)
    if root is None or root.suffix == ".py":
        return root if not rest else None
    for path in (root.joinpath(*rest, "__init__.py"), root.joinpath(*rest).with_suffix(".py")):
        if (rest or path.name == "__init__.py") and path.is_file():
            return path
    return None


@cache
def _root(package: str) -> Path | None:
    """Return the folder of a package, or the file of a module that is in none."""
    try:
        spec = find_spec(package)
    except (ValueError, ModuleNotFoundError):  # a script, which has no spec
        spec = None
    if spec is not None and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    loaded = getattr(sys.modules.get(package), "__file__", None)
    found = spec.origin if spec is not None and spec.has_location else loaded
    return Path(found) if found else None


@cache
def _below(package: str) -> frozenset[str]:
    """Return all modules of a package."""
    init = file_of(package)
    if init is None or init.name != "__init__.py":
        return frozenset()
    folder = init.parent
    paths = (path.relative_to(folder).with_suffix("").parts for path in folder.rglob("*.py"))
    names = (tuple(part for part in parts if part != "__init__") for parts in paths)
    return frozenset(".".join((package, *parts)) for parts in names)


def _package(module: str) -> str:
    return module.partition(".")[0]


def _digest(modules: Iterable[str]) -> str:
    """Return a digest of the sources of modules."""
    found = hashlib.sha256()
    for path in (file_of(module) for module in sorted(modules)):
        if path is not None:
            found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]
