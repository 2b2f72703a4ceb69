"""How busy a machine is said to be."""

import os

import pytest

from orthobench.tools import machine as module
from orthobench.tools.machine import Load, load

STAT = b"7 (a) b) S 1 " + b"0 " * 34 + b"3 0"
"""Of a process whose processor is number 3, as /proc has it; its name has a bracket."""


def files(monkeypatch, known):
    def read(path):
        try:
            return known[path]
        except KeyError:
            raise FileNotFoundError(path) from None

    monkeypatch.setattr(module, "read_small", read)


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="the system has no load average")
def test_the_load_is_that_of_the_system():
    found = load(os.getpid())
    assert found.processors == os.cpu_count()
    assert found.average >= 0
    assert found.mhz is None or found.mhz > 0


@pytest.mark.parametrize(
    ("known", "mhz"),
    [
        ({"/sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq": b"2400500\n"}, 2400.5),
        ({"/proc/cpuinfo": b"processor\t: 0\ncpu MHz\t\t: 2100.25\ncpu MHz\t\t: 9\n"}, 2100.25),
        ({"/proc/cpuinfo": b"Processor\t: ARM\n"}, None),
        ({}, None),
    ],
)
def test_the_frequency_is_of_the_processor_that_the_process_ran_on(monkeypatch, known, mhz):
    files(monkeypatch, {"/proc/7/stat": STAT, **known})
    assert load(7).mhz == mhz


def test_what_the_system_does_not_say_is_none(monkeypatch):
    files(monkeypatch, {})
    monkeypatch.delattr(os, "getloadavg", raising=False)
    assert load(7) == Load(os.cpu_count(), None, None)


def test_a_machine_is_busy_when_more_than_one_thread_waits():
    averages = [None, 0.0, 4.0, 5.0, 5.01]
    assert [Load(4, one, None).busy for one in averages] == [False, False, False, False, True]
