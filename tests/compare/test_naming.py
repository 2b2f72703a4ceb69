"""What BASE and HEAD mean: one thing each, or a clear refusal, before anything is built."""

import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from orthobench.compare import repository as gits
from orthobench.compare.naming import resolve
from orthobench.compare.repository import Repository
from orthobench.errors import StoreError, UsageError
from orthobench.results.store import Store


def kind_of(text, here):
    side = resolve("BASE", text, here).side
    assert side.name == text
    return side.kind, side.detail


@pytest.mark.parametrize("text", ["v1.0", "HEAD~1", "feature/fast", "main^{commit}~1"])
def test_revisions_are_commits(project, text):
    named = resolve("HEAD", text, project.root)
    assert (named.side.kind, named.side.detail) == ("revision", project.first)
    assert named.built
    assert named.project == "."


def test_folders_stores_wheels_and_environments_are_told_apart(project, empty):
    with Store(empty / "run" / "results.sqlite", write=True):
        pass
    with zipfile.ZipFile(empty / "toy-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("toy.py", "")
    store, python = str(empty / "run" / "results.sqlite"), Path(sys.executable)
    shutil.copy(store, empty / "other.db")
    assert kind_of("run", empty) == ("store", store)
    assert kind_of(store, empty) == ("store", store)
    assert kind_of("other.db", empty)[0] == "store"
    assert kind_of("toy-1.0-py3-none-any.whl", empty)[0] == "wheel"
    assert kind_of(str(python), empty) == ("environment", str(python))
    assert kind_of(str(project.root), empty) == ("folder", str(project.root))
    assert kind_of(".", project.root) == ("folder", str(project.root))


def test_an_environments_interpreter_is_the_link_in_it_not_what_it_points_to(empty):
    # python finds the environment's packages by the link's own place
    (empty / "env" / "bin").mkdir(parents=True)
    (empty / "env" / "bin" / "python").symlink_to(sys.executable)
    side = resolve("BASE", "env", empty).side
    assert (side.kind, side.python) == ("environment", empty / "env" / "bin" / "python")


def test_what_means_nothing_is_refused_with_all_that_it_could_have_been(project, empty):
    with pytest.raises(UsageError, match=r"unknown HEAD 'v1.1': no revision of .*'v1.0'") as found:
        resolve("HEAD", "v1.1", project.root)
    assert "no path of a store, a wheel, an environment or a project" in str(found.value)
    (empty / "some").mkdir()
    with pytest.raises(UsageError, match=r"no git repository here.*some is not a store, a wheel"):
        resolve("BASE", "some", empty)


@pytest.mark.parametrize("text", ["--help", "-q", "", "HEAD:toy_solver.py"])
def test_what_git_would_take_for_something_else_is_no_revision(project, text):
    assert Repository(project.root).commit(text) is None


def test_an_empty_text_is_refused_and_is_not_the_current_folder(project):
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


def test_the_project_is_the_nearest_one_and_has_to_be_in_the_revision(project):
    inner = project.root / "inner" / "src"
    inner.mkdir(parents=True)
    try:
        assert resolve("BASE", "HEAD", inner).project == "."
        (inner.parent / "pyproject.toml").touch()
        with pytest.raises(UsageError, match=r"has no pyproject.toml in inner"):
            resolve("BASE", "HEAD", inner)
        assert resolve("BASE", "..", inner).project == "inner"
    finally:
        shutil.rmtree(inner.parent)


def test_files_that_are_not_what_their_names_say_are_refused(empty):
    (empty / "x.sqlite").write_bytes(b"no database" * 20)
    with pytest.raises(StoreError, match=r"not an orthobench store$"):
        resolve("BASE", "x.sqlite", empty)
    (empty / "x-1-py3-none-any.whl").write_bytes(b"no zip")
    with pytest.raises(UsageError, match="no wheel"):
        resolve("BASE", "x-1-py3-none-any.whl", empty)


def test_a_revision_that_a_shallow_clone_lacks_is_said_to_be_missing(project, empty):
    project.git("clone", "-q", "--depth=1", f"file://{project.root}", str(empty / "clone"))
    with pytest.raises(UsageError, match="shallow clone: fetch the revision"):
        resolve("BASE", project.first, empty / "clone")


def state(project):
    files = {path: path.read_bytes() for path in project.root.glob("*.*") if path.is_file()}
    return files, project.git("status", "--porcelain"), project.git("worktree", "list")


def test_checking_out_leaves_the_users_checkout_as_it_is(project, empty):
    before, repository = state(project), Repository(project.root)
    hook = project.root / ".git" / "hooks" / "post-checkout"
    hook.write_text("#!/bin/sh\ntouch ../../hooked\nexit 1\n")
    hook.chmod(0o755)
    with repository.checked_out(project.first, empty / "tree") as tree:
        assert (tree / "toy_solver.py").read_text().startswith("VERSION = 'first'\n")
    assert not (empty / "tree").exists()

    def interrupted():
        with repository.checked_out(project.first, empty / "tree"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    hook.unlink()
    assert not (empty / "tree").exists()
    assert state(project) == before


def test_the_working_tree_is_taken_as_it_is(project, empty):
    before = state(project)
    backend, kept = project.root / "backend.py", (project.root / "backend.py").read_text()
    backend.unlink()
    link = project.root / "link.py"
    link.symlink_to("toy_new.py")
    try:
        with Repository(project.root).as_it_is(empty / "tree") as tree:
            assert (tree / "toy_solver.py").read_text().startswith("VERSION = 'third'\n")
            names = {path.name for path in tree.iterdir()} - {".git"}
            assert (tree / "link.py").is_symlink()
    finally:
        link.unlink()
        backend.write_text(kept)
    assert names == {".gitignore", "pyproject.toml", "toy_solver.py", "toy_new.py", "link.py"}
    assert state(project) == before


def test_git_reads_this_repository_whatever_a_hook_has_set(project, empty, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(empty))
    monkeypatch.setenv("GIT_INDEX_FILE", str(empty / "index"))
    assert Repository.around(project.root) == Repository(project.root)
    assert gits.git(project.root, "rev-parse", "HEAD") == project.second
    assert not os.path.lexists(empty / "index")
