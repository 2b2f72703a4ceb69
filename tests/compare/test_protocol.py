"""Sides of other versions of orthobench: served if possible, otherwise refused in one sentence."""

import ast
import inspect
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from orthobench.compare import remote
from orthobench.compare.cells import collect
from orthobench.compare.options import Options
from orthobench.compare.sides import sides
from orthobench.errors import UsageError
from orthobench.tools import child


@pytest.fixture
def orthobench(tmp_path):
    """Make an environment with an orthobench of these modules; return its interpreter."""

    def made(modules):
        venv.EnvBuilder(symlinks=os.name == "posix").create(tmp_path / "env")
        python = next(path for path in (tmp_path / "env").glob("*/python*") if path.is_file())
        words = [python, "-c", "import site; print(site.getsitepackages()[0])"]
        folder = Path(subprocess.check_output(words, text=True).strip()) / "orthobench"
        for name, text in {"__init__": "__version__ = '7.8.9'", **modules}.items():
            file = folder / f"{name}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(inspect.cleandoc(text))
        return str(python)

    return made


FOREIGN = [Path(child.__file__), *Path(remote.__file__).parent.glob("*.py")]
"""The files that the interpreter of another environment runs."""


@pytest.mark.parametrize("path", FOREIGN, ids=lambda path: path.name)
def test_remote_files_import_the_standard_library_only(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    assert found <= sys.stdlib_module_names


@pytest.mark.parametrize(
    "modules",
    [
        {"compare/__init__": "", "compare/protocol": "VERSION = 99"},
        {},
    ],
)
@pytest.mark.wide
def test_another_version_is_refused(orthobench, modules, tmp_path):
    python = orthobench(modules)
    told = r"BASE '.*' cannot be compared: its Python has no orthobench with version 3 of"
    suite = tmp_path / "nothing.toml"
    suite.write_text("seeds = 1\n")
    with pytest.raises(UsageError, match=told), sides(python, sys.executable) as both:
        collect(both, Options(suite), str)
