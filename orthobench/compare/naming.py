"""The meaning of BASE and HEAD, looked up and checked before anything is built."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orthobench.compare.comparison import Side
from orthobench.compare.repository import Repository
from orthobench.errors import StoreError, UsageError

PROJECT = ("pyproject.toml", "setup.py")
"""Either of these makes a folder a Python project."""


@dataclass(frozen=True)
class Named:
    """A side whose environment is not built yet.

    Attributes
    ----------
    role : str
        ``"BASE"`` or ``"HEAD"``.
    side : Side
        Complete where it is an environment or a store.
    repository : Repository, optional
        The repository of a revision, or of a folder that lies in one.
    project : str
        The project's folder, relative to the repository's.
    """

    role: str
    side: Side
    repository: Repository | None = None
    project: str = "."

    @property
    def built(self) -> bool:
        """Whether an environment has to be built for it."""
        return self.side.python is None and self.side.store is None

    def __str__(self) -> str:
        return f"{self.role} {self.side.name!r}"


def resolve(role: str, text: str, here: Path) -> Named:
    """Return what a text means: a project folder, a store, a wheel, an environment, a revision.

    Parameters
    ----------
    role : str
        ``"BASE"`` or ``"HEAD"``, for messages.
    text : str
        The user's words.
    here : Path
        Where relative paths start, and whose repository and project a revision is of.

    Raises
    ------
    UsageError
        Where it is empty, none of these, or both a path and a revision.
    StoreError
        Where it is a database, but no store.
    """
    if not text.strip():
        raise UsageError(f"{role} is empty; name a revision, a folder, a wheel or a store")
    path = (here / Path(text).expanduser()).absolute()
    meant = next(_paths(text, path), None)
    repository = Repository.around(here)
    commit = repository.commit(text) if repository else None
    if meant and commit:
        raise UsageError(
            f"{role} {text!r} is a revision and a {meant.kind} too; "
            f"write ./{text} for the {meant.kind}, or the commit {commit[:12]}"
        )
    if meant:
        return _located(role, meant)
    if repository and commit:
        return _revision(role, Side(text, "revision", commit), repository, here)
    raise UsageError(f"unknown {role} {text!r}: {_nothing(text, path, repository)}")


def _paths(text: str, path: Path) -> Iterator[Side]:
    """Yield what a path may be, the most likely first."""
    if any((path / name).is_file() for name in PROJECT):
        yield Side(text, "folder", str(path))
    for kind, find in (("store", _store), ("wheel", _wheel), ("environment", _python)):
        found = find(path)
        if found and kind == "store":
            yield Side(text, kind, str(found), store=found)
        elif found and kind == "environment":
            yield Side(text, kind, str(found), python=found)
        elif found:
            yield Side(text, kind, str(found))


def _store(path: Path) -> Path | None:
    from orthobench.results.results import store_at
    from orthobench.results.schema import recognise

    found = store_at(path)
    if not found.is_file() or not (found.suffix == ".sqlite" or _is_database(found)):
        return None
    try:
        recognise(found)
    except StoreError as error:
        raise StoreError(str(error).replace("; name another file with --store", "")) from None
    return found


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(15) == b"SQLite format 3"
    except OSError:
        return False


def _wheel(path: Path) -> Path | None:
    if path.suffix != ".whl" or not path.is_file():
        return None
    if not zipfile.is_zipfile(path):
        raise UsageError(f"{path} is no wheel: it is no zip archive")
    return path


def _python(path: Path) -> Path | None:
    if path.is_dir():
        return next(filter(_runs, map(path.joinpath, ("bin/python", "Scripts/python.exe"))), None)
    return path if path.name.startswith(("python", "pypy")) and _runs(path) else None


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _located(role: str, side: Side) -> Named:
    """Return the side of a path, with the repository that a project's folder lies in."""
    repository = Repository.around(Path(side.detail)) if side.kind == "folder" else None
    if repository is None or repository.commit("HEAD") is None:
        return Named(role, side)
    project = Path(side.detail).resolve().relative_to(repository.root.resolve())
    return Named(role, side, repository, project.as_posix())


def _revision(role: str, side: Side, repository: Repository, here: Path) -> Named:
    project = _project_around(here, repository.root)
    if not any(repository.has(side.detail, f"{project}/{name}") for name in PROJECT):
        where = "" if project == "." else f" in {project}"
        raise UsageError(
            f"{role} {side.name!r} ({side.detail[:12]}) has no {PROJECT[0]}{where}; "
            "call this in the folder of a project that the revision has"
        )
    return Named(role, side, repository, project)


def _project_around(here: Path, root: Path) -> str:
    """Return the nearest project's folder at or above `here`, relative to the root."""
    here, root = here.resolve(), root.resolve()
    for folder in (here, *here.parents):
        if folder == root or any((folder / name).is_file() for name in PROJECT):
            return folder.relative_to(root).as_posix()
    return "."


def _nothing(text: str, path: Path, repository: Repository | None) -> str:
    """Return why a text is none of the things that it could be."""
    if repository is None:
        revision = "there is no git repository here that it could be a revision of"
    else:
        near = [f"{name!r}" for name in repository.near(text)]
        meant = f" (did you mean {' or '.join(near)}?)" if near else ""
        revision = f"no revision of {repository.root}{meant}"
        if repository.shallow:
            revision += ", which is a shallow clone: fetch the revision first"
    kinds = "a store, a wheel, an environment or a project"
    return f"{revision}; " + (f"{path} is not {kinds}" if path.exists() else f"no path of {kinds}")
