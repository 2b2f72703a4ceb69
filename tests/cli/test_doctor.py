"""What `orthobench doctor` says of the installation."""

import os
import tomllib
from pathlib import Path

import click
import pytest

from orthobench.cli import doctor
from orthobench.registry.plugins import Registry
from orthobench.tools import array_libraries, environment

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def shown(report):
    return [" ".join(click.unstyle(line).split()) for line in doctor.lines(report)]


def test_lines_are_as_wide_as_the_terminal_and_words_are_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    report = doctor.examine()
    report["plugins"] = ["array-api-strict"] * 20
    lines = [line for text in doctor.lines(report) for line in click.unstyle(text).splitlines()]
    assert max(map(len, lines)) <= 80
    assert sum(line.count("array-api-strict") for line in lines) >= 20


def test_the_report_extra_is_named_with_its_versions():
    report = doctor.examine()
    versions = report["extras"]["report"]
    assert versions == {"jinja2": environment.version("jinja2")}
    assert f"[report] jinja2 {versions['jinja2']}" in shown(report)


def test_an_extra_that_is_missing_is_said_and_no_problem(registry, monkeypatch):
    known = environment.version
    monkeypatch.setattr(environment, "version", lambda n: None if n == "jinja2" else known(n))
    report = doctor.examine()
    said = "[report] lacks jinja2: pip install 'orthobench[report]'"
    assert said in shown(report)
    assert not report["problems"]


def test_the_extras_are_those_of_the_distribution():
    declared = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    extras = doctor.extras()
    assert extras.keys() == declared.keys() - {*doctor.DEVELOPMENT}
    for extra, names in extras.items():
        own = (text.partition(">")[0] for text in declared[extra])
        assert {name for name in own if not name.startswith("orthobench")} <= set(names)


def test_gpus_are_shown_and_why_nothing_is_computed_on_a_device(registry, monkeypatch):
    gpu = {"name": "Graphics A", "memory": "81559 MiB", "driver": "550.54.15"}
    monkeypatch.setattr(environment, "gpus", lambda: [gpu])
    monkeypatch.setattr(array_libraries, "find_spec", lambda name: None)
    said = shown(doctor.examine())
    assert "GPUs Graphics A, 81559 MiB, driver 550.54.15" in said
    (absent,) = [line for line in said if line.startswith("not on")]
    assert "cupy (cupy is not installed: pip install cupy-cuda12x)" in absent
    assert "torch:cuda (torch is not installed: pip install torch)" in absent
    monkeypatch.setattr(environment, "gpus", list)
    assert "GPUs none that nvidia-smi tells of" in shown(doctor.examine())


@pytest.fixture
def registry(monkeypatch):
    found = Registry()
    monkeypatch.setattr(doctor, "catalogue", lambda: found)
    return found


def test_a_data_cache_that_cannot_be_read_is_a_problem(registry, tmp_path, monkeypatch):
    def refused(folder):
        raise PermissionError(folder)

    # not by taking the right to read it away: root may read everything
    monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda *about: False)
    monkeypatch.setattr(Path, "iterdir", refused)
    report = doctor.examine()
    assert report["problems"] == [f"the data cache {tmp_path} is no folder that can be read"]
    assert report["data_files"] == []


def test_a_data_cache_that_is_a_file_is_a_problem(registry, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path / "file"))
    said = f"the data cache {tmp_path / 'file'} is no folder that can be read"
    assert doctor.examine()["problems"] == [said]
