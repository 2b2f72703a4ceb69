"""Environments have the code of their side, and nothing else differs: the worst that a gate can do
is to compare a version with itself."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from orthobench.compare import environments as module
from orthobench.compare.environments import shared_paths, sides
from orthobench.compare.sides import Side
from orthobench.errors import UsageError

VERSION = "import orthobench, toy_solver; print(toy_solver.VERSION, orthobench.__file__)"


def asked(side, code=VERSION):
    done = subprocess.run(
        [side.python, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.wide
def test_each_side_imports_its_own_code_and_shares_the_rest(project):
    said = []
    with sides("HEAD~1", ".", here=project.root, progress=said.append) as (base, head):
        first, ours = asked(base)
        third, same = asked(head)
        assert (first, third, ours) == ("first", "third", same)
        assert (base.kind, base.detail, head.kind) == ("revision", project.first, "folder")
        folder = base.python.parents[2]
        assert len(str(base.python)) == len(str(head.python))
    assert not folder.exists()
    assert any("BASE 'HEAD~1'" in text for text in said)
    assert project.git("worktree", "list").count("\n") == 0


def test_an_unknown_side_is_refused_before_anything_is_built(project):
    said = []
    with (
        pytest.raises(UsageError, match="unknown HEAD"),
        sides("v1.0", "v9", here=project.root, progress=said.append),
    ):
        pass
    assert said == []


def test_a_project_that_the_revision_does_not_have_is_refused(project):
    inner = project.root / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").touch()
    said = r"BASE 'v1\.0' has no pyproject\.toml in inner"
    try:
        with pytest.raises(UsageError, match=said), sides("v1.0", "HEAD", here=inner):
            pass
    finally:
        (inner / "pyproject.toml").unlink()
        inner.rmdir()


def test_an_environment_without_orthobench_is_refused(empty):
    venv.EnvBuilder(symlinks=os.name != "nt").create(empty / "bare")
    with (
        pytest.raises(UsageError, match=r"BASE 'bare' cannot be compared: .*import orthobench"),
        sides("bare", "bare", here=empty),
    ):
        pass


@pytest.mark.wide
def test_a_plugin_of_the_side_that_does_not_load_is_refused(project):
    (project.root / "toy_solver.py").rename(project.root / "kept")
    (project.root / "toy_solver.py").write_text("import no_such_module\n")
    said = r"HEAD '\.' cannot be compared: its plugin 'toy' does not load: .*no_such_module"
    try:
        with pytest.raises(UsageError, match=said), sides("HEAD", ".", here=project.root):
            pass
    finally:
        (project.root / "kept").rename(project.root / "toy_solver.py")


def test_other_packages_come_after_the_own_ones_and_editable_ones_too(empty, monkeypatch):
    # removed from HEAD, a module would still be found in the user's checkout
    info = empty / "own_plugin-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-plugin\nVersion: 9\n")
    (info / "RECORD").write_text("_own.pth,,\nown_plugin-9.dist-info/METADATA,,\n")
    (empty / "_theirs.pth").write_text("checkout\nimport json\n")
    (empty / "_own.pth").write_text("hidden\n")
    monkeypatch.syspath_prepend(empty)
    monkeypatch.setattr(module.site, "getsitepackages", lambda: [str(empty)])
    monkeypatch.setattr(module.site, "ENABLE_USER_SITE", False)
    shared = [str(empty), str(empty / "checkout"), "import json"]
    assert shared_paths(["own_plugin"]) == shared
    assert sorted(shared_paths()) == sorted([*shared, str(empty / "hidden")])


@pytest.fixture
def called(empty, monkeypatch):
    """The programs that are called, each of which writes a wheel and does not run."""
    calls = []

    def call(side, verb, command, folder=None):
        calls.append((verb, command, folder))
        (empty / "wheel" / "toy.whl").touch()

    monkeypatch.setattr(module, "_call", call)
    return calls


SIDE = Side("HEAD", "folder", "")


def test_pip_builds_what_needs_something_that_is_not_here(empty, called):
    (empty / "pyproject.toml").write_text('build-system.requires = ["pytest>=8", "no-such[x] >=1"]')
    assert module._build(SIDE, empty, empty / "wheel") == empty / "wheel" / "toy.whl"
    ((verb, command, _),) = called
    assert (verb, command[1:4]) == ("build", ["-I", "-m", "pip"])
    assert command[-5:] == ["wheel", "--no-deps", "-w", str(empty / "wheel"), str(empty)]
    assert "--no-input" in command


@pytest.mark.parametrize(
    ("project", "call"),
    [
        ("", "import_module('setuptools.build_meta').__legacy__.build_wheel("),
        ("build-system.requires = []", "('setuptools.build_meta').__legacy__.build_wheel("),
        (
            "build-system = { requires = ['pytest'], build-backend = 'a.b:c.d' }",
            "import_module('a.b').c.d.build_wheel(",
        ),
        ("build-system = { requires = [], build-backend = 'a' }", "('a').build_wheel("),
        (
            "build-system = { requires = [], build-backend = 'a', backend-path = ['.', 'more'] }",
            "sys.path[:0] = ['SOURCE', 'SOURCE/more']; import_module('a').build_wheel(",
        ),
    ],
)
def test_a_wheel_is_built_by_the_backend_that_a_project_names(empty, called, project, call):
    source, target = empty / "source", empty / "wheel"
    source.mkdir()
    (source / ("pyproject.toml" if project else "setup.py")).write_text(project)
    assert module._build(SIDE, source, target) == target / "toy.whl"
    ((verb, command, folder),) = called
    assert (verb, command[:3], folder) == ("build", [sys.executable, "-I", "-c"], source)
    assert f"{call.replace('SOURCE', str(source))}{str(target)!r})" in command[3]


def test_a_program_that_fails_is_told_with_its_last_lines(empty):
    side = Side("v1", "revision", "", role="HEAD")
    module._call(side, "build", [sys.executable, "-c", ""], empty)
    code = "import os; print(os.getcwd()); assert 'bin' in os.environ['PATH'], 1; 1 / 0"
    with pytest.raises(UsageError, match=r"^cannot build HEAD 'v1': ") as caught:
        module._call(side, "build", [sys.executable, "-c", code], empty)
    said = f"{empty} | Traceback (most recent call last): | ZeroDivisionError: division by zero;"
    assert said in str(caught.value)
    with pytest.raises(UsageError) as caught:
        module._call(side, "build", [sys.executable, "-c", "raise SystemExit('x' * 9999)"], empty)
    assert len(str(caught.value)) < 400


def test_a_build_that_fails_here_is_tried_by_pip_and_the_first_reason_is_told(empty, monkeypatch):
    """As setuptools of Python 3.11, which is installed and cannot build a wheel by itself."""
    tried = []

    def fails(side, verb, command, *_):
        tried.append("pip" in command)
        raise UsageError(f"reason {len(tried)}")

    monkeypatch.setattr(module, "_call", fails)
    (empty / "pyproject.toml").write_text("build-system.requires = []")
    with pytest.raises(UsageError, match="reason 1"):
        module._build(SIDE, empty, empty / "wheel")
    assert tried == [False, True]


@pytest.mark.parametrize(
    ("text", "here"),
    [("pytest", True), ("pytest>=8", True), ("pytest<3", False), ("no-such", False),
     ("pytest>=8; python_version < '3'", True), ("no-such; python_version < '3'", True),
     ("@", False)],
)  # fmt: skip
def test_what_a_build_needs_is_here_if_its_version_fits(text, here):
    assert module._is_installed(text) is here


def test_an_environment_is_asked_for_its_code_whose_state_is_kept(empty, monkeypatch):
    process = SimpleNamespace(ask=lambda do, distributions: {"orthobench": str(empty)})
    monkeypatch.setattr(module, "SideProcess", lambda side, options: nullcontext(process))
    with sides(sys.executable) as (side,):
        assert side.root == empty


@pytest.mark.parametrize("data", [False, True])
def test_a_wheel_is_unpacked_or_installed_where_it_has_more_than_packages(empty, monkeypatch, data):
    asked = []
    monkeypatch.setattr(module, "_call", lambda side, verb, words: asked.append(words[-4:]))
    wheel = empty / "toy_thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as files:
        files.writestr("toy.py", "")
        files.writestr("toy_thing-1.0.data/scripts/toy" if data else "toy.data", "")
    side = Side(str(wheel), "wheel", str(wheel), role="HEAD")
    made = module._installed(side, empty / "scratch", lambda _: None)
    assert (made.root, made.distributions) == (empty / "scratch" / "head", ("toy_thing",))
    assert made.python == made.root / "bin" / "python"
    (packages,) = made.root.glob("lib/*/site-packages")
    assert (packages / "toy.py").exists() is not data
    assert asked == [["install", str(wheel), "--no-deps", "--no-index"]] * data


@pytest.mark.slow
def test_revisions_folders_and_wheels_are_built(project, empty):
    with sides("HEAD~1", "HEAD", here=project.root) as (base, head):
        assert (asked(base)[0], asked(head)[0]) == ("first", "second")
        names = json.loads(asked(head, "import json, importlib.metadata as m;"
            "print(json.dumps([e.dist.name for e in m.entry_points(group='orthobench')]"
            ", separators=(',', ':')))")[0])  # fmt: skip
        assert names.count("toy-plugin") == 1
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "-w", empty, "."],
        cwd=project.root, check=True, capture_output=True,
    )  # fmt: skip
    with sides("toy_plugin-1.0-py3-none-any.whl", sys.executable, here=empty) as (base, head):
        assert asked(base)[0] == "third"
        assert head.python == Path(sys.executable)


@pytest.mark.slow
def test_a_build_that_fails_is_told_with_what_it_said(project):
    text = (project.root / "backend.py").read_text()
    (project.root / "backend.py").write_text("raise RuntimeError('no such compiler')")
    try:
        said = r"cannot build HEAD '\.': .*no such compiler.*without a network"
        with pytest.raises(UsageError, match=said), sides("HEAD", ".", here=project.root):
            pass
    finally:
        (project.root / "backend.py").write_text(text)
    assert project.git("worktree", "list").count("\n") == 0
