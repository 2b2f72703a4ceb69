"""`orthobench doctor`: facts about the installation, and problems."""

import os

import click
import pytest

from orthobench.cli import doctor
from orthobench.contract import hookimpl
from orthobench.registry.plugins import Plugin, Registry
from orthobench.tools import array_libraries


def shown(report):
    return [" ".join(click.unstyle(line).split()) for line in doctor.lines(report)]


def test_doctor_says_why_a_device_is_not_used(registry, monkeypatch):
    monkeypatch.setattr(array_libraries, "find_spec", lambda name: None)
    said = shown(doctor.examine())
    (absent,) = [line for line in said if line.startswith("not on")]
    assert "cupy (cupy is not installed: pip install cupy-cuda12x)" in absent
    assert "torch:cuda (torch is not installed: pip install torch)" in absent


@pytest.fixture
def registry(monkeypatch):
    found = Registry()
    monkeypatch.setattr("orthobench.registry.plugins.catalogue", lambda: found)
    return found


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_data_cache_that_cannot_be_read_is_a_problem(registry, tmp_path, monkeypatch, kind):
    cache = tmp_path / "cache"
    cache.touch() if kind == "file" else cache.mkdir()
    # not by taking the right to read it away: root may read everything
    monkeypatch.setattr(os, "access", lambda *about: False)
    monkeypatch.setenv("ORTHOBENCH_DATA", str(cache))
    report = doctor.examine()
    assert report["problems"] == [f"the data cache {cache} is no folder that can be read"]
    assert report["data_files"] == []


def test_broken_papers_are_a_problem(registry):
    registry.plugins[Plugin("mine")] = {"orthobench_claims": hookimpl(lambda: 1 / 0)}
    (problem,) = doctor.examine()["problems"]
    assert problem.startswith("'papers of mine' is broken: plugin 'mine': orthobench_claims raises")


def test_a_broken_plugin_is_a_problem(registry):
    registry.broken["mine"] = "ImportError: nonsense"
    report = doctor.examine()
    assert report["problems"] == ["'mine' is broken: ImportError: nonsense"]
    assert "problem 'mine' is broken: ImportError: nonsense" in shown(report)
