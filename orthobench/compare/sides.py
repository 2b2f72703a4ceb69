"""BASE and HEAD: the revision, folder, wheel or environment that each text names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from orthobench.errors import UsageError, unknown
from orthobench.tools.git import GitError, git

PROJECT = ("pyproject.toml", "setup.py")  # either of them makes a folder a Python project
UNBUILT = (".git", ".hg", ".venv", "venv", "build", "dist", "__pycache__", "*.egg-info")


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    Attributes
    ----------
    name : str
        The user's word.
    kind : str
        ``"revision"``, ``"folder"``, ``"wheel"`` or ``"environment"``.
    detail : str
        The commit's full hash, or the path.
    python : Path, optional
        The interpreter.
    role : str
        ``"BASE"`` or ``"HEAD"``.
    repository : Path, optional
        Top folder of the git repository.
    project : str
        Its folder, relative to `repository`.
    extras : tuple of str
        Folders of ``--with``: relative to `repository`, or absolute without one.
    distributions : tuple of str
        The built projects.
    root : Path, optional
        The built environment, or the orthobench of a given one.
    """

    name: str
    kind: str
    detail: str
    python: Path | None = None
    role: str = ""
    repository: Path | None = None
    project: str = "."
    extras: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    root: Path | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.role} {self.name!r}".strip()


def is_project(folder: Path) -> bool:
    """Return whether a folder is a Python project."""
    return any((folder / name).is_file() for name in PROJECT)


def resolve(role: str, text: str, here: Path, extras: Sequence[Path] = ()) -> Side:
    """Return the side that a text names.

    Parameters
    ----------
    role : str
    text : str
        A project's folder, a wheel, an environment or a git revision.
    here : Path
        Relative paths begin here; revisions are of the project around it.
    extras : sequence of Path
        More projects of the repository.

    Raises
    ------
    UsageError
        If the text names nothing, or both a path and a revision; if an extra folder is no project
        of the repository.
    """
    if not text.strip():
        raise UsageError(f"{role} is empty; name a revision, a folder or a wheel")
    path = (here / Path(text).expanduser()).absolute()
    side, root = _located(role, text, path), _repository(here)
    commit = _commit(root, text) if root else ""
    if side and commit:
        raise UsageError(
            f"{role} {text!r} is a revision and a {side.kind} too; "
            f"write ./{text} for the {side.kind}, or the commit {commit[:12]}"
        )
    if root and commit:
        project = _project(here, root)
        side = Side(text, "revision", commit, role=role, repository=root, project=project)
    if side is None:
        raise _unknown(role, text, path, root)
    return replace(side, extras=tuple(_extra(side, folder.absolute()) for folder in extras))


def _extra(side: Side, folder: Path) -> str:
    """Return the folder of one more project, as in `Side.extras`."""
    if side.kind not in ("revision", "folder"):
        raise UsageError(f"{side} is {side.kind}: --with is for revisions and folders")
    if not is_project(folder):
        raise UsageError(f"--with {folder} is no project: it has no {PROJECT[0]}")
    root = _repository(folder)
    if root != side.repository:
        raise UsageError(
            f"--with {folder} is not in the repository of {side}: install what both sides share "
            "in the environment of orthobench"
        )
    return _project(folder, root) if root else str(folder)


def _located(role: str, text: str, path: Path) -> Side | None:
    """Return the side at a path, or None."""
    if is_project(path):
        root = _repository(path)
        root = root if root and _commit(root, "HEAD") else None
        project = _project(path, root) if root else "."
        return Side(text, "folder", str(path), role=role, repository=root, project=project)
    if path.suffix == ".whl" and path.is_file():
        return Side(text, "wheel", str(path), role=role)
    for python in (path / "bin/python", path / "Scripts/python.exe") if path.is_dir() else (path,):
        if python.name.startswith("python") and python.is_file() and os.access(python, os.X_OK):
            return Side(text, "environment", str(python), python=python, role=role)
    return None


def _repository(folder: Path) -> Path | None:
    """Return the top of the git repository around a folder, or None."""
    try:
        return Path(git(folder, "rev-parse", "--show-toplevel"))
    except FileNotFoundError:
        return None
    except GitError as error:  # git also refuses to read a repository of another user
        if "not a git repository" in str(error) or "must be run in a work tree" in str(error):
            return None
        raise


def _commit(root: Path, revision: str) -> str:
    """Return the full hash of a revision's commit; empty if there is none."""
    if revision.startswith("-"):
        return ""
    try:
        return git(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except GitError:
        return ""


def _project(here: Path, root: Path) -> str:
    """Return the nearest project at or above `here`, relative to the repository."""
    here, root = here.resolve(), root.resolve()
    inside = (here, *(folder for folder in here.parents if folder.is_relative_to(root)))
    return next(filter(is_project, inside), root).relative_to(root).as_posix()


def _unknown(role: str, text: str, path: Path, root: Path | None) -> UsageError:
    none = f"{path} is no wheel, environment or project"
    if root is None:
        return UsageError(f"unknown {role} {text!r}: {none}, and here is no git repository")
    shallow = git(root, "rev-parse", "--is-shallow-repository") == "true"
    hint = "; the repository is a shallow clone: fetch the revision first" if shallow else ""
    names = git(root, "for-each-ref", "--format=%(refname:short)").splitlines()
    return UsageError(f"{unknown(f'{role}, no revision:', text, names)}; {none}{hint}")


@contextmanager
def checked_out(side: Side, target: Path) -> Iterator[list[Path]]:
    """Give copies of a side's projects: in a repository, a linked working tree.

    Submodules are copied from the user's checkout, or fetched if a commit is not there.
    """
    root = side.repository
    if root is None:
        for i, folder in enumerate((side.detail, *side.extras)):
            shutil.copytree(folder, target / str(i), ignore=shutil.ignore_patterns(*UNBUILT))
        yield [target / str(i) for i in range(1 + len(side.extras))]
        return
    add = ("worktree", "add", "--detach", "--force")
    try:
        if side.kind == "revision":
            git(root, *add, str(target), side.detail)
            _add_submodules(root, target, side.detail)
        else:
            git(root, *add, "--no-checkout", str(target), "HEAD")
            git(target, "read-tree", "HEAD")
            _copy_working_tree(root, target)
        yield [target / project for project in (side.project, *side.extras)]
    finally:
        if target.exists():
            git(root, "worktree", "remove", "--force", "--force", str(target))


def _add_submodules(root: Path, target: Path, commit: str) -> None:
    """Fill the folders of submodules in a copy of a commit."""
    for line in git(root, "ls-tree", "-r", "-z", commit).split("\0"):
        facts, _, name = line.partition("\t")
        if not facts.startswith("160000 "):  # the mode of a submodule
            continue
        inner, wanted = root / name, facts.split()[2]
        if _repository(inner) == inner.resolve() and _commit(inner, wanted):
            archive = target / name / "submodule.tar"
            git(inner, "archive", "--output", str(archive), wanted)
            shutil.unpack_archive(archive, target / name, filter="data")
            archive.unlink()
            _add_submodules(inner, target / name, wanted)
            continue
        try:
            git(target, "submodule", "update", "--init", "--recursive", "--", name)
        except GitError as error:
            raise UsageError(
                f"the submodule {name} is not here at {wanted[:12]}; fetch it with git submodule "
                f"update --init {name} ({error})"
            ) from None


def _copy_working_tree(root: Path, target: Path) -> None:
    """Copy tracked and new files, also of submodules, without those that git ignores."""
    names = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, names):
        source = root / name
        if source.is_dir() and not source.is_symlink() and _repository(source) == source.resolve():
            _copy_working_tree(source, target / name)
        elif source.is_symlink() or source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name, follow_symlinks=False)
