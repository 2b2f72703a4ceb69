"""What `orthobench doctor` says of the installation."""

import tomllib
from pathlib import Path

import click

from orthobench import doctor, environment

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def shown(report):
    return [click.unstyle(line) for line in doctor.lines(report)]


def test_the_report_extra_is_named_with_its_versions():
    report = doctor.examine()
    versions = report["extras"]["report"]
    assert versions == {"jinja2": environment.version("jinja2"),
                        "plotly": environment.version("plotly")}  # fmt: skip
    line = f"[report]    jinja2 {versions['jinja2']}, plotly {versions['plotly']}"
    assert line in shown(report)


def test_an_extra_that_is_missing_is_said_and_no_problem(monkeypatch):
    known = environment.version
    monkeypatch.setattr(environment, "version", lambda n: None if n == "plotly" else known(n))
    report = doctor.examine()
    said = "[report]    lacks plotly: pip install 'orthobench[report]'"
    assert said in shown(report)
    assert not report["problems"]


def test_the_extras_are_those_of_the_distribution():
    declared = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    for extra, names in doctor.EXTRAS.items():
        assert sorted(text.partition(">")[0] for text in declared[extra]) == sorted(names)
