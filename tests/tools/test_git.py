"""Git is asked without calling what a repository names as a hook or a monitor."""

import os
import subprocess

import pytest

from orthobench.compare.sides import checked_out, resolve
from orthobench.errors import UsageError
from orthobench.tools import environment
from orthobench.tools.git import GitError, git


def plainly(folder, *words):
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", "-C", folder, *who, *words], check=True, env=env, capture_output=True)  # noqa: S607


@pytest.fixture
def monitored(tmp_path, monkeypatch):
    """Return a repository with a monitor and hooks, and the mark that they leave."""
    root, mark = tmp_path / "project", tmp_path / "mark"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    script.chmod(0o755)
    root.mkdir()
    plainly(root, "init")
    (root / "pyproject.toml").write_text("[project]\nname = 'one'\n")
    plainly(root, "add", ".")
    plainly(root, "commit", "-m", "first")
    plainly(root, "config", "core.fsmonitor", str(script))
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    (root / ".git" / "hooks" / "post-checkout").symlink_to(script)
    (root / "pyproject.toml").write_text("[project]\nname = 'another'\n")
    monkeypatch.chdir(root)
    return root, mark


def test_state_and_sides_are_read_without_hooks_and_monitor(monitored, tmp_path, monkeypatch):
    root, mark = monitored
    state = environment.snapshot()["git"]
    assert (len(state["commit"]), state["dirty"]) == (40, True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))  # as for a hook of another one
    assert environment.snapshot()["git"] == state
    with pytest.raises(UsageError, match="did you mean 'main'"):
        resolve("BASE", "mian", root)
    with checked_out(resolve("BASE", "HEAD", root), tmp_path / "base") as (folder,):
        assert "one" in (folder / "pyproject.toml").read_text()
    assert not mark.exists()
    monkeypatch.delenv("GIT_DIR")
    subprocess.run(["git", "status"], cwd=root, capture_output=True, check=False)  # noqa: S607
    assert mark.exists()


def test_a_command_that_fails_says_so_with_its_name(monitored):
    root, _ = monitored
    for words, timeout, said in (
        (("diff", "--quiet"), None, "git diff: exit code 1"),
        (("rev-parse", "--verify", "none"), 60, "git rev-parse: fatal: Needed a single revision"),
        (("log",), 0.0, "git log: no answer within 0 s"),
    ):
        with pytest.raises(GitError, match=f"^{said}$"):
            git(root, *words, timeout=timeout)
