"""The files of a side's projects, and the code of them that runs at import.

It imports the standard library only, since it runs in the interpreter of a side.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

GROUP = "orthobench"  # of entry points
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
PROSE = frozenset({".pyc", ".pyi", ".md", ".rst", ".txt", ".nbi", ".nbc"})  # no run reads these


def plugins() -> list[str]:
    """Return the distributions with plugins."""
    points = metadata.entry_points(group=GROUP)
    return sorted({point.dist.name for point in points if point.dist})


def entries(distribution: str) -> set[str]:
    """Return the top-level modules of a distribution's plugins; a library has none."""
    points = metadata.distribution(distribution).entry_points.select(group=GROUP)
    return {point.module.partition(".")[0] for point in points}


def modules(distribution: str) -> list[str]:
    """Return the top-level modules of a distribution."""
    one, points = metadata.distribution(distribution), entries(distribution)
    code = (path.parts[0] for path in one.files or () if path.suffix in (".py", ".so", ".pyd"))
    tops = {top.partition(".")[0] for top in code if not top.startswith(("..", "__"))}
    tops.add(one.name.replace("-", "_"))  # an editable installation lists no modules
    return sorted(name for name in points | tops if name.isidentifier() and place(name))


def place(module: str) -> str | None:
    """Return the file of a module or the folder of a package; None if it is not found."""
    spec = find_spec(module)
    found = [*(spec.submodule_search_locations or ()), spec.origin][0] if spec else None
    return str(Path(found).resolve()) if found else None


def loaded(packages: Iterable[str]) -> list[str]:
    """Return the modules of top-level packages that are imported."""
    return sorted(name for name in sys.modules if name.partition(".")[0] in packages)


class Project:
    """The files of some distributions."""

    def __init__(self, distributions: Iterable[str]) -> None:
        self.paths: dict[str, Path] = {}  # by the name that both sides have for a file
        for module in sorted({name for one in distributions for name in modules(one)}):
            root = Path(str(place(module)))
            self.paths |= {
                path.relative_to(root.parent).as_posix(): path
                for path in ([root] if root.is_file() else sorted(root.rglob("*")))
                if path.is_file() and "__pycache__" not in path.parts and path.suffix not in PROSE
            }
        self._names = {str(path.resolve()): name for name, path in self.paths.items()}

    def digests(self) -> dict[str, str]:
        """Return a digest of each file."""
        return {name: _sha(path.read_bytes()) for name, path in self.paths.items()}

    def names_of(self, paths: Iterable[str]) -> list[str]:
        """Return the names of the paths that belong to the project."""
        found = (self._names.get(str(Path(path).resolve())) for path in paths)
        return sorted({name for name in found if name})

    def kinds(self, names: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return for files a digest of their code, and one of the code that runs at import.

        Comments and docstrings do not count. The second is empty if the file is not imported.
        """
        present = [name for name in names if name in self.paths]
        used = self._used_at_import() if present else set()
        return {name: self._kind(name, used) for name in present}

    def _kind(self, name: str, used: set[str]) -> tuple[str, str]:
        path = self.paths[name]
        source = path.read_bytes()
        tree = parsed(source) if path.suffix == ".py" else None
        code = _sha(ast.dump(tree).encode() if tree else source)
        if tree is None or module_of(name) not in sys.modules:
            return code, ""
        return code, _sha(repr([*map(ast.dump, acting_nodes(tree, used))]).encode())

    def _used_at_import(self) -> set[str]:
        """Return the names that imported files use while they are imported."""
        imported = (path for name, path in self.paths.items()
                    if path.suffix == ".py" and module_of(name) in sys.modules)  # fmt: skip
        trees = (parsed(path.read_bytes()) for path in imported)
        return _names(node for tree in trees if tree for node in acting_nodes(tree))


def acting_nodes(tree: ast.Module, used: Iterable[str] = ()) -> list[ast.AST]:
    """Return the parts of a module that do more at import than define names.

    They are statements with a call or a target that is no name, decorators, and the definitions
    that these or other files use at import.
    """
    known = {node.name: node for node in tree.body if isinstance(node, DEFINITIONS)}
    found: list[ast.AST] = [node for node in tree.body if _acts(node)]
    found += [decorator for node in known.values() for decorator in node.decorator_list]
    found += [known.pop(name) for name in sorted(known.keys() & {*used})]
    for node in found:  # grows by the definitions that its nodes use
        found += [known.pop(name) for name in sorted(_names([node]) & known.keys())]
    return found


def parsed(source: bytes) -> ast.Module | None:
    """Return the tree of a file without docstrings and annotations; None if it has none."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            del body[0]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return tree


def _acts(node: ast.stmt) -> bool:
    if isinstance(node, (*DEFINITIONS, ast.Import, ast.ImportFrom, ast.Pass)) or _is_text(node):
        return False
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        calls = any(isinstance(inner, ast.Call) for inner in ast.walk(node))
        return calls or not all(isinstance(target, ast.Name) for target in targets)
    return not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}


def module_of(name: str) -> str:
    """Return the module of a file, both relative to the same folder."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
