"""Digests of the source code that a result depends on: the modules reached by imports."""

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
"""The module of the core that executes every run."""

BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
"""The parts of a statement that have statements."""

FAMILIES = f"{CORE}.families"
"""What a problem or a solver may use of ``import orthobench``: the makers of instances."""


@cache
def digests(*classes: type) -> dict[str, str]:
    """Return digests of the source code that a result depends on, by module.

    A module counts where it is reached by imports. So a result does not depend on other modules of
    the same package, nor on parts of the core such as the report. A module that imports by
    computed names (``importlib.import_module``) depends on its whole package.

    Parameters
    ----------
    *classes : type
        The classes of the problem and the solver.

    Returns
    -------
    dict
        Under the name of each class's module, a digest of the modules of its package that it
        reaches, itself included. Under ``"orthobench"``, a digest of the modules of the core that
        these modules and a run reach.
    """
    homes = {cls.__module__ for cls in classes}
    core = {m for home in (RUN, *homes) for m in reached(home) if _package(m) == CORE}
    own = {home: reached(home) - core for home in sorted(homes) if _package(home) != CORE}
    return {CORE: _digest(core), **{home: _digest(found) for home, found in own.items()}}


@cache
def reached(home: str) -> frozenset[str]:
    """Return a module and all modules of its package and of the core that it reaches by imports.

    Parameters
    ----------
    home : str
        The dotted name of the module.
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
    """Return the modules that a module imports, at its top or inside functions.

    Parameters
    ----------
    module : str
        The dotted name; the module is parsed, not imported.
    """
    if module == CORE:
        return _modules_of(FAMILIES)
    path = file_of(module)
    if path is None:
        return frozenset()
    source = path.read_bytes()
    found: set[str] = set()
    for node in _walk(ast.parse(source), statements=b"import_module" not in source):
        found.update(_imported(node, module, is_package=path.stem == "__init__"))
    return frozenset(found - {module})


def _walk(tree: ast.AST, statements: bool) -> Iterator[ast.AST]:
    """Yield a node and all below it; of `statements` only these, which is four times as fast."""
    yield tree
    for name in BLOCKS if statements else tree._fields:
        inner = getattr(tree, name, ())
        for node in inner if isinstance(inner, list) else (inner,):
            if isinstance(node, ast.AST):
                yield from _walk(node, statements)


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
        yield from _modules_of(_package(module))


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


@cache
def file_of(module: str) -> Path | None:
    """Return the file of a module, or of a package its ``__init__.py``; None where it has none."""
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
    """Return the folder of a top-level package, or the file of a top-level module."""
    try:
        spec = find_spec(package)
    except (ValueError, ModuleNotFoundError):  # a script has no spec
        spec = None
    if spec is not None and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    loaded = getattr(sys.modules.get(package), "__file__", None)
    found = spec.origin if spec is not None and spec.has_location else loaded
    return Path(found) if found else None


@cache
def _modules_of(package: str) -> frozenset[str]:
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
    """Return a digest of the names and sources of modules."""
    found = hashlib.sha256()
    for path in (file_of(module) for module in sorted(modules)):
        if path is not None:
            found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]
