"""The environment of a side: its own project, on top of the packages of this environment."""

from __future__ import annotations

import os
import site
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from packaging.requirements import InvalidRequirement, Requirement

from orthobench.compare.sides import PROJECT, Side, checked_out, is_project, resolve
from orthobench.errors import UsageError
from orthobench.tools.environment import version

LEGACY = "setuptools"
"""The build backend of a project that names none, by PEP 517."""

PIP = [
    sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "--no-color",
]  # fmt: skip

LONGEST = 250
"""Maximum number of characters of a build's output in a message."""


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
    return replace(side, python=python, distributions=distributions, root=env)


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
