"""Locks that one process has at a time."""

import os
import subprocess
import sys

import pytest

from orthobench.tools import files
from orthobench.tools.files import exclusive_lock, locked

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


def test_where_there_can_be_no_lock_nobody_waits(tmp_path):
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


def test_who_comes_second_is_refused_until_the_first_ends_or_dies(tmp_path, monkeypatch):
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


def test_where_no_lock_can_be_made_nobody_is_refused(tmp_path):
    path = tmp_path / "missing" / "store"
    with exclusive_lock(path, ValueError()), exclusive_lock(path, ValueError()):
        assert not is_held(path)
