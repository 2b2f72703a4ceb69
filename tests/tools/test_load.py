"""How busy a machine is said to be."""

import os

from orthobench.tools.machine import Load, load


def test_the_load_is_that_of_the_last_minute(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (1.5, 2.5, 3.5), raising=False)
    assert load() == Load(os.cpu_count(), 1.5)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert load() == Load(1, 1.5)


def test_unknown_load_is_none(monkeypatch):
    monkeypatch.delattr(os, "getloadavg", raising=False)
    assert load() == Load(os.cpu_count(), None)


def test_a_machine_is_busy_when_more_than_one_thread_waits():
    averages = [None, 0.0, 4.0, 5.0, 5.01]
    assert [Load(4, one).busy for one in averages] == [False, False, False, False, True]
