"""The environment of a side: its own project, on top of the packages of this environment.

So BASE and HEAD run on the same NumPy and differ in nothing but the project.
"""

from __future__ import annotations

import os
import site
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib import metadata, util
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from orthobench.compare.options import Options
from orthobench.compare.process import SideError, SideProcess
from orthobench.compare.sides import PROJECT, Side, checked_out, is_project, resolve, states_of
from orthobench.errors import UsageError
from orthobench.tools.environment import version

LEGACY = "setuptools"
"""What builds a project that does not say, by PEP 517."""

LONGEST = 250
"""Characters of what a program says that fails."""


@contextmanager
def sides(
    *texts: str, here: Path | None = None, extras: Sequence[Path] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[list[Side]]:  # fmt: skip
    """Give the sides of a comparison, with the environments that they need.

    Every text is looked up before anything is built. A built environment contains the side's
    project alone, and takes everything else from the packages of this environment, so that all
    sides have the same dependencies; its interpreter is asked whether it really imports what was
    built. The user's checkout and environment stay as they are, and what was built is removed at
    the end.

    BASE is complete and sealed before any code of HEAD is run, its build included.

    Parameters
    ----------
    *texts : str
        BASE and HEAD, or HEAD alone. Each is a git revision of the project around `here`, a
        project's folder (as it is, with uncommitted changes), a wheel, or an environment (its
        folder or interpreter).
    here : Path, optional
        The current folder by default.
    extras : sequence of Path
        Folders of more projects of the same repository, which are built on all sides.
    progress : callable
        Called with what is being done.

    Raises
    ------
    UsageError
        If a text means nothing, or an environment cannot be built, does not import its code or
        has an orthobench that this one cannot be compared with.
    ChangedError
        If the build of HEAD changed BASE.
    """
    here = here or Path.cwd()
    roles, folders = ("BASE", "HEAD")[-len(texts) :], [here / extra for extra in extras]
    found = [resolve(*each, here, folders) for each in zip(roles, texts, strict=True)]
    with ExitStack() as stack:
        for i, side in enumerate(found):
            if side.python is None:
                # none lies beside the other, where its build could reach it by a relative path
                scratch = stack.enter_context(TemporaryDirectory(prefix="orthobench-compare-"))
                found[i] = _installed(side, Path(scratch).resolve(), progress)
        progress("checking what the sides import")
        with ThreadPoolExecutor() as pool:
            ready = list(pool.map(_checked, found))
        yield ready


def _checked(side: Side) -> Side:
    """Refuse an environment that would not run the side's code, or not all of it.

    A gate that compares a version with itself, or with nothing, would always pass.
    """
    try:
        with SideProcess(side, Options(run_limit=120.0)) as process:
            place = process.ask("check", distributions=side.distributions)["orthobench"]
    except (SideError, OSError) as error:
        raise UsageError(f"{side} cannot be compared: {error}") from None
    root = Path(place)
    return side if side.root else replace(side, root=root, files=states_of(root))


def _installed(side: Side, scratch: Path, progress: Callable[[str], None]) -> Side:
    """Install a side's projects in a new environment in a folder; return the side with it."""
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
                _pip(side, "--python", str(python), "install", str(wheel), "--no-deps",
                     "--no-index")  # fmt: skip
            else:  # all that pip would do, in a tenth of the time
                files.extractall(packages)
    distributions = tuple(wheel.name.partition("-")[0] for wheel in wheels)
    shared = packages / "_orthobench_shared.pth"
    shared.write_text("\n".join(shared_paths(distributions)), encoding="utf-8")
    return replace(side, python=python, distributions=distributions, root=env,
                   files=states_of(env))  # fmt: skip


def _build(side: Side, source: Path, target: Path) -> Path:
    """Build the wheel of a project, without pip if all is installed here that its build needs.

    The call is PEP 517's, which pip makes too, after another second. If it fails, pip tries it in
    an environment that has nothing but what the project asks for.
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
    if not (found := [*target.glob("*.whl")]):
        try:
            _pip(side, "wheel", "--no-deps", "-w", str(target), str(source))
        except UsageError as error:
            raise failure or error from None
        found = [*target.glob("*.whl")]
    return found[0]


def _is_installed(text: str) -> bool:
    """Return whether a requirement is met here, by its version too."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return False
    if wanted.marker and not wanted.marker.evaluate():
        return True
    here = version(wanted.name)
    return here is not None and wanted.specifier.contains(here, prereleases=True)


def shared_paths(without: Sequence[str] = ()) -> list[str]:
    """Return the lines of a ``.pth`` file that adds the packages here to another environment.

    Parameters
    ----------
    without : sequence of str
        The side's projects: the code of an editable installation of them is not the side's.
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


def _pip(side: Side, *words: str) -> None:
    if util.find_spec("pip") is None:
        raise UsageError("pip is not installed here; python -m ensurepip installs it")
    options = ["--disable-pip-version-check", "--no-input", "--no-color"]
    verb = "build" if words[0] == "wheel" else "install"
    _call(side, verb, [sys.executable, "-I", "-m", "pip", *options, *words])


def _call(side: Side, verb: str, command: Sequence[str], folder: Path | None = None) -> None:
    """Run a program that builds or installs a side, in a folder; refuse the side if it fails."""
    # build tools lie beside the interpreter, whether its environment is activated or not
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", check=False, env=os.environ | {"PATH": path},
    )  # fmt: skip
    if done.returncode:
        # no frames of a traceback, which are indented
        lines = [line for line in done.stdout.splitlines() if line.strip() and line[0] != " "]
        said = " | ".join(lines[-3:])[-LONGEST:]
        raise UsageError(f"cannot {verb} {side}: {said or f'exit code {done.returncode}'}; without "
                         "a network, install here first what it needs")  # fmt: skip
