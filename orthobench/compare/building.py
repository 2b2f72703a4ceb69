"""The environment of a side: its own project, on top of the packages of this environment.

So BASE and HEAD run on the same NumPy and differ in nothing but the project. With fresh
dependencies, each has its own instead, as its project requires them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib import metadata, util
from pathlib import Path

from orthobench.compare.cached_env import acquire
from orthobench.compare.naming import Named
from orthobench.compare.seal import Seal
from orthobench.errors import UsageError

LINES = 12
"""How many of the last lines of pip are shown when it fails."""

SHARED = "_orthobench_shared.pth"
"""The file in an environment that adds the packages here, which come after its own."""

UNBUILT = (".git", ".hg", ".venv", "venv", "build", "dist", "__pycache__", "*.egg-info")
"""Files that are not copied from a project outside of any repository."""


@dataclass(frozen=True)
class Built:
    """An environment in which a side's project is installed.

    Attributes
    ----------
    python : Path
        Its interpreter.
    distribution : str
        The project's name.
    seals : tuple of Seal
        What its files were when it was complete, and the code of orthobench that it shares.
    kept : bool
        Whether it is kept, and may serve another comparison at this moment.
    """

    python: Path
    distribution: str
    seals: tuple[Seal, ...] = ()
    kept: bool = False

    @property
    def folder(self) -> Path:
        """The environment's folder."""
        return self.python.parents[1]


@dataclass(frozen=True)
class Builder:
    """The builder of environments, with its settings.

    Attributes
    ----------
    scratch : Path
        Folder for what is needed only during the comparison.
    kept : Path, optional
        Folder of the environments of revisions and wheels that are kept for the next time.
    fresh : bool
        Whether an environment has dependencies of its own, newly resolved.
    progress : callable
        Called with what is being done.
    """

    scratch: Path
    kept: Path | None
    fresh: bool
    progress: Callable[[str], None]

    def build(self, named: Named, held: ExitStack) -> Built:
        """Build the environment of a side, or take the one that was kept.

        What was built as HEAD is kept apart, and never serves as BASE.

        Parameters
        ----------
        named : Named
        held : ExitStack
            Until it is closed nobody removes the environment.

        Raises
        ------
        UsageError
            Where pip fails; with its last lines.
        """
        role = named.role.lower()
        if self.kept is None or named.side.kind == "folder":
            self._build(named, self.scratch / role)
            return self._sealed(Seal.of(self.scratch / role), kept=False)
        folder = self.kept / f"{role}-{self._key(named)}"
        return self._sealed(
            held.enter_context(acquire(folder, lambda part: self._build(named, part))), kept=True
        )

    def _sealed(self, seal: Seal, kept: bool) -> Built:
        built = _built(seal.roots[0])
        shared = () if self.fresh else (Seal.of(*code_here(built.distribution)),)
        return replace(built, seals=(seal, *shared), kept=kept)

    def _build(self, named: Named, folder: Path) -> None:
        with self._source(named) as source:
            wheel = source if source.is_file() else self._wheel(named, source)
        self.progress(f"{named}: making its environment")
        venv.EnvBuilder(symlinks=os.name != "nt").create(folder)
        python = next(
            p for p in (folder / "bin/python", folder / "Scripts/python.exe") if p.exists()
        )
        alone = [] if self.fresh else ["--no-deps", "--no-index"]
        beside = self._orthobench(named, wheel) if self.fresh else []
        self._pip(named, "--python", str(python), "install", *alone, str(wheel), *beside)
        (folder / "distribution").write_text(_distribution(wheel), encoding="utf-8")
        if not self.fresh:
            self._share(_built(folder))

    def _share(self, built: Built) -> None:
        """Let an environment fall back on the packages here."""
        where = {"base": str(built.folder), "platbase": str(built.folder)}
        own = Path(sysconfig.get_path("purelib", "venv", where))
        text = "\n".join(shared_paths(_pth_files(built.distribution)))
        (own / SHARED).write_text(f"{text}\n", encoding="utf-8")

    @contextmanager
    def _source(self, named: Named) -> Iterator[Path]:
        """Give the wheel of a side, or a scratch folder with the project's files."""
        repository, side = named.repository, named.side
        target = self.scratch / f"source-{named.role.lower()}"
        if side.kind == "wheel":
            yield Path(side.detail)
        elif repository is None:
            shutil.copytree(side.detail, target, ignore=shutil.ignore_patterns(*UNBUILT))
            yield target
        elif side.kind == "revision":
            with repository.checked_out(side.detail, target):
                yield target / named.project
        else:
            with repository.as_it_is(target):
                yield target / named.project

    def _wheel(self, named: Named, source: Path) -> Path:
        self.progress(f"{named}: building its wheel")
        out = self.scratch / f"wheel-{named.role.lower()}"
        missing = ["it is to be fresh"] if self.fresh else missing_to_build(source)
        words = [] if missing else ["--no-build-isolation"]
        self._pip(named, "wheel", "--no-deps", *words, "-w", str(out), str(source))
        return next(out.glob("*.whl"))

    def _orthobench(self, named: Named, wheel: Path) -> list[str]:
        """Return the requirement of orthobench beside a plugin: the version that compares."""
        if _distribution(wheel) == "orthobench":
            return []
        here = metadata.distribution("orthobench")
        url = json.loads(here.read_text("direct_url.json") or "{}")
        if "dir_info" not in url:
            return [f"orthobench=={here.version}"]
        out = self.scratch / "orthobench"
        if not out.exists():
            self._pip(named, "wheel", "--no-deps", "-w", str(out), url["url"])
        return [str(next(out.glob("*.whl")))]

    def _key(self, named: Named) -> str:
        """Return the name of a kept environment: a digest of what it was built from."""
        side = named.side
        what = side.detail if side.kind == "revision" else _sha256(Path(side.detail))
        facts = [what, named.project, self.fresh, sys.version, sys.base_prefix]
        shared = [shared_paths(), _distributions_here()]
        facts += [metadata.version("orthobench")] if self.fresh else shared
        return f"{what[:12]}-{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]}"

    def _pip(self, named: Named, *words: str) -> None:
        if util.find_spec("pip") is None:
            raise UsageError("pip is not installed here; python -m ensurepip installs it")
        options = ["--disable-pip-version-check", "--no-input", "--no-color"]
        done = subprocess.run(
            [sys.executable, "-I", "-m", "pip", *options, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise UsageError(self._failure(named, done.stdout, words))

    def _failure(self, named: Named, output: str, words: tuple[str, ...]) -> str:
        lines = [line for line in output.splitlines() if line.strip()]
        last = "\n".join(f"    {line}" for line in lines[-LINES:])
        what = "build the wheel of" if "wheel" in words else "install"
        advice = "its own dependencies have to be installable"
        if not self.fresh:
            advice = "--fresh-dependencies builds it with its own dependencies"
            if "wheel" in words and "--no-build-isolation" not in words:
                advice = "without a network, install here first what its build needs"
        return f"cannot {what} {named}; pip said:\n{last}\n{advice}"


def missing_to_build(source: Path) -> list[str]:
    """Return the names of the build requirements of a project that are not installed here."""
    try:
        table = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))
    except (FileNotFoundError, tomllib.TOMLDecodeError):
        table = {}
    system = table.get("build-system", {})
    needed = list(system.get("requires", ["setuptools"]))
    names = [re.split(r"[^\w.-]", text.strip(), maxsplit=1)[0] for text in needed]
    return [name for name in names if not _installed(name)]


def packages_here() -> list[str]:
    """Return the folders in which the packages of this environment are."""
    folders = [*site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return [folder for folder in dict.fromkeys(folders) if Path(folder).is_dir()]


def shared_paths(skipped: Collection[str] = ()) -> list[str]:
    """Return the lines of a ``.pth`` file that adds the packages here to another environment.

    Parameters
    ----------
    skipped : collection of str
        Names of ``.pth`` files here that are left out: those of an editable installation of the
        project itself, the code of which is not the side's.
    """
    lines = []
    for folder in packages_here():
        lines.append(folder)
        for file in sorted(Path(folder).glob("*.pth")):
            text = "" if file.name in skipped else file.read_text(encoding="utf-8-sig")
            for line in filter(None, map(str.strip, text.splitlines())):
                if line.startswith(("import ", "import\t")):
                    lines.append(line)
                elif not line.startswith("#"):
                    lines.append(str(Path(folder, line)))
    return lines


def code_here(distribution: str) -> list[Path]:
    """Return where orthobench and its plugins are here, without those of one distribution."""
    owners = {
        point.module.partition(".")[0]: point.dist.name
        for point in metadata.entry_points(group="orthobench")
        if point.dist
    }
    modules = [
        module
        for module, owner in {**owners, "orthobench": "orthobench"}.items()
        if not same_name(owner, distribution)
    ]
    specs = [spec for module in modules if (spec := util.find_spec(module))]
    found = [[*(spec.submodule_search_locations or ()), spec.origin][0] for spec in specs]
    return [Path(place) for place in found if place]


def same_name(one: str | None, other: str) -> bool:
    """Return whether two names mean the same distribution."""
    return one is not None and re.sub(r"[-.]", "_", one.lower()) == re.sub(
        r"[-.]", "_", other.lower()
    )


def _distributions_here() -> list[str]:
    """Return the packages of this environment with their versions, as the names of their files."""
    paths = [path for folder in packages_here() for path in Path(folder).iterdir()]
    return sorted(path.name for path in paths if path.suffix in (".dist-info", ".egg-info", ".pth"))


def _built(folder: Path) -> Built:
    python = next(p for p in (folder / "bin/python", folder / "Scripts/python.exe") if p.exists())
    return Built(python, (folder / "distribution").read_text(encoding="utf-8"))


def _pth_files(distribution: str) -> list[str]:
    """Return the ``.pth`` files of the distribution, as an editable installation here has them."""
    if not _installed(distribution):
        return []
    files = metadata.distribution(distribution).files or ()
    return [str(path) for path in files if path.suffix == ".pth"]


def _installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def _distribution(wheel: Path) -> str:
    return wheel.name.partition("-")[0]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
