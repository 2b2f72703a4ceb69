"""Sides of other versions of orthobench: served where possible, else refused in one sentence."""

import ast
import inspect
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from orthobench.compare import protocol, remote
from orthobench.compare.environments.sides import sides
from orthobench.compare.process import SideError, SideProcess
from orthobench.compare.remote.names import VERSION_0, VERSIONS, names
from orthobench.errors import UsageError
from orthobench.tools import child

ROOT = Path(__file__).parents[2]

OLD = {
    "registry": """
        from pathlib import Path
        from types import SimpleNamespace
        def catalogue():
            return SimpleNamespace(broken={}, suite=lambda name: Path(__file__))
        """,
    "suite_file": "from_table = None",
    "cell": "built = None",
    "harness": "run = timed = CLOCK = RATIO = None",
    "threads": "limited = None",
}
"""Modules of an orthobench from before there was a protocol."""


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


def test_the_names_of_all_versions_are_those_of_the_protocol():
    tree = ast.parse(Path(protocol.__file__).read_text(encoding="utf-8"))
    assigned = [n.targets[0].id for n in tree.body if isinstance(n, ast.Assign)]
    promised = sum(isinstance(n, ast.Expr) for n in tree.body) - 1
    assert promised == len(assigned)
    assert {"VERSION", *VERSION_0} == set(assigned)
    assert max(VERSIONS) == protocol.VERSION
    assert names() is protocol


FOREIGN = [Path(child.__file__), *Path(remote.__file__).parent.glob("*.py")]
"""The files that the interpreter of another environment runs."""


@pytest.mark.parametrize("path", FOREIGN, ids=lambda path: path.name)
def test_files_for_other_interpreters_import_the_standard_library_only(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    assert found <= sys.stdlib_module_names


def test_a_newer_version_is_refused(orthobench):
    python = orthobench({"compare/__init__": "", "compare/protocol": "VERSION = 99"})
    said = r"BASE '.*' cannot be compared: its orthobench 7\.8\.9 has version 99 of .* 0 to 1: "
    with pytest.raises(UsageError, match=said), sides(python, sys.executable):
        pass


@pytest.mark.wide
def test_an_orthobench_from_before_version_0_is_refused(orthobench):
    python = orthobench(OLD | {"harness": "run = CLOCK = RATIO = None"})
    said = r"its orthobench 7\.8\.9 has no comparison protocol, nor the modules of version 0 of it"
    with pytest.raises(UsageError, match=said), sides(sys.executable, python):
        pass


def test_an_orthobench_without_a_protocol_is_served(orthobench):
    python = orthobench(OLD)
    with sides(python, sys.executable) as (base, _), SideProcess(base, "cpu", 1, 600.0) as process:
        assert "SimpleNamespace" in process.ask("suite", name="any")["text"]
        with pytest.raises(SideError, match="TypeError"):  # from_table is none
            process.ask("plan", text="", name="any", changes={"problem": 1})


SUITE = """
seeds = 1
budget = { samples = 200 }
[[problem]]
name = "digits"
k = 2
[[solver]]
name = "oja"
step = 2.0
[[solver]]
name = "incremental-pca"
"""

LOOSE = "orthobench/suite_file.py"
"""A module that was moved into a folder."""


def git(*words):
    try:
        done = subprocess.run(
            ["git", "-C", ROOT, *words],  # noqa: S607
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_the_commit_before_modules_moved_into_folders_is_compared_with_this_one(tmp_path):
    moved = git("log", "-1", "--diff-filter=D", "--no-renames", "--format=%H", "--", LOOSE)
    if not (moved and git("rev-parse", "--verify", "--quiet", f"{moved}~1")):
        pytest.skip("the history does not reach back to before the move")
    (tmp_path / "small.toml").write_text(SUITE)
    done = subprocess.run(
        [sys.executable, "-m", "orthobench", "compare", f"{moved}~1", "HEAD", "--json",
         "--suite", tmp_path / "small.toml", "--budget", "5"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cells = json.loads(done.stdout)["cells"]
    assert [cell["solver"] for cell in cells] == ["oja step=2.0", "incremental-pca"]
    for cell in cells:
        answers = {question: answer["change"] for question, answer in cell["answers"].items()}
        assert (answers["result"], answers["work"]) == ("same", "same")
        assert answers["time"] != "not compared"
