"""What a repository's own configuration names as commands is never run."""

import os
import shlex
import subprocess

import pytest

from orthobench.cli import doctor
from orthobench.compare.sides import checked_out, resolve
from orthobench.errors import UsageError
from orthobench.registry.plugins import Registry
from orthobench.registry.scaffold import OWN, Names, render, templates_of
from orthobench.tools import environment
from orthobench.tools.git import GitError, git

NAMES = "applypatch-msg post-checkout post-index-change reference-transaction pre-auto-gc"


def plainly(folder, *words):
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", "-C", folder, *who, *words], check=True, env=env, capture_output=True)  # noqa: S607


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """Return a repository whose configuration names the same command everywhere, and its mark."""
    root, mark, script = tmp_path / "stranger", tmp_path / "mark", tmp_path / "script"
    script.write_text(f"#!/bin/sh\necho $0 $* >> {shlex.quote(str(mark))}\nexit 1\n")
    script.chmod(0o755)
    root.mkdir()
    plainly(root, "init")
    (root / "pyproject.toml").write_text("[project]\nname = 'stranger'\n")
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    plainly(root, "add", ".")
    plainly(root, "commit", "-m", "first")
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    for name in NAMES.split():
        (root / ".git" / "hooks" / name).symlink_to(script)
    for key in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "diff.external",
        "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge",
        "filter.evil.process", "credential.helper", "pager.status",
        "remote.origin.uploadpack",
    ):  # fmt: skip
        plainly(root, "config", key, str(script))
    for name in NAMES.split():
        plainly(root, "config", f"hook.evil-{name}.command", str(script))
        plainly(root, "config", f"hook.evil-{name}.event", name)
    plainly(root, "config", "filter.evil.required", "true")
    plainly(root, "config", "submodule.recurse", "true")
    (root / "pyproject.toml").write_text("[project]\nname = 'another'\n")
    (root / "new.toml").write_text("")
    monkeypatch.chdir(root)
    return root, mark


def test_the_repository_is_hostile(hostile):
    root, mark = hostile
    subprocess.run(["git", "status"], cwd=root, capture_output=True, check=False)  # noqa: S607
    assert mark.exists()


def test_the_state_of_a_hostile_checkout_is_read_without_running_what_it_names(hostile):
    _, mark = hostile
    state = environment.snapshot()["git"]
    assert len(state["commit"]) == 40
    assert state["dirty"]
    assert doctor.examine()["environment"]["git"] == state
    assert not mark.exists()


def test_a_comparison_reads_a_hostile_repository_without_running_what_it_names(hostile, tmp_path):
    root, mark = hostile
    with pytest.raises(UsageError, match="did you mean 'main'"):
        resolve("BASE", "mian", root)
    with checked_out(resolve("BASE", "HEAD", root), tmp_path / "base") as folder:
        assert "stranger" in (folder / "pyproject.toml").read_text()
    with checked_out(resolve("HEAD", ".", root), tmp_path / "head") as folder:
        assert "another" in (folder / "pyproject.toml").read_text()
        assert (folder / "new.toml").exists()
    assert not mark.exists()


def test_nothing_is_fetched_to_complete_a_hostile_clone(hostile):
    root, mark = hostile
    for key, value in {
        "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin",
        "remote.origin.promisor": "true", "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{mark.with_name('script')}",
    }.items():  # fmt: skip
        plainly(root, "config", key, value)
    with pytest.raises(GitError, match="cat-file"):
        git(root, "cat-file", "-p", "1" * 40)
    assert not mark.exists()


def test_a_filter_that_cannot_be_turned_off_is_refused(hostile):
    root, mark = hostile
    (root / ".gitattributes").write_text("* filter=a=b\n")
    plainly(root, "config", "filter.a=b.clean", str(mark.with_name("script")))
    with pytest.raises(GitError, match="filter 'a=b' cannot be turned off"):
        git(root, "status")
    assert not mark.exists()


def test_filters_of_the_user_stay(hostile, tmp_path, monkeypatch):
    root, mark = hostile
    own = tmp_path / "gitconfig"
    own.write_text('[filter "own"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    (root / ".gitattributes").write_text("*.toml filter=own\n")
    git(root, "add", ".")
    plainly(root, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=", "commit", "-m", "own")
    mark.unlink(missing_ok=True)
    with checked_out(resolve("BASE", "HEAD", root), tmp_path / "base") as folder:
        assert "ANOTHER" in (folder / "pyproject.toml").read_text()
    assert not mark.exists()


def test_a_link_of_a_commit_is_no_way_out_of_its_copy(tmp_path):
    root, outside = tmp_path / "stranger", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    plainly(root, "init")
    (root / "sub").symlink_to(outside)
    (root / "pyproject.toml").touch()
    plainly(root, "add", ".")
    plainly(root, "commit", "-m", "a link")
    (root / "sub").unlink()
    (root / "sub").mkdir()
    (root / "sub" / "planted").write_text("")
    with checked_out(resolve("HEAD", ".", root), tmp_path / "head") as folder:
        assert (folder / "sub" / "planted").exists()
    assert not list(outside.iterdir())


def test_the_author_of_a_plugin_is_read_without_running_anything(hostile):
    root, mark = hostile
    plainly(root, "config", "user.name", "A Stranger")
    rendered = render(Names.of("orthobench-mine"), templates_of(OWN, Registry()))
    assert "A Stranger" in rendered["pyproject.toml"]
    assert not mark.exists()
