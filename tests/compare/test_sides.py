"""BASE and HEAD mean one thing each, or are refused before anything is built."""

import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from orthobench.compare.cells import SideCells
from orthobench.compare.changes import between
from orthobench.compare.sides import Side, checked_out, resolve
from orthobench.errors import UsageError
from orthobench.tools.git import GitError

from .conftest import UNTOLD, git


def kind_of(text, here):
    side = resolve("BASE", text, here)
    assert side.name == text
    return side.kind, side.detail


def test_folders_wheels_and_environments_are_told_apart(project, empty):
    with zipfile.ZipFile(empty / "toy-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("toy.py", "")
    python = Path(sys.executable)
    assert kind_of("toy-1.0-py3-none-any.whl", empty)[0] == "wheel"
    assert kind_of(str(python), empty) == ("environment", str(python))
    assert kind_of(str(project.root), empty) == ("folder", str(project.root))
    assert kind_of(".", project.root) == ("folder", str(project.root))


def test_folder_is_a_project_or_an_environment(empty):
    for name in ("pyproject.toml", "setup.py"):
        folder = Path(name).stem
        (empty / folder).mkdir()
        (empty / folder / name).touch()
        side = resolve("BASE", folder, empty)
        assert (side.kind, side.repository, side.project) == ("folder", None, ".")
    (empty / "bin").mkdir()
    (empty / "bin" / "python").touch()
    with pytest.raises(UsageError, match="unknown BASE"):
        resolve("BASE", str(empty), empty)
    (empty / "bin" / "python").chmod(0o755)
    (empty / "program").touch(mode=0o755)
    (empty / "folder.whl").mkdir()
    for text in ("program", "folder.whl"):
        with pytest.raises(UsageError, match="unknown BASE"):
            resolve("BASE", text, empty)
    assert kind_of(str(empty), empty) == ("environment", str(empty / "bin" / "python"))


def test_folder_without_repository_is_copied_without_builds(empty):
    kept = {"pyproject.toml", "src/code.py", "building.py"}
    built = {"build/a.py", "src/__pycache__/a.pyc", ".git/HEAD", "toy.egg-info/PKG-INFO", "dist/w"}
    for name in kept | built:
        (empty / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (empty / "project" / name).touch()
    with checked_out(resolve("HEAD", "project", empty), empty / "tree") as (tree,):
        found = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    assert found == kept


def test_nearest_project_in_a_repository_is_checked_out(project, empty):
    project.git("clone", "-q", str(project.root), str(empty / "clone"))
    inner = empty / "clone" / "inner" / "src"
    inner.mkdir(parents=True)
    assert resolve("HEAD", "HEAD", inner).project == "."
    (inner.parent / "setup.py").touch()
    for side in (resolve("HEAD", "HEAD", inner), resolve("HEAD", "..", inner)):
        assert side.project == "inner"
        with checked_out(side, empty / side.kind) as (tree,):
            assert tree == empty / side.kind / "inner"
            assert (tree / "setup.py").exists() is (side.kind == "folder")


def test_more_projects_of_a_repository_come_with_a_side(project, empty):
    project.git("clone", "-q", str(project.root), str(empty / "clone"))
    root = empty / "clone"
    (root / "lib").mkdir()
    (root / "lib" / "pyproject.toml").touch()
    for name in ("HEAD", "."):
        side = resolve("HEAD", name, root, [root / "lib"])
        with checked_out(side, empty / side.kind) as folders:
            assert folders == [empty / side.kind / part for part in (".", "lib")]
    for folder in (empty, project.root):
        with pytest.raises(UsageError, match="not in the repository of"):
            resolve("HEAD", ".", root, [folder])
    with pytest.raises(UsageError, match="for revisions and folders"):
        resolve("HEAD", sys.executable, root, [root / "lib"])


def test_submodules_are_those_of_revision_or_working_tree(project, empty):
    inner, outer = empty / "inner", empty / "outer"
    for folder in (inner, outer):
        git(empty, "clone", "-q", str(project.root), str(folder))
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(outer / "sub", "checkout", "-q", project.first)
    git(outer, "commit", "-qam", "with a submodule")
    git(outer / "sub", "checkout", "-q", project.second)
    for name, version in (("HEAD", "first"), (".", "second")):
        side = resolve("HEAD", name, outer)
        with checked_out(side, empty / side.kind) as (tree,):
            text = (tree / "sub" / "toy_solver.py").read_text()
            assert text.startswith(f"VERSION = '{version}'")
    git(outer, "submodule", "deinit", "-q", "--force", "sub")
    shutil.rmtree(outer / ".git" / "modules")
    with (
        pytest.raises(GitError, match=r"submodule path .* failed"),
        checked_out(resolve("HEAD", "HEAD", outer), empty / "tree"),
    ):
        pass
    assert git(outer, "worktree", "list").count("\n") == 0


def test_unknown_side_is_refused_with_the_reasons(project, empty):
    with pytest.raises(UsageError, match=r"unknown HEAD, no revision: 'v1.1'.*'v1.0'") as found:
        resolve("HEAD", "v1.1", project.root)
    assert "no wheel, environment or project" in str(found.value)
    (empty / "some").mkdir()
    with pytest.raises(UsageError, match=r"some is no wheel.*here is no git repository"):
        resolve("BASE", "some", empty)


@pytest.mark.parametrize("text", ["--help", "-q", "HEAD:toy_solver.py"])
def test_option_of_git_is_no_revision(project, text):
    with pytest.raises(UsageError, match="unknown BASE"):
        resolve("BASE", text, project.root)


def test_empty_text_is_refused(project):
    # what `orthobench compare "$BASE" HEAD` says where BASE is not set
    with pytest.raises(UsageError, match="BASE is empty"):
        resolve("BASE", " ", project.root)


def test_a_branch_that_is_a_folder_too_is_refused(project):
    folder = project.root / "feature" / "fast"
    folder.mkdir(parents=True)
    (folder / "setup.py").touch()
    try:
        with pytest.raises(UsageError, match=r"a revision and a folder too; write ./feature/fast"):
            resolve("BASE", "feature/fast", project.root)
        assert kind_of("./feature/fast", project.root)[0] == "folder"
        assert kind_of("refs/heads/feature/fast", project.root)[0] == "revision"
    finally:
        shutil.rmtree(project.root / "feature")


def test_missing_revision_of_a_shallow_clone_is_named(project, empty):
    project.git("clone", "-q", "--depth=1", f"file://{project.root}", str(empty / "clone"))
    with pytest.raises(UsageError, match="shallow clone: fetch the revision"):
        resolve("BASE", project.first, empty / "clone")


def state(project):
    files = {path: path.read_bytes() for path in project.root.glob("*.*") if path.is_file()}
    return files, project.git("status", "--porcelain"), project.git("worktree", "list")


def test_checking_out_leaves_the_users_checkout_as_it_is(project, empty):
    before, side = state(project), resolve("BASE", "v1.0", project.root)
    with checked_out(side, empty / "tree") as (tree,):
        assert (tree / "toy_solver.py").read_text().startswith("VERSION = 'first'\n")
    assert not (empty / "tree").exists()

    def interrupted():
        with checked_out(side, empty / "tree"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not (empty / "tree").exists()
    assert state(project) == before


def test_the_working_tree_is_taken_as_it_is(project, empty):
    before = state(project)
    backend, kept = project.root / "backend.py", (project.root / "backend.py").read_text()
    backend.unlink()
    link = project.root / "link.py"
    link.symlink_to("toy_new.py")
    try:
        with checked_out(resolve("HEAD", ".", project.root), empty / "tree") as (tree,):
            assert (tree / "toy_solver.py").read_text().startswith("VERSION = 'third'\n")
            names = {path.name for path in tree.iterdir()} - {".git"}
            assert (tree / "link.py").is_symlink()
            assert git(tree, "rev-parse", "HEAD") == project.second
    finally:
        link.unlink()
        backend.write_text(kept)
    assert names == {".gitignore", "pyproject.toml", "toy_solver.py", "toy_new.py", "link.py"}
    assert state(project) == before


def between_sides(*both):
    return between(*(SideCells(side, {}, {}, (), UNTOLD) for side in both))


def test_commits_and_files_beside_the_project_are_listed(project, empty):
    project.git("clone", "-q", str(project.root), str(empty / "clone"))
    root = empty / "clone"
    for folder in ("plugin", "lib"):
        (root / folder).mkdir()
        (root / folder / "pyproject.toml").touch()
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Add two projects")
    base = resolve("BASE", "HEAD~1", root / "plugin")
    for name in ("HEAD", "."):
        head = resolve("HEAD", name, root / "plugin")
        found = between_sides(base, head)
        assert [line.partition(" ")[2] for line in found.commits] == ["Add two projects"]
        assert found.outside == ("lib/pyproject.toml",)
        both = resolve("HEAD", name, root / "plugin", [root / "lib"])
        assert between_sides(base, both).outside == ()
    (root / "new.py").touch()
    assert between_sides(base, head).commits[0] == "uncommitted changes"
    assert between_sides(Side("x", "wheel", "x.whl"), head).commits == ()
