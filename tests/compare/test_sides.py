"""Environments have the code of their side, and nothing else differs: the worst that a gate can do
is to compare a version with itself."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

import orthobench
from orthobench.compare import building
from orthobench.compare import sides as module
from orthobench.compare.building import (
    Builder,
    Built,
    code_here,
    missing_to_build,
    packages_here,
    shared_paths,
)
from orthobench.compare.cached_env import cached_envs
from orthobench.compare.comparison import Side
from orthobench.compare.naming import Named
from orthobench.compare.seal import ChangedError
from orthobench.compare.sides import sides
from orthobench.errors import UsageError

VERSION = "import orthobench, toy_solver; print(toy_solver.VERSION, orthobench.__file__)"


def asked(side, code=VERSION):
    done = subprocess.run(
        [side.python, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def unpacked(builder, named, *words):
    """Do what pip does for the toy: build its wheel, or unpack it."""
    if "wheel" in words:
        *_, out, source = words
        Path(out).mkdir()
        code = f"import backend; backend.build_wheel({out!r})"
        subprocess.run([sys.executable, "-c", code], cwd=source, check=True)
        return
    folder = Path(words[words.index("--python") + 1]).parents[1]
    where = {"base": str(folder), "platbase": str(folder)}
    with zipfile.ZipFile(words[-1]) as wheel:
        wheel.extractall(sysconfig.get_path("purelib", "venv", where))


@pytest.fixture
def no_pip(monkeypatch):
    calls = []
    monkeypatch.setattr(Builder, "_pip", lambda *words: (calls.append(words[2:]), unpacked(*words)))
    return calls


@pytest.mark.wide
def test_each_side_imports_its_own_code_and_shares_the_rest(project, no_pip):
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


@pytest.mark.wide
def test_environments_of_commits_are_kept_and_reused_those_of_folders_are_not(
    project, no_pip, empty, monkeypatch
):
    monkeypatch.setattr(module, "_check_built", lambda named, built: None)
    for _ in range(2):
        with sides("v1.0", ".", empty / "kept", here=project.root) as (base, head):
            assert base.python.is_relative_to(empty / "kept")
            assert not head.python.is_relative_to(empty / "kept")
        assert base.python.exists()
    assert [words[0] for words in no_pip] == ["wheel", "--python"] + 2 * ["wheel", "--python"]
    assert len(cached_envs(empty / "kept")) == 1
    with sides("HEAD", "v1.0", empty / "kept", here=project.root) as (base, head):
        assert base.python != head.python
    assert len(cached_envs(empty / "kept")) == 3


def test_an_interrupted_build_leaves_nothing_that_would_be_taken_for_an_environment(
    project, empty, monkeypatch
):
    def interrupted(builder, named, *words):
        raise KeyboardInterrupt

    monkeypatch.setattr(Builder, "_pip", interrupted)

    def build():
        with sides("v1.0", "HEAD", empty / "kept", here=project.root):
            pass

    with pytest.raises(KeyboardInterrupt):
        build()
    assert [path.suffix for path in (empty / "kept").iterdir()] == [".lock"]


ATTACK = """
import pathlib
for site in pathlib.Path.cwd().parent.parent.glob("orthobench-compare-*/base/lib/*/site-packages"):
    {attack}
"""
"""The build of HEAD reaches for BASE, wherever it lies beside it."""


@pytest.mark.parametrize(
    "attack",
    [
        "(site / 'toy_solver.py').write_text(\"VERSION = 'attacked'\")",
        "(site / 'attack.pth').write_text('import toy_solver')",
        "(site / '__pycache__').mkdir(exist_ok=True); (site / '__pycache__' / 'x.nbc').touch()",
    ],
)
def test_a_build_of_head_that_changes_base_is_refused(project, no_pip, empty, attack):
    project.git("clone", "-q", str(project.root), str(empty / "clone"))
    backend = empty / "clone" / "backend.py"
    backend.write_text(backend.read_text() + ATTACK.format(attack=attack))
    with (
        pytest.raises(ChangedError, match=r"BASE 'v1\.0' is not what was built any more"),
        sides("v1.0", ".", here=empty / "clone"),
    ):
        pass


@pytest.mark.parametrize(("name", "allowed"), [("__pycache__/new.pyc", True), ("new.py", False)])
def test_what_the_build_of_head_may_change_of_the_shared_code(
    name, allowed, project, no_pip, empty, monkeypatch
):
    """Others compile it meanwhile, and change nothing else."""
    shared = empty / "shared"
    (shared / "__pycache__").mkdir(parents=True)

    def share(builder, built):
        if "/head/" in str(built.python):
            (shared / name).touch()

    monkeypatch.setattr(building, "code_here", lambda distribution: [shared])
    monkeypatch.setattr(Builder, "_share", share)
    monkeypatch.setattr(module, "_check_built", lambda named, built: None)
    refused = nullcontext() if allowed else pytest.raises(ChangedError, match="BASE")
    with refused, sides("v1.0", "HEAD", here=project.root) as (base, _):
        assert len(base.seals) == 2
        base.check()


def test_the_shared_code_of_orthobench_and_plugins_is_sealed_without_the_own():
    inside = Path(orthobench.__file__).parent
    assert inside in code_here("toy_plugin")
    assert inside not in code_here("orthobench")


def test_nothing_is_built_where_one_side_means_nothing(project, no_pip):
    with pytest.raises(UsageError, match="unknown HEAD"), sides("v1.0", "v9", here=project.root):
        pass
    assert no_pip == []


def test_an_environment_without_orthobench_is_refused(empty):
    venv.EnvBuilder(symlinks=os.name != "nt").create(empty / "bare")
    with (
        pytest.raises(UsageError, match="cannot import orthobench"),
        sides("bare", "bare", here=empty),
    ):
        pass


def checked(monkeypatch, **found):
    """Check a built environment whose interpreter says this of what it imports."""
    usual = {
        "orthobench": "/env/lib/orthobench", "refused": "", "broken": {},
        "plugins": {"toy": "toy-plugin"}, "modules": {"toy_solver": "/env/lib/toy_solver.py"},
    }  # fmt: skip
    monkeypatch.setattr(module, "_probed", lambda *_: usual | found)
    built = SimpleNamespace(
        folder=Path("/env"), python=Path("/env/bin/python"), distribution="toy_plugin"
    )
    module._check_built(Named("BASE", Side("main", "revision", "0" * 40)), built)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            {"modules": {"toy_solver": "/home/me/toy_solver.py"}},
            "imported from /home/me/toy_solver",
        ),
        ({"modules": {"toy_solver": None}}, "toy_solver would be imported from None"),
        ({"modules": None}, "did not install toy_plugin"),
        ({"orthobench": None}, "no orthobench"),
        ({"refused": "it is too old"}, "cannot be compared: it is too old"),
        ({"broken": {"toy": "ImportError: no x"}}, "plugin 'toy' does not load: ImportError"),
        ({"broken": {"orthobench": "ImportError"}}, "plugin 'orthobench' does not load"),
    ],
)
def test_an_environment_that_imports_something_else_is_refused(found, said, monkeypatch):
    checked(monkeypatch)
    checked(monkeypatch, broken={"another's": "ImportError"})
    with pytest.raises(UsageError, match=said):
        checked(monkeypatch, **found)


def test_other_packages_come_after_the_own_ones_and_editable_ones_too(empty, monkeypatch):
    other, checkout, hidden = empty / "other", empty / "checkout", empty / "hidden"
    for folder in (other, checkout, hidden):
        folder.mkdir()
    (other / "_theirs.pth").write_text(f"# theirs\n{checkout}\nimport json\n")
    (other / "_project.pth").write_text(f"{hidden}\n")
    monkeypatch.setattr(building, "packages_here", lambda: [str(other)])
    assert shared_paths(["_project.pth"]) == [str(other), str(checkout), "import json"]


def test_an_editable_installation_of_the_project_is_left_out(empty, monkeypatch):
    # removed from HEAD, a module would still be found in the user's checkout
    info = empty / "toy_plugin-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-plugin\nVersion: 9\n")
    (empty / "_toy.pth").write_text("hidden")
    (info / "RECORD").write_text("_toy.pth,,\ntoy_plugin-9.dist-info/METADATA,,\n")
    monkeypatch.syspath_prepend(empty)
    here = packages_here()
    monkeypatch.setattr(building, "packages_here", lambda: [str(empty), *here])
    venv.EnvBuilder(symlinks=os.name != "nt").create(empty / "env")
    built = Built(empty / "env" / "bin" / "python", "toy_plugin")
    Builder(empty, None, fresh=False, progress=lambda text: None)._share(built)
    (written,) = (empty / "env").rglob("_orthobench_shared.pth")
    lines = written.read_text().splitlines()
    assert str(Path(pytest.__file__).parents[1]) in lines
    assert str(empty) in lines
    assert str(empty / "hidden") not in lines


def test_packages_here_are_those_that_this_interpreter_imports():
    assert any(Path(pytest.__file__).is_relative_to(folder) for folder in packages_here())


def test_a_build_is_isolated_where_something_it_needs_is_not_here(empty):
    assert set(missing_to_build(empty)) <= {"setuptools"}
    file = empty / "pyproject.toml"
    file.write_text('build-system.requires = ["pytest>=8", "no-such-backend[x] >=1"]')
    assert missing_to_build(empty) == ["no-such-backend"]
    file.write_text("build-system.requires = []")
    assert missing_to_build(empty) == []


def test_pips_failure_is_told_by_its_last_lines(project, empty):
    builder = Builder(empty, None, fresh=False, progress=lambda text: None)
    named = Named("BASE", Side("main", "revision", project.first))
    said = builder._failure(named, "\n".join(f"line {i}" for i in range(50)), ("wheel", "x"))
    assert said.startswith("cannot build the wheel of BASE 'main'; pip said:\n    line 38\n")
    assert said.endswith("line 49\nwithout a network, install here first what its build needs")


@pytest.mark.slow
def test_pip_builds_revisions_folders_and_wheels(project, empty):
    with sides("HEAD~1", "HEAD", empty / "kept", here=project.root) as (base, head):
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
def test_a_build_that_fails_is_told_with_what_pip_said(project):
    text = (project.root / "backend.py").read_text()
    (project.root / "backend.py").write_text("raise RuntimeError('no such compiler')")
    try:
        said = r"wheel of HEAD '\.'; pip said(.|\n)*no such compiler"
        with pytest.raises(UsageError, match=said), sides("HEAD", ".", here=project.root):
            pass
    finally:
        (project.root / "backend.py").write_text(text)
    assert project.git("worktree", "list").count("\n") == 0
