"""What `orthobench doctor` says of the installation."""

import os
import tomllib
from pathlib import Path

import click
import pytest

from orthobench.cli import doctor, import_time
from orthobench.cli.import_time import ImportTime
from orthobench.errors import UsageError
from orthobench.registry.plugins import Plugin, Registry
from orthobench.tools import array_libraries, distributions, environment

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def shown(report):
    return [click.unstyle(line) for line in doctor.lines(report)]


def test_the_report_extra_is_named_with_its_versions():
    report = doctor.examine()
    versions = report["extras"]["report"]
    assert versions == {"jinja2": distributions.version("jinja2")}
    assert f"[report]    jinja2 {versions['jinja2']}" in shown(report)


def test_an_extra_that_is_missing_is_said_and_no_problem(registry, monkeypatch):
    known = distributions.version
    monkeypatch.setattr(distributions, "version", lambda n: None if n == "jinja2" else known(n))
    report = doctor.examine()
    said = "[report]    lacks jinja2: pip install 'orthobench[report]'"
    assert said in shown(report)
    assert not report["problems"]


def test_the_extras_are_those_of_the_distribution():
    declared = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    for extra, names in doctor.EXTRAS.items():
        assert sorted(text.partition(">")[0] for text in declared[extra]) == sorted(names)


def test_gpus_are_shown_and_why_nothing_is_computed_on_a_device(registry, monkeypatch):
    gpu = {"name": "Graphics A", "memory": "81559 MiB", "driver": "550.54.15"}
    monkeypatch.setattr(environment, "gpus", lambda: [gpu])
    monkeypatch.setattr(array_libraries, "find_spec", lambda name: None)
    said = shown(doctor.examine())
    assert "GPUs        Graphics A, 81559 MiB, driver 550.54.15" in said
    (absent,) = [line for line in said if line.startswith("not on")]
    assert "cupy (cupy is not installed: pip install cupy-cuda12x)" in absent
    assert "torch:cuda (torch is not installed: pip install torch)" in absent
    monkeypatch.setattr(environment, "gpus", list)
    assert "GPUs        none that nvidia-smi tells of" in shown(doctor.examine())


@pytest.fixture
def registry(monkeypatch):
    found = Registry()
    monkeypatch.setattr(doctor, "catalogue", lambda: found)
    return found


HEAVY = Plugin("heavy", "third-party", "2.0", "heavy_package.hooks:plugin")


@pytest.mark.parametrize(
    ("shares", "hint"),
    [
        ({"torch": 0.9, "heavy_package": 0.1}, "0.9 s for torch: import it inside the functions"),
        ({"heavy_package": 0.9, "torch": 0.1}, "do that work inside the functions"),
        ({}, "do that work inside the functions"),
    ],
)
def test_a_slow_import_is_named_with_what_is_slow_and_no_problem(
    registry, monkeypatch, shares, hint
):
    measured = []

    def measure(module):
        measured.append(module)
        return ImportTime(1.0, shares)

    monkeypatch.setattr(import_time, "measure", measure)
    registry.seconds = {HEAVY: 3.0, Plugin("light", module="light"): 0.1}
    report = doctor.examine()
    assert measured == ["heavy_package.hooks"]
    (line,) = [line for line in shown(report) if line.startswith("slow")]
    assert "plugin 'heavy' of third-party 2.0 takes 1.0 s to import" in line
    assert hint in line
    assert not report["problems"]


def test_what_was_slow_only_the_first_time_is_not_named(registry, monkeypatch):
    monkeypatch.setattr(import_time, "measure", lambda module: ImportTime(0.1))
    registry.seconds = {HEAVY: 3.0}
    assert doctor.examine()["slow"] == []


def test_an_import_is_measured_by_what_python_prints():
    text = """
import time: self [us] | cumulative | imported package
import time:       100 |        100 |     torch._C
import time:    400000 |     400100 |   torch
import time:     20000 |     420100 | heavy_package
"""
    measured = import_time.parse(text)
    assert measured.seconds == pytest.approx(0.4201)
    assert measured.shares == pytest.approx({"torch": 0.4001, "heavy_package": 0.02})
    assert list(measured.shares) == ["torch", "heavy_package"]


def test_an_import_is_measured_without_what_orthobench_imports(tmp_path, monkeypatch):
    (tmp_path / "pausing.py").write_text(
        "import numpy, colorsys\nfrom time import sleep\nsleep(0.2)"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    measured = import_time.measure("pausing")
    assert measured.seconds >= 0.2
    assert set(measured.shares) == {"pausing", "colorsys"}


def test_a_data_cache_that_cannot_be_read_is_a_problem(registry, tmp_path, monkeypatch):
    def refused(folder):
        raise PermissionError(folder)

    # not by taking the right to read it away: root may read everything
    monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda *about: False)
    monkeypatch.setattr(Path, "iterdir", refused)
    report = doctor.examine()
    assert report["problems"] == [f"the data cache {tmp_path} cannot be read"]
    assert report["data_files"] == []


def test_a_data_cache_that_is_a_file_is_a_problem(registry, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path / "file"))
    assert doctor.examine()["problems"] == [f"the data cache {tmp_path / 'file'} is not a folder"]


def test_the_environments_of_comparisons_are_said_with_their_size(registry, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "cache_folder", lambda: tmp_path)
    for name in ("base-1", "head-2", "head-3"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "module.py").write_bytes(bytes(3_000_000))
    for name in ("base-1", "head-2"):  # the other one was never completed
        (tmp_path / name / "seal.json").touch()
    said = f"comparisons {tmp_path} (2, 6 MB of at most 2000 MB; remove the folder to clear it)"
    assert said in shown(doctor.examine())


def test_plugins_that_are_left_out_are_said(registry):
    registry.left_out = [HEAVY]
    report = doctor.examine()
    assert "left out    heavy (ORTHOBENCH_PLUGINS)" in shown(report)
    assert not report["problems"]


def test_a_choice_that_nobody_has_is_a_problem(monkeypatch):
    def refused():
        raise UsageError("ORTHOBENCH_PLUGINS: unknown plugin 'tucke'; did you mean 'tucker'?")

    monkeypatch.setattr(doctor, "catalogue", refused)
    (problem,) = doctor.examine()["problems"]
    assert "'tucke'" in problem


def test_nothing_of_the_current_folder_is_imported_to_time_an_import(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("sys.py", "pluggy.py", "json.py"):
        (tmp_path / name).write_text("open('mark', 'w')")
    seconds = import_time.measure("wave").seconds
    assert not (tmp_path / "mark").exists()
    assert seconds > 0
