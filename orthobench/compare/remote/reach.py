"""What the projects of a side consist of, which files run when they are imported, and what for.

It imports the standard library only, as it runs in the interpreter of a side.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

GROUP = "orthobench"  # of entry points
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
PROSE = frozenset({".pyc", ".pyi", ".md", ".rst", ".txt", ".nbi", ".nbc"})  # no run reads these


def plugins() -> list[str]:
    """Return the distributions that bring plugins."""
    points = metadata.entry_points(group=GROUP)
    return sorted({point.dist.name for point in points if point.dist})


def entries(distribution: str) -> set[str]:
    """Return the top-level modules of the plugins of a distribution; a library has none."""
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


def loaded(packages: Iterable[str]) -> dict[str, str]:
    """Return the modules of top-level packages that are imported, with their files."""
    known = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()
             if name.partition(".")[0] in packages}  # fmt: skip
    return {name: str(Path(file).resolve()) for name, file in known.items() if file}


class Project:
    """The files of some distributions.

    Parameters
    ----------
    distributions : sequence of str
    """

    def __init__(self, distributions: Iterable[str]) -> None:
        self.paths: dict[str, Path] = {}  # by the name that both sides have for a file
        for module in sorted({name for one in distributions for name in modules(one)}):
            root = Path(str(place(module)))
            self.paths |= {
                path.relative_to(root.parent).as_posix(): path
                for path in ([root] if root.is_file() else sorted(root.rglob("*")))
                if path.is_file() and "__pycache__" not in path.parts and path.suffix not in PROSE
            }
        for one in distributions:
            for path in metadata.distribution(one).files or ():
                if path.suffix == ".pth" and len(path.parts) == 1:  # Python runs it when it starts
                    self.paths[path.name] = Path(str(path.locate()))
        self._names = {str(path.resolve()): name for name, path in self.paths.items()}

    def digests(self) -> dict[str, str]:
        """Return a digest of each file."""
        return {name: _sha(path.read_bytes()) for name, path in self.paths.items()}

    def names_of(self, paths: Iterable[str]) -> list[str]:
        """Return the names of those paths that belong to the project."""
        found = (self._names.get(str(Path(path).resolve())) for path in paths)
        return sorted({name for name in found if name})

    def kinds(self, names: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return for files a digest of their code, and of the code that runs at their import.

        Comments, docstrings and formatting do not count. The second is empty if importing the
        project does not import the file.
        """
        present = [name for name in names if name in self.paths]
        called = self._called() if present else set()
        return {name: self._kind(name, called) for name in present}

    def _kind(self, name: str, called: set[str]) -> tuple[str, str]:
        path, module = self.paths[name], _module_of(name)
        source = path.read_bytes()
        tree = parsed(source) if path.suffix == ".py" else None
        code = _sha(ast.dump(tree).encode() if tree else source)
        if path.suffix == ".pth" or (tree and module in sys.modules and module in called):
            return code, code
        if tree is None or module not in sys.modules:
            return code, ""
        return code, _sha(repr([*map(ast.dump, acting_nodes(tree))]).encode())

    def _called(self) -> set[str]:
        """Return the modules from which imported code takes what it calls while it is imported."""
        called: set[str] = set()
        for name, path in self.paths.items():
            module = _module_of(name)
            tree = parsed(path.read_bytes()) if path.suffix == ".py" else None
            if tree and module in sys.modules:
                used = _names(acting_nodes(tree))
                called |= {origin for here, origin in _imports(tree, module, path) if here in used}
        return called


def acting_nodes(tree: ast.Module) -> list[ast.AST]:
    """Return the parts of a module that do something when it is imported, beyond defining names.

    They are statements with a call or a target that is no name, decorators, and the local functions
    and classes that these use.
    """
    defined = [node for node in tree.body if isinstance(node, DEFINITIONS)]
    known = {node.name: node for node in defined}
    found: list[ast.AST] = [node for node in tree.body if _acts(node)]
    found += [decorator for node in defined for decorator in node.decorator_list]
    for node in found:  # grows by what its nodes use
        found += [known.pop(name) for name in sorted(_names([node]) & known.keys())]
    return found


def parsed(source: bytes) -> ast.Module | None:
    """Return the tree of a file without docstrings and annotations; None if it is no Python."""
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


def _imports(tree: ast.Module, module: str, path: Path) -> Iterator[tuple[str, str]]:
    """Yield the names that a module imports at its top, each with the modules it may come from."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from ((a.asname or a.name.partition(".")[0], a.name) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")
            above = parts[: len(parts) - node.level + (path.name == "__init__.py")]
            base = ".".join([*(above if node.level else ()), *filter(None, [node.module])])
            for alias in node.names:
                yield alias.asname or alias.name, base
                yield alias.asname or alias.name, f"{base}.{alias.name}"


def _module_of(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
