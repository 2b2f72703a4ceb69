"""The resources that processes use."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orthobench.tools.machine import usage

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


@linux
def test_a_process_uses_what_it_computes_and_starts():
    before = usage(os.getpid())
    begin = time.process_time()
    while time.process_time() - begin < 0.05:
        pass
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        during = usage(os.getpid())
        process.communicate(b"\n")
    after = usage(os.getpid())
    assert 0.05 <= during.cpu - before.cpu <= time.process_time() - begin + 0.1
    assert after.children == before.children
    if Path(f"/proc/self/task/{os.getpid()}/children").exists():
        assert during.children == before.children + 1
    assert before.wall < during.wall < after.wall
    assert before.queued <= during.queued
    assert before.stolen <= during.stolen


@linux
def test_usage_of_a_child_counts_after_its_end():
    code = "import time\nwhile time.process_time() < 0.1: pass"
    subprocess.run([sys.executable, "-c", code], check=True)

    def counted():
        times = os.times()
        return time.process_time() + times.children_user + times.children_system

    least, found, most = counted(), usage(os.getpid()).cpu, counted()
    assert least - 0.03 <= found <= most + 0.03  # two ticks of the system's clock


@linux
def test_usage_of_a_dead_process_is_none():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert usage(process.pid) is None
