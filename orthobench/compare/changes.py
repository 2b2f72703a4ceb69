"""The differences between the sides: packages, parameters, files and commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orthobench.compare.cells import SideCells
from orthobench.compare.remote.reach import module_of
from orthobench.compare.sides import Side
from orthobench.tools.formatting import listed, plural
from orthobench.tools.git import GitError, git

SHOWN = 8
"""Maximum number of files or packages in a line; the JSON has all."""


@dataclass(frozen=True)
class File:
    """A file of the projects that differs.

    Attributes
    ----------
    name : str
        Relative to the folder that it is imported from.
    how : str
        ``"changed"``, ``"added"``, ``"removed"``, or ``"comments"`` if its code is the same.
    cells : int
        The number that reach it.
    at_import : bool
        Whether code that runs at import differs, so that all cells reach it.
    imported : bool
        Whether runs import it from a library.
    solvers : tuple of str
        Those of the cells.
    """

    name: str
    how: str
    cells: int
    at_import: bool
    imported: bool = False
    solvers: tuple[str, ...] = ()

    def text(self, cells: int) -> str:
        """Return its name, how it differs, and how many of the cells reach it."""
        if self.how == "comments":
            return f"{self.name} (its code is the same)"
        if self.at_import:
            reach = "runs at import, so all cells reach it"
        elif self.imported:
            reach = "imported by the runs"
        elif self.cells:
            reach = f"reached by {self.cells} of {plural(cells, 'cell')}: {listed(self.solvers, 3)}"
        else:
            reach = "not reached"
        return f"{self.name} ({reach if self.how == 'changed' else f'{self.how}, {reach}'})"


@dataclass(frozen=True)
class Changes:
    """The differences between the sides.

    Attributes
    ----------
    packages : mapping
        Both versions by package, None if it is not installed.
    dependencies : bool
        Whether packages other than the projects differ.
    requirements : mapping
        Under ``"base"`` and ``"head"``, those of this side alone.
    parameters : mapping
        Both defaults, by item and parameter.
    files : tuple of File
    commits : tuple of str
        Hashes and subjects from BASE to HEAD, newest first.
    outside : tuple of str
        Files that differ outside of the projects.
    cells : int
    """

    packages: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    dependencies: bool = False
    requirements: Mapping[str, Sequence[str]] = field(default_factory=dict)
    parameters: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    commits: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    cells: int = 0

    @property
    def at_import(self) -> bool:
        """Whether the time to import the projects may differ."""
        return self.dependencies or any(file.how != "comments" for file in self.files)

    def lines(self) -> Iterator[str]:
        """Yield a line for each kind of difference."""
        if self.commits:
            yield f"commits: {listed(self.commits, 3)}"
        if self.packages:
            yield f"packages: {_arrows(self.packages)}"
        if any(self.requirements.values()):
            base, head = (listed(one, SHOWN) or "none" for one in self.requirements.values())
            same = "" if self.dependencies else "; what was installed is the same on both sides"
            yield f"requirements: {base} -> {head}{same}"
        if self.parameters:
            yield f"defaults: {_arrows(self.parameters)}"
        if self.files:
            yield f"files: {listed([file.text(self.cells) for file in self.files], SHOWN)}"
        if self.outside:
            yield (f"outside of the project, not compared: {listed(self.outside, 3)}; --with DIR "
                   "builds another project too")  # fmt: skip


def _arrows(values: Mapping[str, tuple[str | None, str | None]]) -> str:
    parts = [f"{name} {old or 'none'} -> {new or 'none'}" for name, (old, new) in values.items()]
    return listed(parts, SHOWN)


def between(old: SideCells, new: SideCells) -> Changes:
    """Return the differences between BASE and HEAD."""
    base, head = old.facts, new.facts
    required = {*base["requires"]}, {*head["requires"]}
    common = base["defaults"].keys() & head["defaults"].keys()
    return Changes(
        packages=_differing(base["installed"], head["installed"]),
        dependencies=base["packages"] != head["packages"],
        requirements={"base": sorted(required[0] - required[1]),
                      "head": sorted(required[1] - required[0])},
        parameters={
            f"{name} {parameter}": values for name in sorted(common)
            for parameter, values in
            _differing(base["defaults"][name], head["defaults"][name]).items()
        },
        files=_files(old, new),
        commits=tuple(_commits(old.side, new.side)),
        outside=tuple(_outside(old.side, new.side)),
        cells=len({**old.content, **new.content}),
    )  # fmt: skip


def _files(old: SideCells, new: SideCells) -> tuple[File, ...]:
    """Return the files that differ; those that most cells reach come first."""
    reached = [(tuple(key), names) for side in (old, new) for key, names in side.facts["reached"]]
    loaded, found = old.imported | new.imported, []
    for name in {**old.kinds, **new.kinds}:
        (code, acting), (new_code, new_acting) = (
            side.kinds.get(name, ("", "")) for side in (old, new)
        )
        how = "comments" if code == new_code else "changed" if code and new_code else (
            "removed" if code else "added")  # fmt: skip
        keys = {key for key, names in reached if name in names}
        solvers = tuple(sorted({solver for _, solver, _ in keys}))
        found.append(
            File(name, how, len(keys), acting != new_acting, module_of(name) in loaded, solvers)
        )
    return tuple(sorted(found, key=lambda file: (
        file.how == "comments", not file.at_import, not file.imported, -file.cells, file.name,
    )))  # fmt: skip


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
    """Return the files of the repository that differ outside of the projects."""
    projects = (head.project, *head.extras)
    ends = [side.detail for side in (base, head) if side.kind == "revision"]
    if "." in projects or not ends:
        return []
    names = _lines(base, head, "diff", "--name-only", *ends)
    return [name for name in names if not any(name.startswith(f"{one}/") for one in projects)]


def _lines(base: Side, head: Side, *words: str) -> list[str]:
    """Return the output of git; nothing if it fails, or no repository has both sides."""
    if head.repository is None or head.repository != base.repository:
        return []
    try:
        return git(head.repository, *words).splitlines()
    except GitError:
        return []
