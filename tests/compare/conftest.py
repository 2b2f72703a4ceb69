"""A plugin of two revisions in a git repository, which builds without a network."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "toy-plugin"
version = "1.0"
"""

BACKEND = '''
"""Makes a wheel of the files that are here."""
import pathlib, zipfile

INFO = "toy_plugin-1.0.dist-info"

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "toy_plugin-1.0-py3-none-any.whl"
    files = {path.name: path.read_text() for path in pathlib.Path(".").glob("toy*.py")}
    files[f"{INFO}/METADATA"] = "Metadata-Version: 2.1\\nName: toy-plugin\\nVersion: 1.0\\n"
    files[f"{INFO}/WHEEL"] = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[f"{INFO}/entry_points.txt"] = "[orthobench]\\ntoy = toy_solver\\n"
    record = "".join(f"{name},,\\n" for name in [*files, f"{INFO}/RECORD"])
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        for path, text in {**files, f"{INFO}/RECORD": record}.items():
            wheel.writestr(path, text)
    return name
'''


HOOK = """
from orthobench.contract import hookimpl


@hookimpl
def orthobench_suites():
    return []
"""


UNTOLD = {
    "packages": {}, "installed": {}, "requires": (), "files": {}, "reached": (), "defaults": {},
    "libraries": (), "modules": {}, "content": (),
}  # fmt: skip
"""The facts about a side without code."""


def git(folder, *words):
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", "-C", folder, *who, *words],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
        env=env,
    )
    return done.stdout.strip()


def commit(folder, text, message):
    (folder / "toy_solver.py").write_text(text + HOOK)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """A repository: two commits, a tag, a branch; the working tree has a third version."""
    root = tmp_path_factory.mktemp("toy").resolve()
    git(root, "init", "-q")
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "backend.py").write_text(BACKEND)
    (root / ".gitignore").write_text("ignored.py\n")
    first = commit(root, "VERSION = 'first'\n", "first")
    git(root, "tag", "v1.0")
    git(root, "branch", "feature/fast")
    second = commit(root, "VERSION = 'second'\n", "second")
    (root / "toy_solver.py").write_text("VERSION = 'third'\n" + HOOK)
    (root / "toy_new.py").write_text("")
    (root / "ignored.py").write_text("")
    return SimpleNamespace(root=root, first=first, second=second, git=lambda *w: git(root, *w))


@pytest.fixture
def empty(tmp_path) -> Path:
    """A folder in no repository."""
    return tmp_path
