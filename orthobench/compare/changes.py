"""How the two sides of a comparison differ: packages, parameters, files and commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orthobench.compare.cells import SideCells
from orthobench.compare.sides import Side
from orthobench.tools.formatting import listed, plural
from orthobench.tools.git import GitError, git

SHOWN = 8
"""Files and packages that a line names; the JSON has all."""


@dataclass(frozen=True)
class File:
    """A file of the projects that differs.

    Attributes
    ----------
    name : str
        Below the folder that it is imported from.
    how : str
        ``"changed"``, ``"added"``, ``"removed"``, or ``"comments"`` if its code is the same.
    cells : int
        The number of cells that reach it.
    at_import : bool
        Whether the code of it that runs at import differs: then all cells reach it.
    imported : bool
        Whether it is of a library and the runs import it.
    solvers : tuple of str
        The solvers of these cells.
    """

    name: str
    how: str
    cells: int
    at_import: bool
    imported: bool = False
    solvers: tuple[str, ...] = ()

    def text(self, cells: int) -> str:
        """Return its name, how it differs, and how many of all cells reach it."""
        if self.how == "comments":
            reach = "its code is the same"
        elif self.at_import:
            reach = "runs at import, so all cells reach it"
        elif self.imported:
            reach = "imported by the runs"
        elif self.cells:
            who = f": {listed(self.solvers, 3)}" if self.solvers else ""
            reach = f"reached by {self.cells} of {plural(cells, 'cell')}{who}"
        else:
            reach = "not reached"
        how = "" if self.how in ("changed", "comments") else f"{self.how}, "
        return f"{self.name} ({how}{reach})"


@dataclass(frozen=True)
class Changes:
    """How the sides differ.

    Attributes
    ----------
    packages : mapping
        The versions on both sides of what is not the same, by name; None if it is not installed.
    dependencies : bool
        Whether packages beside the projects themselves are not the same.
    requirements : mapping
        Under ``"base"`` and ``"head"`` the requirements of the projects that only this side has.
    parameters : mapping
        The defaults on both sides, by solver or problem and parameter.
    files : tuple of File
    commits : tuple of str
        From BASE to HEAD, newest first: hash and subject.
    outside : tuple of str
        Files of the repository that differ outside of the projects, which are not compared.
    cells : int
        The number of cells that the files may be reached by.
    """

    packages: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    dependencies: bool = False
    requirements: Mapping[str, Sequence[str]] = field(
        default_factory=lambda: {"base": [], "head": []}
    )
    parameters: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    commits: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    cells: int = 0

    @property
    def at_import(self) -> bool:
        """Whether importing the projects may take another time."""
        return self.dependencies or any(file.how != "comments" for file in self.files)

    def lines(self) -> Iterator[str]:
        """Yield a sentence for each kind of difference."""
        same = "" if self.dependencies else "; what was installed is the same on both sides"
        required = [listed(one, SHOWN) or "none" for one in self.requirements.values()]
        told = {
            "commits": listed(self.commits, 3),
            "packages": _arrows(self.packages),
            "requirements": f"{' -> '.join(required)}{same}" if any(self.requirements.values())
            else "",
            "defaults": _arrows(self.parameters),
            "files": listed([file.text(self.cells) for file in self.files], SHOWN),
            "outside of the project, not compared":
                f"{listed(self.outside, 3)}; --with DIR builds another project too"
                if self.outside else "",
        }  # fmt: skip
        yield from (f"{name}: {text}" for name, text in told.items() if text)


def _arrows(values: Mapping[str, tuple[str | None, str | None]]) -> str:
    parts = [f"{name} {old or 'none'} -> {new or 'none'}" for name, (old, new) in values.items()]
    return listed(parts, SHOWN)


def between(old: SideCells, new: SideCells) -> Changes:
    """Return how BASE and HEAD differ."""
    facts = old.facts, new.facts
    reached: dict[str, set[Any]] = {}
    for key, names in (*old.facts["reached"], *new.facts["reached"]):
        for name in names:
            reached.setdefault(name, set()).add(tuple(key))
    files = [_file(name, old, new, reached.get(name, set())) for name in {**old.kinds, **new.kinds}]
    required = [{*one["requires"]} for one in facts]
    return Changes(
        packages=_differing(*(one["installed"] for one in facts)),
        dependencies=old.facts["packages"] != new.facts["packages"],
        requirements={"base": sorted(required[0] - required[1]),
                      "head": sorted(required[1] - required[0])},
        parameters={
            f"{name} {parameter}": values for name, one in old.facts["defaults"].items()
            if name in new.facts["defaults"]
            for parameter, values in _differing(one, new.facts["defaults"][name]).items()
        },
        files=tuple(sorted(files, key=_order)),
        commits=tuple(_commits(old.side, new.side)),
        outside=tuple(_outside(old.side, new.side)),
        cells=len({**old.content, **new.content}),
    )  # fmt: skip


def _file(name: str, old: SideCells, new: SideCells, cells: set[Any]) -> File:
    """Return how a file differs, which some cells reach."""
    (code, acting), (new_code, new_acting) = (side.kinds.get(name, ("", "")) for side in (old, new))
    how = "changed" if code and new_code else "removed" if code else "added"
    module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return File(
        name, "comments" if code == new_code else how, len(cells), acting != new_acting,
        module in {**old.imported, **new.imported}, tuple(sorted({key[1] for key in cells})),
    )  # fmt: skip


def _order(file: File) -> tuple[Any, ...]:
    """Return what puts the files that reach most first."""
    return file.how == "comments", not file.at_import, not file.imported, not file.cells, file.name


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = sorted({name for name, _ in old.items() ^ new.items()})
    return {name: (old.get(name), new.get(name)) for name in names}


def _commits(base: Side, head: Side) -> list[str]:
    """Return the commits from BASE to HEAD, newest first, if one repository has both."""
    ends = [side.detail if side.kind == "revision" else "HEAD" for side in (base, head)]
    found = _lines(base, head, "log", "--format=%h %s", "--max-count=50", "..".join(ends))
    dirty = head.kind == "folder" and _lines(base, head, "status", "--porcelain")
    return [*(["uncommitted changes"] if dirty else []), *found]


def _outside(base: Side, head: Side) -> list[str]:
    """Return the files that differ in the repository, and are in none of its projects compared."""
    projects = (head.project, *head.extras)
    ends = [side.detail for side in (base, head) if side.kind == "revision"]
    if "." in projects or not ends:
        return []
    names = _lines(base, head, "diff", "--name-only", *ends)
    return [name for name in names if not any(name.startswith(f"{one}/") for one in projects)]


def _lines(base: Side, head: Side, *words: str) -> list[str]:
    """Return what git prints; nothing if it fails, or no repository has both sides."""
    if head.repository is None or head.repository != base.repository:
        return []
    try:
        return git(head.repository, *words).splitlines()
    except GitError:
        return []
