"""How busy a machine is said to be."""

import os

import pytest

from orthobench.tools.machine import Load, load


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="the system has no load average")
def test_the_load_is_that_of_the_system():
    found = load()
    assert found.processors == os.cpu_count()
    assert found.average >= 0


def test_what_the_system_does_not_say_is_none(monkeypatch):
    monkeypatch.delattr(os, "getloadavg", raising=False)
    assert load() == Load(os.cpu_count(), None)


def test_a_machine_is_busy_when_more_than_one_thread_waits():
    averages = [None, 0.0, 4.0, 5.0, 5.01]
    assert [Load(4, one).busy for one in averages] == [False, False, False, False, True]
