"""Solvers in a file of their own: ``FILE.py:CLASS`` on the command line and in suites."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from own_solver import MY_OJA

from orthobench.cli.main import main
from orthobench.harness import source_digests
from orthobench.results.store import Store

OWN = "def orthonormal(M):\n    return np.linalg.qr(M)[0]\n"
SOLVER = MY_OJA.replace(OWN, "from helper_of_mine import orthonormal\n")
HELPER = f"import numpy as np\n\n\n{OWN}"
SUITE = """\
seeds = 1
budget = { samples = 60 }
problem = "digits"
solver = ["my_oja.py:MyOja rate=2", "oja"]
"""
HERE = ("--executor", "inline")
"""In this process: a worker would import everything anew."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    for name, text in {"my_oja.py": SOLVER, "helper_of_mine.py": HELPER, "s.toml": SUITE}.items():
        (tmp_path / "mine" / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path / "mine"
    for name in ("my_oja", "helper_of_mine", "taken", "broken"):
        sys.modules.pop(name, None)
    source_digests.forget()


def call(*words):
    return CliRunner().invoke(main, ["run", *words, "--no-figures", "-q", "--store", "s.sqlite"])


def keys(suite):
    with Store(Path("s.sqlite")) as store:
        return {r.solver.label: r.key for r in store.records(suite) if r.ok}


@pytest.mark.wide
def test_cells_of_a_changed_file_run_again(folder):
    assert call("mine/s.toml").exit_code == 0
    first = keys("s")
    assert set(first) == {"my-oja rate=2", "oja"}
    (folder / "my_oja.py").write_text("# nothing but a comment\n" + SOLVER)
    assert call("mine/s.toml").exit_code == 0
    assert keys("s") == first
    slower = SOLVER.replace("state.work.steps * x.T", "(1 + state.work.steps) * x.T")
    (folder / "my_oja.py").write_text(slower)
    assert call("mine/s.toml", *HERE).exit_code == 0
    second = keys("s")
    assert second["oja"] == first["oja"]
    assert second["my-oja rate=2"] != first["my-oja rate=2"]
    (folder / "helper_of_mine.py").write_text(HELPER.replace("[0]", "[0] + 0.0"))
    assert call("mine/s.toml", *HERE).exit_code == 0
    third = keys("s")
    assert third["oja"] == first["oja"]
    assert third["my-oja rate=2"] != second["my-oja rate=2"]


def test_a_file_is_named_on_the_command_line_with_parameters(folder):
    words = ("--samples", "60", "--seeds", "1")
    done = call("-p", "digits", "-s", "mine/my_oja.py:MyOja rate=0.5", *words, *HERE)
    assert done.exit_code == 0, done.output
    assert set(keys("command-line")) == {"my-oja rate=0.5"}


def test_a_suite_names_files_of_its_own_folder(folder):
    (folder / "s.toml").write_text(SUITE.replace("my_oja.py", "../mine/../other.py"))
    done = call("mine/s.toml")
    assert done.exit_code == 2
    assert "solver 1: a suite names files of its own folder" in done.output
