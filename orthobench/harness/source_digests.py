"""Digests of what a result depends on beside parameters and data: code, and files of plugins.

Code is parsed: docstrings, comments, annotations and formatting do not count, nor do the names of
files: a name that is imported from the same package, or from the core, stands for what it is
imported from.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias
from warnings import warn

from orthobench.harness import objects

CORE = "orthobench"

HARNESS = {
    "harness.cell": "builds the instance of a cell and has it run",
    "harness.identity": "random streams",
    "harness.run": "the loop and its checkpoints",
    "harness.execution": "the clock; start, samples and warm-up",
    "harness.placement": "the clock of devices",
    "harness.stopping": "budgets and targets",
    "harness.judging": "metrics and feasibility",
    "harness.reducing.reduction": "passes over blocks",
    "tools.geometry": "the starting point",
}
"""The modules of the core that each run goes through, and what for.

To these come the modules of contract and tools that problem and solver reach by imports.
What else there is changes no result: how cells are sent, stored, measured and shown.
"""

MAKERS = f"{CORE}.makers"
"""The entry points of what a plugin may use of ``import orthobench``: the makers of instances."""

NO_DATA = frozenset({".py", ".pyc", ".pyi", ".md", ".rst", ".toml", ".in", ".nbi", ".nbc"})
"""Suffixes of files that no run loads as they are: code is parsed, the rest is for people."""

SILENT = frozenset({"annotation", "returns", "type_comment", "type_params", "kind", "ctx"})
"""The fields of a syntax tree that do not change what code does."""

KINDS_OF_FIELDS = ("ClassVar", "InitVar", "KW_ONLY")
"""Annotations that decide what a dataclass makes of a field; all others mean nothing."""

MOST = 5_000
"""How many files are remembered."""

Facts: TypeAlias = Mapping[str, Any]
"""What was found in a file: its ``digest``; of Python without what local imports stand for, and
with its ``imports`` (level, module, name there, name here), the ``names`` of local ones in the
order of their use, and whether it imports by ``computed`` names."""

LENGTH = 10
"""Hexadecimal digits of a digest."""

INSTALLED = ("site-packages", "dist-packages")


def digests(problem: type, solver: type) -> dict[str, str]:
    """Return digests of all code and files that the result of a run depends on.

    A result depends on the modules of plugins that are reached by imports: of the method, of its
    family, and of what families share. It depends on all other files of these packages, such as
    tables and shared libraries, and on those that `Solver.files` names. A module that imports by
    computed names (``importlib.import_module``) depends on all modules of its package.

    Parameters
    ----------
    problem, solver : type
        Their classes.

    Returns
    -------
    dict
        Under ``"orthobench"`` a digest of the core, under ``"problem"`` and ``"solver"`` those of
        the modules and files of their plugins, each by itself and in no order of names.
    """
    anew = any(map(objects.by_value, (problem, solver)))
    return dict((_digests.__wrapped__ if anew else _digests)(problem, solver))


@cache
def _digests(problem: type, solver: type) -> tuple[tuple[str, str], ...]:
    homes = {home for cls in (problem, solver) for home in homes_of(cls)}
    core = {f"{CORE}.{name}" for name in HARNESS}
    core |= {module for home in homes for module in reached(home) if _package(module) == CORE}
    found = _joined(_digest(module) for module in core)
    own = {"problem": parts(problem), "solver": parts(solver)}
    _memory().save()
    return (
        (CORE, hashlib.sha256(found.encode()).hexdigest()[:LENGTH]),
        *((role, _joined(of_role.values())) for role, of_role in own.items()),
    )


def parts(cls: type) -> dict[str, str]:
    """Return the digests of the modules and files that a class depends on outside the core.

    They are by file; of a class that is in none that counts, by its name.
    """
    code = {cls.__qualname__: objects.digest_of(cls, code_of)} if objects.by_value(cls) else {}
    return {name: digest[:LENGTH] for name, digest in code.items()} | _parts(cls)


@cache
def _parts(cls: type) -> dict[str, str]:
    modules = sorted({module for home in homes_of(cls) for module in reached(home)})
    own = [module for module in modules if _package(module) != CORE]
    found = {str(file_of(module)): _digest(module) for module in own}
    packages = dict.fromkeys(map(_package, (cls.__module__, *own)))
    return found | {str(path): _digest_of_file(path) for path in _files(cls, packages)}


def homes_of(cls: type) -> tuple[str, ...]:
    """Return the modules that the code of a class begins in: none of one that goes by value."""
    own = () if objects.by_value(cls) else (cls.__module__,)
    return getattr(cls, "homes", own)


def code_of(module: str) -> str:
    """Return a digest of a module and what it reaches; nothing of what is installed for all."""
    path = None if _package(module) in sys.stdlib_module_names else file_of(module)
    installed = path is None or any(part in INSTALLED for part in path.parts)
    if installed and _package(module) != CORE:
        return ""
    return _joined(map(_digest, reached(module)))


def forget() -> None:
    """Forget what this process has found, since files are loaded again."""
    for function in globals().values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def changed_files(cls: type, old: str) -> list[str]:
    """Return the files whose digests are not among those that were stored for a class."""
    known = set(old.split())
    return [Path(name).name for name, digest in parts(cls).items() if digest not in known]


def _files(cls: type, packages: Iterable[str]) -> Iterator[Path]:
    """Yield the files of packages that are no Python, and those that a class names."""
    module = file_of(cls.__module__)
    for package in packages:
        root = _root(package)
        if package == CORE or root is None:
            continue
        for path in sorted(root.rglob("*")):  # none of a package that is one file
            inner = path.relative_to(root).parts
            hidden = any(part.startswith((".", "__pycache__")) for part in inner)
            if (
                not hidden
                and path.suffix not in NO_DATA
                and path.name != "py.typed"
                and path.is_file()
            ):
                yield path
    for pattern in getattr(cls, "files", ()):
        folder = Path() if module is None else module.parent
        anchor = Path(pattern).anchor
        found = Path(anchor).glob(pattern[len(anchor) :]) if anchor else folder.glob(pattern)
        yield from (path for path in sorted(found) if path.is_file())


def warn_of_libraries(*classes: type) -> None:
    """Warn of each shared library that is loaded, and that no digest of the classes knows.

    Those of the system and of what is installed beside Python do not count; on Linux only.
    """
    for library in _unknown_libraries(classes, _loaded_code()):
        warn(
            f"{library} is loaded, and no result is made again when it changes: name it in "
            "`files` of the solver that calls it",
            stacklevel=3,
        )


def _loaded_code() -> str:
    """Return how much code is loaded: it grows with each library, and costs no list of them."""
    lines = _read(Path("/proc/self/status")).splitlines()
    return next((line for line in lines if line.startswith("VmLib")), "")


@cache
def _unknown_libraries(classes: tuple[type, ...], loaded_code: str) -> list[str]:
    """Return the libraries to warn of, which stay the same while no code is loaded."""
    del loaded_code  # part of the key
    lines = _read(Path("/proc/self/maps")).splitlines()
    loaded = {line[line.index("/") :] for line in lines if ".so" in line and "/" in line}
    own = {library for library in loaded if not _is_installed(library)}
    known = {str(Path(name).resolve()) for cls in classes for name in parts(cls)} if own else set()
    return sorted(own - known)


def _read(facts: Path) -> str:
    return facts.read_text(encoding="utf-8", errors="replace") if facts.exists() else ""


@cache
def _is_installed(library: str) -> bool:
    """Return whether a library is of the system, or of what is installed beside Python."""
    path, roots = Path(library), (sys.prefix, sys.base_prefix, "/usr", "/lib", "/opt")
    return any(part in INSTALLED for part in path.parts) or any(
        path.is_relative_to(Path(root).resolve()) for root in roots
    )


@cache
def reached(home: str) -> frozenset[str]:
    """Return a module and all modules of plugins and of the core that it reaches by imports.

    Parameters
    ----------
    home : str
        The dotted name of the module.
    """
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
    """Return the modules that a module imports, at its top or inside functions.

    Parameters
    ----------
    module : str
        The dotted name; the module is parsed, not imported.
    """
    if module == CORE:
        return frozenset(point.module for point in metadata.entry_points(group=MAKERS))
    facts = _facts(module)
    modules = {_origin(module, *one)[0] for one in facts["imports"]}
    if facts["computed"] and _package(module) != CORE:
        modules |= _modules_of(_package(module))
    return frozenset(modules - {module})


@cache
def _digest(module: str) -> str:
    """Return a digest of what a module does, where names that it imports do what they do."""
    facts = _facts(module)
    words = [facts["digest"]]
    for here in facts["names"]:
        for level, base, name_there, name_here in facts["imports"]:
            if name_here == here and _is_local(level, base, _package(module)):
                origin, name = _origin(module, level, base, name_there, here)
                words += [name, _facts(origin)["digest"] or origin]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:LENGTH]


def _origin(module: str, level: int, base: str, name: str, here: str) -> tuple[str, str]:
    """Return the module that an import leads to, and the name of what is imported from it.

    What a package only passes on leads to the module that has it.
    """
    del here
    if level:
        above = module.split(".")
        above = above[: len(above) - level + _is_package(module)]
        base = ".".join([*above, *([base] if base else [])])
    if not name:
        return base, ""
    if file_of(inner := f"{base}.{name}"):
        return inner, ""
    if base not in (CORE, module) and _is_package(base):
        passed = [one for one in _facts(base)["imports"] if one[3] == name]
        if len(passed) == 1:
            return _origin(base, *passed[0])
    return base, name


def _is_package(module: str) -> bool:
    path = file_of(module)
    return path is not None and path.stem == "__init__"


@cache
def _facts(module: str) -> Facts:
    """Return what the file of a module has; nothing where it is no Python."""
    path = file_of(module)
    if path is None or path.suffix != ".py":
        return {"digest": "", "imports": [], "names": [], "computed": False}
    source, package = path.read_bytes(), _package(module)
    name = f"{package} {hashlib.sha256(source).hexdigest()}"
    return _memory().of(name, lambda: _parsed(source, package))


def _parsed(source: bytes, package: str) -> Facts:
    """Return what a file of Python does; `package` is the top-level one that it belongs to."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # a template, or of another Python
        digest = hashlib.sha256(source).hexdigest()
        return {"digest": digest, "imports": [], "names": [], "computed": False}
    imports = [one for node in _statements(tree) for one in _imports(node)]
    local = {here for level, base, _, here in imports if here and _is_local(level, base, package)}
    order: dict[str, int] = {}
    text = "\0".join(_tokens(tree, package, local, order))
    return {
        "digest": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        "imports": imports,
        "names": [*order, *sorted(local - {*order})],
        "computed": b"import_module" in source and "import_module" in text,
    }


def _imports(node: ast.AST) -> Iterator[tuple[int, str, str, str]]:
    if isinstance(node, ast.Import):
        yield from ((0, alias.name, "", "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield node.level, node.module or "", alias.name, alias.asname or alias.name


def _is_local(level: int, base: str, package: str) -> bool:
    return bool(level) or _package(base) in (CORE, package) or _package(base) in _plugins()


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes, but for what only a type checker reads."""
    yield tree
    for node in ast.iter_child_nodes(tree):
        if _is_for_checkers(node):
            for inner in getattr(node, "orelse", ()):
                yield from _statements(inner)
        elif not isinstance(node, ast.expr):
            yield from _statements(node)


def _is_for_checkers(node: Any) -> bool:
    test = node.test if isinstance(node, ast.If) else None
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def _tokens(node: Any, package: str, local: set[str], order: dict[str, int]) -> list[str]:
    """Return what a part of a tree does, in words that no version of Python changes.

    A name of the `local` ones is its number in `order`, in which it comes as it is used first.
    """
    tokens: list[str] = []

    def add(node: Any) -> None:
        if isinstance(node, list):
            tokens.append("[")
            for item in node:
                add(item)
            tokens.append("]")
        elif isinstance(node, ast.Name) and node.id in local:
            tokens.append(f"@{order.setdefault(node.id, len(order))}")
        elif _is_for_checkers(node):
            add(node.orelse)
        elif not isinstance(node, ast.AST):
            tokens.append(repr(node))
        elif not (
            isinstance(node, ast.ImportFrom) and _is_local(node.level, node.module or "", package)
        ):
            tokens.append(type(node).__name__)
            for name, value in _meaning(node):
                tokens.append(name)
                add(value)

    add(node)
    return tokens


def _meaning(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a node that change what code does."""
    for name in node._fields:
        value = getattr(node, name, None)
        if name == "body" and isinstance(value, list):
            value = _without_docstring(node, value)
        if name not in SILENT and value not in (None, []):
            yield name, value
    if isinstance(node, ast.AnnAssign):
        text = ast.dump(node.annotation)
        yield from ((kind, []) for kind in KINDS_OF_FIELDS if kind in text)


def _without_docstring(node: ast.AST, body: list[Any]) -> list[Any]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
        return body[1:]
    return body


def _digest_of_file(path: Path) -> str:
    def digest() -> Facts:
        with path.open("rb") as file:
            return {"digest": hashlib.file_digest(file, "sha256").hexdigest()}

    status = path.stat()
    state = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return str(_memory().of(f"{path} {state}", digest)["digest"])[:LENGTH]


class _Memory:
    """What was found in files; in a file of the user's cache.

    Python goes by its content, so that a copy of a project is not parsed again; other files, which
    may be large, by their path and the state that a change of them changes.
    """

    def __init__(self) -> None:
        import platformdirs

        self.path = platformdirs.user_cache_path(CORE) / "parsed.json"
        code = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()  # the same in any checkout
        self._version = [*sys.version_info[:2], code]
        self.files: dict[str, Facts] = {}
        self._new = False
        with suppress(Exception):  # whatever it is, it is found out once more
            stored = json.loads(self.path.read_text())
            if stored["version"] == self._version and len(stored["files"]) < MOST:
                self.files = stored["files"]

    def of(self, name: str, find: Callable[[], Facts]) -> Facts:
        """Return what is remembered by a name, or what is found where there is nothing."""
        if name not in self.files:
            self.files[name], self._new = find(), True
        return self.files[name]

    def save(self) -> None:
        """Write it where there is something new; nothing is lost where that fails."""
        if not self._new:
            return
        from orthobench.tools.files import atomic_write

        self._new = False
        with suppress(Exception):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with atomic_write(self.path) as file:
                file.write(json.dumps({"version": self._version, "files": self.files}).encode())


@cache
def _memory() -> _Memory:
    return _Memory()


@cache
def _plugins() -> frozenset[str]:
    """Return the packages of all installed plugins: families and what families share."""
    return frozenset(_package(point.module) for point in metadata.entry_points(group=CORE))


@cache
def _is_inside(package: str, home: str) -> bool:
    """Return whether a package is the core or a plugin, or belongs to the plugin of another."""
    if package in (CORE, home) or package in _plugins():
        return True
    root = _root(home)
    folder = None if root is None else root.parent
    if folder is None or folder == Path(CORE) or home == CORE:
        return False
    if folder.name in INSTALLED:
        return package in _installed_with(home)
    return (folder / f"{package}.py").is_file() or (folder / package / "__init__.py").is_file()


@cache
def _installed_with(package: str) -> frozenset[str]:
    """Return the packages that the distribution of a plugin has beside one of them."""
    plugins = (one for one in metadata.distributions() if one.entry_points.select(group=CORE))
    tops = [frozenset(Path(file.parts[0]).stem for file in one.files or ()) for one in plugins]
    return frozenset().union(*(names for names in tops if package in names))


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


def _joined(found: Iterable[str]) -> str:
    return " ".join(sorted(set(found)))
