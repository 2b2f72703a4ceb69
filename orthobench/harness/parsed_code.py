"""What code means: digests of parsed files, without what does not change what it does.

Docstrings, comments, annotations and formatting do not count, nor do the names of files: a name
that is imported from the same package, or from the core, stands for what it is imported from.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

CORE = "orthobench"

MOST = 20_000
"""How many files are remembered."""

SILENT = frozenset({"annotation", "returns", "type_comment", "type_params", "kind", "ctx"})
"""The fields of a syntax tree that do not change what code does."""

KINDS_OF_FIELDS = ("ClassVar", "InitVar", "KW_ONLY")
"""Annotations that decide what a dataclass makes of a field; all others mean nothing."""

Import: TypeAlias = tuple[int, str, str, str]
"""Level and module of an import, the name there and the one here; none for ``import module``."""


@dataclass(frozen=True)
class Parsed:
    """What a file of Python does, and what it imports.

    Attributes
    ----------
    digest : str
        Without what local imports stand for.
    bound : list of list of Import
        The local imports of each name that stands for one, in the order of first use.
    imports : list of Import
        All imports, but for those that only a type checker does.
    computed : bool
        Whether modules are imported by names that are computed.
    """

    digest: str
    bound: list[list[Import]]
    imports: list[Import]
    computed: bool


def parsed(path: Path, package: str) -> Parsed:
    """Return what a file of Python does; `package` is the top-level package that it belongs to."""
    known = _cache().get(path, lambda: _parsed(path.read_bytes(), package))
    bound, imports = known["bound"], known["imports"]
    return Parsed(
        known["digest"], [[(*i,) for i in each] for each in bound], [(*i,) for i in imports],
        known["computed"],
    )  # fmt: skip


def digest_of_file(path: Path) -> str:
    """Return a digest of the content of a file."""

    def digest() -> dict[str, Any]:
        with path.open("rb") as file:
            return {"digest": hashlib.file_digest(file, "sha256").hexdigest()}

    found: str = _cache().get(path, digest)["digest"]
    return found


def save() -> None:
    """Remember what was found, in the user's cache; it is found out again where that fails."""
    _cache().save()


def _parsed(source: bytes, package: str) -> dict[str, Any]:
    tree = ast.parse(source)
    reader = _Reader(package)
    for node in _statements(tree):
        reader.note(node)
    text = "\0".join(reader.tokens(tree))
    unused = sorted(set(reader.local) - set(reader.order))
    return {
        "digest": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        "bound": [reader.local[name] for name in (*reader.order, *unused)],
        "imports": reader.imports,
        "computed": b"import_module" in source and "import_module" in text,
    }


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes, but for what only a type checker reads."""
    yield tree
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and _is_for_checkers(node):
            for inner in node.orelse:
                yield from _statements(inner)
        elif not isinstance(node, ast.expr):
            yield from _statements(node)


def _is_for_checkers(node: ast.If) -> bool:
    test = node.test
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


@dataclass
class _Reader:
    """Reads the syntax tree of a file.

    Attributes
    ----------
    local : dict
        The local imports of each name that stands for one.
    order : dict
        The numbers of those names that are used.
    """

    package: str
    local: dict[str, list[Import]] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)

    def note(self, node: ast.AST) -> None:
        """Take notice of an import."""
        if isinstance(node, ast.Import):
            self.imports += [(0, alias.name, "", "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                here = alias.asname or alias.name
                found = (node.level, node.module or "", alias.name, here)
                self.imports.append(found)
                if self._is_local(node):
                    self.local.setdefault(here, []).append(found)

    def _is_local(self, node: ast.ImportFrom) -> bool:
        return bool(node.level) or (node.module or "").split(".")[0] in (CORE, self.package)

    def tokens(self, node: Any) -> Iterator[str]:
        """Yield what a part of the tree does, in words that no version of Python changes."""
        if isinstance(node, list):
            yield "["
            for item in node:
                yield from self.tokens(item)
            yield "]"
        elif isinstance(node, ast.Name) and node.id in self.local:
            yield f"@{self.order.setdefault(node.id, len(self.order))}"
        elif isinstance(node, ast.ImportFrom) and self._is_local(node):
            return
        elif isinstance(node, ast.If) and _is_for_checkers(node):
            yield from self.tokens(node.orelse)
        elif isinstance(node, ast.AST):
            yield from self._tokens_of_fields(node)
        else:
            yield repr(node)

    def _tokens_of_fields(self, node: ast.AST) -> Iterator[str]:
        yield type(node).__name__
        for name in node._fields:
            value = getattr(node, name, None)
            if name == "body" and isinstance(value, list):
                value = _without_docstring(node, value)
            if name not in SILENT and value not in (None, []):
                yield name
                yield from self.tokens(value)
        if isinstance(node, ast.AnnAssign):
            text = ast.dump(node.annotation)
            yield from (kind for kind in KINDS_OF_FIELDS if kind in text)


def _without_docstring(node: ast.AST, body: list[Any]) -> list[Any]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
        return body[1:]
    return body


class _Cache:
    """What was found in files, until these change; in a file of the user's cache."""

    def __init__(self) -> None:
        import platformdirs

        own = _state(Path(__file__))
        self.path = platformdirs.user_cache_path("orthobench") / "parsed.json"
        self._version = [list(sys.version_info[:2]), own]
        self._files: dict[str, Any] = {}
        self._new = False
        with suppress(Exception):  # whatever it is, it is found out once more
            known = json.loads(self.path.read_text())
            if known["version"] == self._version and len(known["files"]) < MOST:
                self._files = known["files"]

    def get(self, path: Path, find: Any) -> dict[str, Any]:
        state, name = _state(path), str(path)
        known = self._files.get(name)
        if known is None or known["state"] != state:
            known = {**find(), "state": state}
            self._files[name], self._new = known, True
        return known

    def save(self) -> None:
        if not self._new:
            return
        from orthobench.tools.files import atomic_write

        self._new = False
        with suppress(Exception):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with atomic_write(self.path) as file:
                text = json.dumps({"version": self._version, "files": self._files})
                file.write(text.encode())


@cache
def _cache() -> _Cache:
    return _Cache()


def _state(path: Path) -> list[int]:
    """Return what differs where a file was changed."""
    found = path.stat()
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
