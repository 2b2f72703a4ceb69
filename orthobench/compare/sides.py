"""BASE and HEAD: what each text names, and its environment on top of the packages of this one."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from packaging.requirements import InvalidRequirement, Requirement

from orthobench.errors import UsageError, unknown
from orthobench.tools.environment import version
from orthobench.tools.git import GitError, git

PROJECT = ("pyproject.toml", "setup.py")  # either of them makes a folder a Python project
UNBUILT = (".git", ".hg", ".venv", "venv", "build", "dist", "__pycache__", "*.egg-info")

LEGACY = "setuptools"
"""The build backend of a project that names none, by PEP 517."""

PIP = [
    sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "--no-color",
]  # fmt: skip

LONGEST = 250
"""Maximum number of characters of a build's output in a message."""


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
        If the text names nothing, or both a path and a revision; if an extra folder is not in the
        repository.
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
    root = side.repository
    if _repository(folder) != root:
        raise UsageError(
            f"--with {folder} is not in the repository of {side}: install what both sides share "
            "in the environment of orthobench"
        )
    return folder.resolve().relative_to(root.resolve()).as_posix() if root else str(folder)


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
        git(target, "submodule", "update", "--init", "--recursive", "--", name)


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


@contextmanager
def sides(
    *texts: str, here: Path | None = None, extras: Sequence[Path] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[list[Side]]:  # fmt: skip
    """Give the sides of a comparison, with environments that are removed at the end.

    BASE is complete before any code of HEAD runs.

    Parameters
    ----------
    *texts : str
        BASE and HEAD, or HEAD alone; see `resolve`.
    here : Path, optional
        [default: the current folder]
    extras : sequence of Path
        More projects of the repository, which are built on all sides.

    Raises
    ------
    UsageError
        If a text names nothing, or an environment cannot be built.
    """
    here = here or Path.cwd()
    roles, folders = ("BASE", "HEAD")[-len(texts) :], [here / extra for extra in extras]
    found = [resolve(*each, here, folders) for each in zip(roles, texts, strict=True)]
    with ExitStack() as stack:
        for i, side in enumerate(found):
            if side.python is None:
                scratch = stack.enter_context(TemporaryDirectory(prefix="orthobench-compare-"))
                found[i] = _installed(side, Path(scratch).resolve(), progress)
        yield found


def _installed(side: Side, scratch: Path, progress: Callable[[str], None]) -> Side:
    """Return a side with its projects installed in a new environment."""
    wheels, env = [Path(side.detail)], scratch / side.role.lower()
    if side.kind != "wheel":
        progress(f"{side}: building its wheel")
        with checked_out(side, scratch / "source") as sources:
            wheels = [_build(side, one, scratch / f"wheel{i}") for i, one in enumerate(sources)]
    progress(f"{side}: making its environment")
    venv.EnvBuilder(symlinks=os.name != "nt").create(env)
    python = env / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    where = {"base": str(env), "platbase": str(env)}
    packages = Path(sysconfig.get_path("purelib", "venv", where))
    for wheel in wheels:
        with ZipFile(wheel) as files:
            if any(".data/" in file for file in files.namelist()):
                words = ["--python", str(python), "install", str(wheel), "--no-deps", "--no-index"]
                _call(side, "install", [*PIP, *words])
            else:  # the result is that of pip, in a tenth of the time
                files.extractall(packages)
    distributions = tuple(wheel.name.partition("-")[0] for wheel in wheels)
    shared = packages / "_orthobench_shared.pth"
    shared.write_text("\n".join(shared_paths(distributions)), encoding="utf-8")
    return replace(side, python=python, distributions=distributions)


def _build(side: Side, source: Path, target: Path) -> Path:
    """Build the wheel of a project.

    The backend is called here if its requirements are installed, which needs no network; otherwise,
    and if that fails, pip builds in isolation.
    """
    if not is_project(source):
        raise UsageError(f"{side} has no {PROJECT[0]} in {source.name}; call this in the folder of "
                         "a project that it has")  # fmt: skip
    file = source / PROJECT[0]
    table = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    system, failure = table.get("build-system", {}), None
    target.mkdir()
    if all(map(_is_installed, system.get("requires", [LEGACY]))):
        backend = system.get("build-backend", f"{LEGACY}.build_meta:__legacy__")
        module, _, name = backend.partition(":")
        paths = [str(source / path) for path in system.get("backend-path", ())]
        program = ("import sys; from importlib import import_module; "
                   f"sys.path[:0] = {paths!r}; import_module({module!r}){'.' if name else ''}{name}"
                   f".build_wheel({str(target)!r})")  # fmt: skip
        try:
            _call(side, "build", [sys.executable, "-I", "-c", program], source)
        except UsageError as error:
            failure = error
    if not any(target.glob("*.whl")):
        try:
            _call(side, "build", [*PIP, "wheel", "--no-deps", "-w", str(target), str(source)])
        except UsageError as error:
            raise failure or error from None
    return next(target.glob("*.whl"))


def _is_installed(text: str) -> bool:
    """Return whether a requirement is met here, or is for another platform."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement:  # pip says why
        return False
    if wanted.marker and not wanted.marker.evaluate():
        return True
    here = version(wanted.name)
    return here is not None and wanted.specifier.contains(here, prereleases=True)


def shared_paths(without: Sequence[str] = ()) -> list[str]:
    """Return the lines of a ``.pth`` file that shares the packages here.

    Parameters
    ----------
    without : sequence of str
        Projects whose editable installations are left out.
    """
    own = {path.name for name in without if version(name)
           for path in metadata.distribution(name).files or ()}  # fmt: skip
    users = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    lines = []
    for folder in filter(os.path.isdir, [*site.getsitepackages(), *users]):
        lines.append(folder)
        for file in sorted(Path(folder).glob("*.pth")):
            text = "" if file.name in own else file.read_text(encoding="utf-8-sig")
            lines += [
                line if line.startswith("import") else str(Path(folder, line))
                for line in filter(None, text.splitlines())
            ]
    return lines


def _call(side: Side, verb: str, command: Sequence[str], folder: Path | None = None) -> None:
    """Run a program that builds or installs a side; refuse the side if it fails."""
    # build tools are beside the interpreter, also if its environment is not activated
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", check=False, env=os.environ | {"PATH": path},
    )  # fmt: skip
    if done.returncode:
        # the frames of a traceback are indented
        lines = [line for line in done.stdout.splitlines() if line.strip() and line[0] != " "]
        said = " | ".join(lines[-3:])[-LONGEST:]
        raise UsageError(f"cannot {verb} {side}: {said or f'exit code {done.returncode}'}; without "
                         "a network, install here first what it needs")  # fmt: skip
