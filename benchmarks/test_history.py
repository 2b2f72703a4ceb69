"""Benchmarks of asv, and scripts that people run by hand, still start: in smoke runs only."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
import smoke
from calls import TINY
from history import first_run, imports, overhead

pytestmark = pytest.mark.skipif(not smoke.ON, reason="asv measures it")

HERE = Path(__file__).parent
METHODS = ("time_", "track_", "peakmem_")


def methods(thing, prefixes=METHODS):
    return [getattr(thing, name) for name in dir(thing) if name.startswith(prefixes)]


def everything(cls):
    """Run each benchmark of a class of asv once."""
    instance = cls()
    getattr(instance, "setup", lambda: None)()
    for method in methods(instance):
        method()
    getattr(instance, "teardown", lambda: None)()


@pytest.mark.parametrize(
    "cls", [overhead.Harness, overhead.Suites, overhead.Store, overhead.Report]
)
def test_overhead(cls):
    everything(cls)


def test_the_first_run(tmp_path, monkeypatch):
    suite = tmp_path / "tiny.toml"
    suite.write_text(TINY)
    monkeypatch.setattr(first_run, "SUITE", str(suite))
    tracked = first_run.Quickstart()
    tracked.setup()
    assert tracked.track_second_run() > 0
    tracked.teardown()


def test_imports(monkeypatch):
    monkeypatch.setattr(imports, "ROUNDS", 1)
    assert all(track() > 0 for track in methods(imports))


def test_false_alarms(tmp_path):
    out = tmp_path / "alarms.jsonl"
    words = ["--comparisons", "1", "--budget", "1", "--load", "0", "--on", "numpy"]
    words += ["--solver", "batch-pca", "--out", out]  # for which nothing is compiled
    command = [sys.executable, HERE / "false_alarms.py", *words]
    subprocess.run(command, check=True, capture_output=True)
    found = json.loads(out.read_text())
    assert found["cells"]
    assert not {"result", "work"} & set(found["alarms"])


def test_planted_changes(tmp_path):
    out = tmp_path / "planted.jsonl"
    words = [sys.executable, str(HERE / "planted_changes.py"), "--smoke", "--out", str(out)]
    subprocess.run(words, check=True, capture_output=True)
    (docstring,) = map(json.loads, out.read_text().splitlines())
    assert docstring["right"]


def test_the_plugin_of_asv(monkeypatch):
    pytest.importorskip("asv", reason="asv comes with the extra bench")
    monkeypatch.syspath_prepend(HERE)
    assert importlib.import_module("offline.environment").Offline.tool_name == "offline"
