"""What processes have used, by what Linux says of them."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orthobench.tools import machine
from orthobench.tools.machine import Peak, process_peak, reset_process_peak, usage
from orthobench.tools.places import place_of

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
def test_what_a_child_used_counts_once_it_was_awaited():
    code = "import time\nwhile time.process_time() < 0.1: pass"
    subprocess.run([sys.executable, "-c", code], check=True)

    def counted():
        times = os.times()
        return time.process_time() + times.children_user + times.children_system

    least, found, most = counted(), usage(os.getpid()).cpu, counted()
    assert least - 0.03 <= found <= most + 0.03  # two ticks of the system's clock


@linux
def test_what_linux_says_of_a_process_is_read_from_its_places(monkeypatch):
    """Numbers as in proc(5), on a machine with a clock of 100 Hz."""
    told = {
        "/proc/stat": "cpu  10 20 30 40 50 60 70 800 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10\n",
        "/proc/7/schedstat": "1000 2500000000 3000",
        "/proc/7/stat": "7 (a) b) R " + " ".join(map(str, range(4, 53))),
        "/proc/7/task/7/children": "11 12 ",
        "/proc/7/task/8/children": "13 ",
        "/proc/12/task/12/children": "14",
    }
    monkeypatch.setattr(machine, "read_small", lambda path: told[path].encode())
    monkeypatch.setattr(machine, "TICK", 0.01)
    threads = {"/proc/7/task": ["7", "8"], "/proc/12/task": ["12"]}
    monkeypatch.setattr(os, "listdir", lambda path: threads.get(path, []))
    monkeypatch.setattr(time, "clock_gettime_ns", lambda clock: 4 * 10**9)
    found = usage(7)
    assert (found.queued, found.children, found.stolen) == (2.5, 4, 8.0)
    # fields 16 and 17, each of which says its own number here: what awaited children used
    assert found.cpu == pytest.approx(4 + 0.01 * (16 + 17))


@linux
def test_of_a_process_that_is_gone_nothing_is_known():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert usage(process.pid) is None


def test_where_the_system_does_not_say_nothing_is_known(monkeypatch):
    monkeypatch.setattr(sys, "platform", "other")
    assert usage(os.getpid()) is None
    assert "Linux with glibc only" in Peak.missing(place_of("numpy"))


def test_memory_is_what_linux_tells_in_kibibytes(tmp_path, monkeypatch):
    status = tmp_path / "status"
    status.write_text("Name:\tx\nVmHWM:\t     700 kB\nVmRSS:\t     300 kB\n")
    monkeypatch.setattr(machine, "STATUS", status)
    assert process_peak() == 700 * 1024
    status.write_text("Name:\tx\n")
    monkeypatch.setattr(machine, "_highest", lambda: 5)
    assert process_peak() == 5
    status.unlink()
    assert process_peak() == 5


@linux
def test_the_highest_of_a_process_is_in_bytes():
    assert 2**22 < machine._highest() < 2**40


def test_a_peak_that_cannot_be_reset_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "FORGET", tmp_path / "none" / "clear_refs")
    reset_process_peak()
    monkeypatch.setattr(machine, "FORGET", tmp_path / "clear_refs")
    reset_process_peak()
    assert (tmp_path / "clear_refs").read_text() == "5"
