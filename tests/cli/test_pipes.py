"""Pipes and devices where a command expects a file: one sentence, and no waiting."""

import os
import signal

import pytest
from click.testing import CliRunner

from orthobench.cli.main import main

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")

SUITE = """
[budget]
samples = 10
[[problem]]
name = "npy-stochastic-pca"
path = "PATH"
k = 1
[[solver]]
name = "oja"
"""
CALLS = {
    "suite": ["run", "PATH.toml"],
    "matrix": ["run", "-p", "npy-stochastic-pca path=PATH k=1", "-s", "oja"],
    "matrix in a suite": ["run", "mine.toml"],
    "table": ["run", "-p", "prostate path=PATH", "-s", "gpower"],
    "tensor": ["run", "-p", "npy-tensor path=PATH", "-s", "tensor-power"],
    "store": ["run", "quickstart", "--store", "PATH"],
    "store to show": ["show", "PATH"],
    "store to report": ["report", "PATH"],
    "store to export": ["export", "PATH"],
    "store to merge": ["merge", "all.sqlite", "PATH"],
    "file to export to": ["export", "PATH", "--out", "PATH"],
}


@pytest.fixture
def in_time():
    def late(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 100)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=["pipe", "device"])
def irregular(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if request.param == "device":
        for suffix in ("", ".toml"):
            (tmp_path / f"zero{suffix}").symlink_to("/dev/zero")
        return "zero"
    os.mkfifo("pipe")
    os.mkfifo("pipe.toml")
    return "pipe"


def test_pipes_and_devices_are_refused_at_once(irregular, in_time, tmp_path):
    (tmp_path / "mine.toml").write_text(SUITE.replace("PATH", irregular))
    before = sorted(tmp_path.iterdir())
    for what, words in CALLS.items():
        done = CliRunner().invoke(main, [word.replace("PATH", irregular) for word in words])
        assert done.exit_code == 2, (what, done.output, done.exception)
        assert irregular in done.stderr, what
        assert len(done.stderr.splitlines()) == 1, what
        assert sorted(tmp_path.iterdir()) == before, what
