"""Files that are written whole or not at all, links that nothing is written through, and locks."""

import os
import subprocess
import sys

import pytest

from orthobench.errors import UsageError
from orthobench.tools import files
from orthobench.tools.files import (
    atomic_write,
    exclusive_lock,
    locked,
    make_folder,
    opened,
    refuse_link,
    refuse_unwritable,
    safe_join,
)

COUNTS = """
import sys
from pathlib import Path
from orthobench.tools.files import locked

lock, total = map(Path, sys.argv[1:])
for _ in range(60):
    with locked(lock):
        total.write_text(str(int(total.read_text()) + 1))
"""


@pytest.mark.wide
def test_one_process_at_a_time_has_a_lock(tmp_path):
    lock, total = tmp_path / "lock", tmp_path / "total"
    total.write_text("0")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", COUNTS, lock, total]
    processes = [subprocess.Popen(words, env=environment) for _ in range(2)]
    assert [process.wait(timeout=600) for process in processes] == [0, 0]
    assert total.read_text() == "120"


def test_without_a_lock_file_nothing_is_locked(tmp_path):
    with locked(tmp_path / "missing" / "lock"):
        assert list(tmp_path.iterdir()) == []


def is_held(path):
    """Whether another process, or another part of this one, has the lock of a file."""
    try:
        with exclusive_lock(path, BlockingIOError()):
            return False
    except BlockingIOError:
        return True


HOLDS = """
import sys, time
from pathlib import Path
from orthobench.tools.files import exclusive_lock

with exclusive_lock(Path(sys.argv[1]), ValueError()):
    print(flush=True)
    time.sleep(600)
"""


def test_second_lock_is_refused_until_the_first_ends(tmp_path, monkeypatch):
    path = tmp_path / "store"
    monkeypatch.setattr(files, "PAUSE", 0.0)
    with exclusive_lock(path, ValueError("first")):
        assert is_held(path)
        with pytest.raises(ValueError, match="second"), exclusive_lock(path, ValueError("second")):
            pass
        assert is_held(path)
    assert not is_held(path)
    assert not list(tmp_path.iterdir())
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", HOLDS, path]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        assert is_held(path)
        holder.kill()
    assert not is_held(path)
    with exclusive_lock(path, ValueError("the lock of a dead process is held")):
        assert is_held(path)
    assert not list(tmp_path.iterdir())


def test_without_a_lock_file_no_lock_is_refused(tmp_path):
    path = tmp_path / "missing" / "store"
    with exclusive_lock(path, ValueError()), exclusive_lock(path, ValueError()):
        assert not is_held(path)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_once_all_of_it_is_written(tmp_path):
    path = tmp_path / "x"
    path.write_text("before")
    with atomic_write(path) as file:
        file.write(b"after")
        file.flush()
        assert path.read_text() == "before"
        assert len(names(tmp_path)) == 2
    assert path.read_text() == "after"
    assert names(tmp_path) == ["x"]


def test_a_file_stays_as_it_was_where_writing_fails(tmp_path):
    path = tmp_path / "x"
    path.write_text("before")

    def write(error):
        with atomic_write(path) as file:
            file.write(b"after")
            raise error

    with pytest.raises(ZeroDivisionError):
        write(ZeroDivisionError)
    with pytest.raises(UsageError, match=r"cannot write .*x: No space left$"):
        write(OSError(28, "No space left"))
    assert path.read_text() == "before"
    assert names(tmp_path) == ["x"]


def test_files_that_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="folder: not a regular file"):
        refuse_unwritable(tmp_path / "folder")
    with pytest.raises(UsageError, match=r"cannot write .*: No such file"):
        refuse_unwritable(tmp_path / "none" / "x")
    refuse_unwritable(tmp_path / "x")
    (tmp_path / "y").write_text("kept")
    refuse_unwritable(tmp_path / "y")
    assert names(tmp_path) == ["folder", "y"]
    assert (tmp_path / "y").read_text() == "kept"


def test_nothing_is_written_through_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "file").write_text("kept")
    link, folder = tmp_path / "link", tmp_path / "folder"
    link.symlink_to(tmp_path / "file")
    folder.symlink_to(tmp_path / "real")
    for refused in (
        lambda: refuse_link(link), lambda: refuse_unwritable(link),
        lambda: safe_join(tmp_path, "link"), lambda: safe_join(tmp_path, "folder", "x"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match="nothing is written through links, and "):
            refused()
    assert safe_join(tmp_path, "real", "x") == tmp_path / "real" / "x"
    (tmp_path / "real" / "x").symlink_to(tmp_path / "y")
    with pytest.raises(UsageError, match="x is one"):
        safe_join(tmp_path, "real", "x")
    assert safe_join(folder) == folder


def test_only_regular_files_are_read(tmp_path):
    (tmp_path / "x").write_bytes(b"some")
    with opened(tmp_path / "x") as file:
        assert file.read() == b"some"
    with pytest.raises(OSError, match="not a regular file"):
        opened(tmp_path)
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "none")


def test_folders_are_made_with_their_parents(tmp_path):
    folder = tmp_path / "a" / "b"
    assert make_folder(folder, "figures") == make_folder(folder, "figures") == folder
    (tmp_path / "file").write_text("")
    why = r"^cannot write figures to .*x: [^\[;]*"
    with pytest.raises(UsageError, match=f"{why}$"):
        make_folder(tmp_path / "file" / "x", "figures")
    with pytest.raises(UsageError, match=f"{why}; name another$"):
        make_folder(tmp_path / "file" / "x", "figures", "name another")
