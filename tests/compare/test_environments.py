"""Environments have the code of their side, and nothing else differs: the worst that a gate can do
is to compare a version with itself."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from orthobench.compare import sides as module
from orthobench.compare.cells import collect
from orthobench.compare.options import Options
from orthobench.compare.sides import Side, shared_paths, sides
from orthobench.errors import UsageError

VERSION = "import orthobench, toy_solver; print(toy_solver.VERSION, orthobench.__file__)"


@pytest.fixture
def options(tmp_path):
    """The options of a comparison on a suite without cells."""
    suite = tmp_path / "nothing.toml"
    suite.write_text("seeds = 1\n")
    return Options(suite)


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


def test_an_environment_without_orthobench_is_refused(empty, options):
    venv.EnvBuilder(symlinks=os.name != "nt").create(empty / "bare")
    with (
        pytest.raises(UsageError, match=r"BASE 'bare' cannot be compared: .*no orthobench"),
        sides("bare", "bare", here=empty) as both,
    ):
        collect(both, options, str)


@pytest.mark.wide
def test_a_plugin_of_the_side_that_does_not_load_is_refused(project, options):
    (project.root / "toy_solver.py").rename(project.root / "kept")
    (project.root / "toy_solver.py").write_text("import no_such_module\n")
    said = r"HEAD '\.' cannot be compared: its plugin 'toy' does not load: .*no_such_module"
    try:
        with pytest.raises(UsageError, match=said), sides("HEAD", ".", here=project.root) as both:
            collect(both, options, str)
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


SIDE = Side("HEAD", "folder", "")


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
