"""Environments are kept for the next comparison, and are then what was built."""

import os
import subprocess
import sys
import textwrap
from contextlib import ExitStack

import pytest

from orthobench.compare import cached_env as module
from orthobench.compare.cached_env import (
    acquire,
    cached_envs,
    make_room,
    own_folder,
    users_folder,
)
from orthobench.errors import UsageError


class Build:
    """A build of an environment with one module, which counts how often it is called."""

    def __init__(self):
        self.calls = 0

    def __call__(self, folder):
        self.calls += 1
        (folder / "__pycache__").mkdir(parents=True)
        (folder / "module.py").write_text("VERSION = 1")


@pytest.fixture
def build():
    return Build()


def used(folder, build):
    with acquire(folder, build):
        pass


def names(root):
    return {kept.folder.name for kept in cached_envs(root)}


def test_it_is_built_once_and_machine_code_stays_with_it(tmp_path, build):
    folder = tmp_path / "base-1"
    with acquire(folder, build) as seal:
        (folder / "__pycache__" / "kernel.nbc").write_text("compiled")
        (folder / "__pycache__" / "module.pyc").write_text("compiled")
        assert seal.changed() == []
    with acquire(folder, build) as seal:
        assert (folder / "__pycache__" / "kernel.nbc").exists()
        assert seal.changed() == []
    assert build.calls == 1


@pytest.mark.parametrize("name", ["module.py", "added.py", "digests.json"])
def test_what_was_changed_since_is_built_anew(tmp_path, build, name):
    folder = tmp_path / "base-1"
    used(folder, build)
    (folder / name).write_text("{}")
    with acquire(folder, build):
        assert sorted(path.name for path in folder.iterdir()) == [
            "__pycache__", "digests.json", "module.py",
        ]  # fmt: skip
        assert (folder / "module.py").read_text() == "VERSION = 1"
    assert build.calls == 2


def test_a_build_that_was_killed_is_neither_used_nor_left(tmp_path, build):
    program = """
    import os, sys
    from pathlib import Path
    from orthobench.compare.cached_env import acquire

    def killed(folder):
        folder.mkdir()
        (folder / "half").touch()
        os.kill(os.getpid(), 9)

    with acquire(Path(sys.argv[1]), killed):
        pass
    """
    words = [sys.executable, "-c", textwrap.dedent(program), tmp_path / "base-1"]
    assert subprocess.run(words, check=False).returncode == -9
    (part,) = (path for path in tmp_path.iterdir() if path.is_dir())
    used(tmp_path / "base-1", build)
    assert build.calls == 1
    assert not part.exists()


def test_processes_that_need_it_at_the_same_time_build_it_once(tmp_path):
    program = """
    import sys
    from pathlib import Path
    from orthobench.compare.cached_env import acquire

    def build(folder):
        folder.mkdir()
        with (folder.parent / "builds").open("a") as file:
            file.write("built ")
        sys.stdin.read()

    with acquire(Path(sys.argv[1]), build) as seal:
        print((seal.roots[0] / "digests.json").exists())
    """
    words = [sys.executable, "-c", textwrap.dedent(program), tmp_path / "base-1"]
    with ExitStack() as stack:
        both = [
            stack.enter_context(
                subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            for _ in range(2)
        ]
        for process in both:
            process.stdin.close()
        assert [process.stdout.read().strip() for process in both] == ["True", "True"]
    assert (tmp_path / "builds").read_text() == "built "


def test_those_used_least_recently_go_first_and_none_that_is_in_use(tmp_path, build):
    for number, name in enumerate("abcd"):
        used(tmp_path / name, build)
        os.utime(tmp_path / f"{name}.lock", (number, number))
    size = cached_envs(tmp_path)[0].size
    assert size >= len("VERSION = 1")
    with acquire(tmp_path / "a", build):
        os.utime(tmp_path / "a.lock", (0, 0))
        make_room(tmp_path, 2 * size)
        assert names(tmp_path) == {"a", "d"}
    os.utime(tmp_path / "a.lock", (9, 9))
    make_room(tmp_path, size)
    assert names(tmp_path) == {"a"}


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_folder_that_others_can_write_to_is_refused(tmp_path):
    folder = own_folder(tmp_path / "kept")
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o770)
    with pytest.raises(UsageError, match=r"others can write to .*kept.*--environments"):
        own_folder(folder)


def test_without_a_cache_that_can_be_written_to_nothing_is_kept(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for place, kept in (("file/environments", False), ("cache/environments", True)):
        folder = tmp_path / place
        monkeypatch.setattr(module, "folder_by_default", lambda found=folder: found)
        assert users_folder() == (folder if kept else None)
    assert own_folder(folder) == folder
