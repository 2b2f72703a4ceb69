"""Digests of the code and the files that a result depends on.

Code is parsed: docstrings, comments, annotations of functions and formatting do not count.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from orthobench.harness import objects

CORE = "orthobench"

HARNESS = (
    "harness.cell", "harness.identity", "harness.run", "harness.execution", "harness.placement",
    "harness.stopping", "harness.judging", "tools.geometry",
)  # fmt: skip
"""Modules of the core that each run uses."""

CLUSTERS = "orthobench.clusters"
"""Entry points of the modules that reduce blocks, and run cells on Dask."""

MAKERS = f"{CORE}.makers"
"""Entry points of the functions that make instances."""

NO_DATA = (".py", ".pyc", ".pyi", ".typed", ".md", ".rst", ".toml", ".in", ".nbi", ".nbc")
"""Suffixes of files that no run reads as data."""

SILENT = frozenset({"returns", "type_comment", "type_params", "kind", "ctx"})
"""Fields of a syntax tree that do not change what code does."""

LENGTH = 10
"""Hexadecimal digits of a digest."""

INSTALLED = ("site-packages", "dist-packages")


class Facts(NamedTuple):
    """Digest of a file, and its imports: level, module, name there, name here."""

    digest: str = ""
    imports: tuple[tuple[int, str, str, str], ...] = ()
    computed: bool = False


def digests(problem: type, solver: type) -> dict[str, str]:
    """Return digests of all code and files that the result of a run depends on.

    These are the modules that the classes reach by imports, all other files of their packages, and
    those of `Solver.files`. A module that imports by computed names (``importlib.import_module``)
    depends on all modules of its package.

    Returns
    -------
    dict
        One digest of the core (``"orthobench"``), and those of modules and files of plugins
        (``"problem"`` and ``"solver"``).
    """
    return {
        CORE: _core(frozenset([*homes_of(problem), *homes_of(solver)])),
        "problem": _joined(parts(problem).values()),
        "solver": _joined(parts(solver).values()),
    }


@cache
def _core(homes: frozenset[str]) -> str:
    core = harness_modules()
    core |= {module for home in homes for module in reached(home) if _package(module) == CORE}
    return _hashed(_joined(_facts(module).digest for module in core).encode())


def harness_modules() -> set[str]:
    """Return the modules that each run uses, that of blocks included."""
    points = metadata.entry_points(group=CLUSTERS, name="blocks")
    return {f"{CORE}.{name}" for name in HARNESS} | {point.module for point in points}


def parts(cls: type) -> dict[str, str]:
    """Return the digests of the files that a class depends on outside the core, by path.

    A class of a script or a notebook stands for its code.
    """
    if not objects.by_value(cls):
        return _parts(cls)
    return {cls.__qualname__: objects.digest_of(cls, code_of)[:LENGTH], **_parts(cls)}


@cache
def _parts(cls: type) -> dict[str, str]:
    modules = {module for home in homes_of(cls) for module in reached(home)}
    own = [module for module in sorted(modules) if _package(module) != CORE]
    packages = dict.fromkeys(map(_package, (cls.__module__, *own)))
    files = [*(path for package in packages for path in _data_of(package)), *_named(cls)]
    found = {str(file_of(module)): _facts(module).digest for module in own}
    return found | {str(path): _digest_of_file(path) for path in files}


def homes_of(cls: type) -> tuple[str, ...]:
    """Return the modules from which the code of a class is followed."""
    own = () if objects.by_value(cls) else (cls.__module__,)
    return getattr(cls, "homes", own)


def code_of(module: str) -> str:
    """Return the digests of a module and those that it reaches; empty for installed libraries."""
    path = None if _package(module) in sys.stdlib_module_names else file_of(module)
    if _package(module) != CORE and (path is None or {*INSTALLED} & {*path.parts}):
        return ""
    return _joined(_facts(one).digest for one in reached(module))


def forget() -> None:
    """Forget what was found, because files are loaded again."""
    for function in globals().values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def changed_files(cls: type, old: str) -> list[str]:
    """Return the names of the files of a class whose digests are not among stored ones."""
    known = set(old.split())
    return [Path(name).name for name, digest in parts(cls).items() if digest not in known]


@cache
def _data_of(package: str) -> list[Path]:
    root = _root(package)
    if package == CORE or root is None:
        return []
    return [
        path
        for path in sorted(root.rglob("*"))  # empty if the package is one file
        if path.suffix not in NO_DATA
        and not any(p.startswith((".", "__pycache__")) for p in path.relative_to(root).parts)
        and path.is_file()
    ]


def _named(cls: type) -> Iterator[Path]:
    module = file_of(cls.__module__)
    for pattern in getattr(cls, "files", ()):
        anchor = Path(pattern).anchor
        folder = Path(anchor) if anchor else module.parent if module else Path()
        yield from (p for p in sorted(folder.glob(pattern.removeprefix(anchor))) if p.is_file())


@cache
def reached(home: str) -> frozenset[str]:
    """Return the modules of plugins and of the core that a module reaches."""
    package = _package(home)
    found: set[str] = set()
    left = [home]
    while left:
        module = left.pop()
        if module not in found and _is_inside(_package(module), package) and file_of(module):
            found.add(module)
            left.extend(imports(module))
    return frozenset(found)


@cache
def imports(module: str) -> frozenset[str]:
    """Return the modules that a module imports anywhere; it is parsed, not imported."""
    if module == CORE:
        return frozenset(point.module for point in metadata.entry_points(group=MAKERS))
    facts = _facts(module)
    modules = {_origin(module, *one) for one in facts.imports}
    if facts.computed and _package(module) != CORE:
        modules |= _modules_of(_package(module))
    return frozenset(modules - {module})


def _origin(module: str, level: int, base: str, name: str, _here: str) -> str:
    """Return the module that an import leads to, through packages that pass a name on."""
    if level:
        above = module.split(".")
        above = above[: len(above) - level + _is_package(module)]
        base = ".".join([*above, *([base] if base else [])])
    if name and file_of(inner := f"{base}.{name}"):
        return inner
    if name and base not in (CORE, module) and _is_package(base):
        passed = [one for one in _facts(base).imports if one[3] == name]
        if len(passed) == 1:
            return _origin(base, *passed[0])
    return base


def _is_package(module: str) -> bool:
    path = file_of(module)
    return path is not None and path.stem == "__init__"


@cache
def _facts(module: str) -> Facts:
    path = file_of(module)
    if path is None or path.suffix != ".py":
        return Facts()
    source = path.read_bytes()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # a template, or code of another version of Python
        return Facts(_hashed(source))
    tokens, found = _read(tree)
    text = "\0".join(tokens).encode("utf-8", "surrogatepass")
    return Facts(_hashed(text), tuple(found), b"import_module" in text)


def _imports(node: ast.AST) -> Iterator[tuple[int, str, str, str]]:
    if isinstance(node, ast.Import):
        yield from ((0, alias.name, "", "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield node.level, node.module or "", alias.name, alias.asname or alias.name


def _is_for_checkers(node: Any) -> bool:
    test = node.test if isinstance(node, ast.If) else None
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def _read(tree: ast.AST) -> tuple[list[str], list[tuple[int, str, str, str]]]:
    """Return the meaning of a tree as words, equal for each version of Python, and its imports."""
    tokens: list[str] = []
    found: list[tuple[int, str, str, str]] = []

    def add(node: Any) -> None:
        if isinstance(node, list):
            tokens.append("[")
            for item in node:
                add(item)
            tokens.append("]")
        elif _is_for_checkers(node):
            add(node.orelse)
        elif not isinstance(node, ast.AST):
            tokens.append(repr(node))
        else:
            tokens.append(type(node).__name__)
            found.extend(_imports(node))
            for name, value in _meaning(node):
                tokens.append(name)
                add(value)

    add(tree)
    return tokens, found


def _meaning(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a node that change what code does."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for name in node._fields:
        value = getattr(node, name, None)
        if name in SILENT or (isinstance(node, ast.arg) and name == "annotation"):
            continue
        if name == "body" and isinstance(node, documented):
            value = node.body[ast.get_docstring(node, clean=False) is not None :]
        if value not in (None, []):
            yield name, value


@cache
def _digest_of_file(path: Path) -> str:
    with path.open("rb") as file:  # it may be larger than memory
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


def _hashed(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:LENGTH]


@cache
def _plugins() -> frozenset[str]:
    return frozenset(_package(point.module) for point in metadata.entry_points(group=CORE))


@cache
def _is_inside(package: str, home: str) -> bool:
    """Return whether a package is the core, a plugin, or a neighbour of the package `home`."""
    if package in (CORE, home) or package in _plugins():
        return True
    root = _root(home)
    if root is None or home == CORE:
        return False
    if root.parent.name in INSTALLED:
        owners = _owners()
        return not {*owners.get(package, ())}.isdisjoint(owners.get(home, ()))
    neighbour = root.parent / package
    return neighbour.with_suffix(".py").is_file() or (neighbour / "__init__.py").is_file()


_owners = cache(metadata.packages_distributions)


@cache
def file_of(module: str) -> Path | None:
    """Return the file of a module or a package, or None."""
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
    """Return the folder or the file of a top-level package."""
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
    root = _root(package)
    paths = (path.relative_to(root).with_suffix("") for path in root.rglob("*.py")) if root else ()
    names = (tuple(part for part in path.parts if part != "__init__") for path in paths)
    return frozenset(".".join((package, *parts)) for parts in names)


def _package(module: str) -> str:
    return module.partition(".")[0]


def _joined(found: Iterable[str]) -> str:
    return " ".join(sorted(set(found)))
