"""How the two sides of a comparison differ: packages, parameters, files and commits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orthobench.compare.sides import Side
from orthobench.stats.run_pairs import Key
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
    imported : bool
        Whether it is of a library and the runs import it.
    solvers : tuple of str
        The solvers of these cells.
    at_import : bool
        Whether the code of it that runs at import differs: then all cells reach it.
    """

    name: str
    how: str
    cells: int
    at_import: bool
    imported: bool = False
    solvers: tuple[str, ...] = ()


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
        The requirements of the projects that only BASE has, and those that only HEAD has.
    parameters : mapping
        The defaults on both sides, by solver or problem and parameter.
    files : tuple of File
    commits : tuple of str
        From BASE to HEAD, newest first: hash and subject.
    outside : tuple of str
        Files of the repository that differ outside of the projects, which are not compared.
    everywhere : bool
        Whether the difference reaches every cell, whatever it imports.
    cells : int
        The number of cells that the files may be reached by.
    """

    packages: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    dependencies: bool = False
    requirements: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    parameters: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    commits: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    everywhere: bool = False
    cells: int = 0

    @property
    def at_import(self) -> bool:
        """Whether importing the projects may take another time."""
        return self.dependencies or any(file.how != "comments" for file in self.files)

    def lines(self) -> Iterator[str]:
        """Yield a sentence for each kind of difference."""
        if self.commits:
            yield f"commits: {listed(self.commits, 3)}"
        if self.packages:
            parts = [f"{name} {old or 'none'} -> {new or 'none'}"
                     for name, (old, new) in self.packages.items()]  # fmt: skip
            yield f"packages: {listed(parts, SHOWN)}"
        if any(self.requirements):
            old, new = (listed(one, SHOWN) or "none" for one in self.requirements)
            same = "; what was installed is the same on both sides" * (not self.dependencies)
            yield f"requirements: {old} -> {new}{same}"
        if self.parameters:
            parts = [f"{name} {old} -> {new}" for name, (old, new) in self.parameters.items()]
            yield f"defaults: {listed(parts, SHOWN)}"
        if self.files:
            yield f"files: {listed([*map(self._file, self.files)], SHOWN)}"
        if self.outside:
            yield (f"outside of the project, not compared: {listed(self.outside, 3)}; --with DIR "
                   "builds another project too")  # fmt: skip

    def _file(self, file: File) -> str:
        if file.how == "comments":
            reach = "its code is the same"
        elif file.at_import:
            reach = "runs at import, so all cells reach it"
        elif file.imported:
            reach = "imported by the runs"
        elif file.cells:
            who = f": {listed(file.solvers, 3)}" if file.solvers else ""
            reach = f"reached by {file.cells} of {plural(self.cells, 'cell')}{who}"
        else:
            reach = "not reached"
        how = "" if file.how in ("changed", "comments") else f"{file.how}, "
        return f"{file.name} ({how}{reach})"


def differing_files(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the names of the files that two sides do not have alike."""
    return sorted({name for name, _ in old["files"].items() ^ new["files"].items()})


def between(
    old: Mapping[str, Any], new: Mapping[str, Any],
    kinds: Sequence[Mapping[str, Sequence[str]]], imported: Mapping[str, str],
    sides: Sequence[Side],
) -> Changes:  # fmt: skip
    """Return how two sides differ, by what their workers say.

    Parameters
    ----------
    old, new : mapping
        What the workers of BASE and HEAD reply to ``describe``.
    kinds : sequence of mapping
        What they reply to ``kinds`` about `differing_files`.
    imported : mapping
        The modules of libraries that the runs import.
    sides : sequence of Side
    """
    reached: dict[str, set[Key]] = {}
    for key, names in (*old["reached"], *new["reached"]):
        for name in names:
            reached.setdefault(name, set()).add(tuple(key))
    files = []
    for name in differing_files(old, new):
        (code, acting), (new_code, new_acting) = (kind.get(name, ("", "")) for kind in kinds)
        how = "added" if name not in old["files"] else "removed"
        how = how if name not in old["files"] or name not in new["files"] else "changed"
        how = "comments" if code == new_code else how
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        by = reached.get(name, set())
        solvers = tuple(sorted({solver for _, solver, _ in by}))
        acts = acting != new_acting
        files.append(File(name, how, len(by), acts, module in imported, solvers))
    libraries = old["libraries"] or new["libraries"]
    real = [file for file in files if file.how != "comments"]
    return Changes(
        packages=_differing(old["installed"], new["installed"]),
        dependencies=old["packages"] != new["packages"],
        requirements=_requirements(old["requires"], new["requires"]),
        parameters={
            f"{name} {parameter}": values for name, one in old["defaults"].items()
            if name in new["defaults"]
            for parameter, values in _differing(one, new["defaults"][name]).items()
        },
        files=tuple(sorted(files, key=_reach, reverse=True)),
        commits=tuple(_commits(*sides)),
        outside=tuple(_outside(*sides)),
        everywhere=any(file.at_import for file in files) or bool(libraries and real),
        cells=len({tuple(key) for key, _ in (*old["reached"], *new["reached"])}),
    )  # fmt: skip


def _reach(file: File) -> tuple[bool, ...]:
    return file.how != "comments", file.at_import, file.imported, file.cells > 0


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = sorted({name for name, _ in old.items() ^ new.items()})
    return {name: (old.get(name), new.get(name)) for name in names}


def _requirements(
    old: Iterable[str], new: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first, second = set(old), set(new)
    return tuple(sorted(first - second)), tuple(sorted(second - first))


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
