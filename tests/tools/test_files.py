"""Locks that one process has at a time."""

import os
import subprocess
import sys

from orthobench.tools.files import locked

COUNTS = """
import sys
from pathlib import Path
from orthobench.tools.files import locked

lock, total = map(Path, sys.argv[1:])
for _ in range(300):
    with locked(lock):
        total.write_text(str(int(total.read_text()) + 1))
"""


def test_one_process_at_a_time_has_a_lock(tmp_path):
    lock, total = tmp_path / "lock", tmp_path / "total"
    total.write_text("0")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", COUNTS, lock, total]
    processes = [subprocess.Popen(words, env=environment) for _ in range(2)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert total.read_text() == "600"


def test_where_there_can_be_no_lock_nobody_waits(tmp_path):
    with locked(tmp_path / "missing" / "lock"):
        assert list(tmp_path.iterdir()) == []
