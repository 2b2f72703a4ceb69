"""kill -9 at any instant: after resuming, every cell is there once, and no number differs."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from functools import cache

import numpy as np
import pytest

from orthobench.results.store import Store

SUITE = """
seeds = 2
[budget]
samples = 100
[[problem]]
name = "cloud"
[[solver]]
name = "sound"
number = {numbers}
"""


def suite(cells):
    return SUITE.format(numbers=list(range(cells // 2)))


def started(folder, faults, *words):
    path = os.pathsep.join([str(faults.folder), *sys.path])
    # a shell that starts the tests in its background has them ignore interrupts
    run = "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    run += "runpy.run_module('orthobench', run_name='__main__')"
    return subprocess.Popen(
        [sys.executable, "-c", run, "run", "suite.toml", "--no-figures", "-q", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def rows(path):
    """All that does not depend on time, of every cell."""
    with Store(path) as store:
        return {
            record.key: (record.stop, [(mark.work, dict(mark.metrics)) for mark in record.trace])
            for record in store.records("suite")
        }


def written(store):
    """The finished cells in a store that a run may be writing."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM result").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


@pytest.fixture(scope="module")
def undisturbed(faults, tmp_path_factory):
    """Return the rows of a store of so many cells, each number of them run once."""

    @cache
    def run(cells):
        folder = tmp_path_factory.mktemp("whole")
        (folder / "suite.toml").write_text(suite(cells))
        process = started(folder, faults, "--store", "whole.sqlite", "--executor", "inline")
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        return rows(folder / "whole.sqlite")

    return run


def killed_until_whole(folder, faults, kills, longest, words):
    """Kill runs on one store at random instants, then let one end; return its exit code."""
    chance = np.random.default_rng(kills)
    for _ in range(kills):
        process = started(folder, faults, *words)
        time.sleep(chance.uniform(0, longest))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    process = started(folder, faults, *words)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said


def disturbed(tmp_path, faults, cells, kills, longest, words):
    """Return the rows of a store whose run is killed so often."""
    (tmp_path / "suite.toml").write_text(suite(cells))
    store = tmp_path / "killed.sqlite"
    killed_until_whole(tmp_path, faults, kills, longest, ["--store", str(store), *words])
    found = rows(store)
    assert len(found) == written(store) == cells
    return found


@pytest.mark.parametrize("words", [("-w", "2"), ("--executor", "inline")])
def test_a_few_kills(tmp_path, faults, undisturbed, words):
    assert disturbed(tmp_path, faults, 40, 3, 2.5, words) == undisturbed(40)


@pytest.mark.faults
@pytest.mark.parametrize(
    ("words", "longest"), [(("-w", "2"), 4), (("--executor", "dask", "-w", "2"), 12)]
)
def test_a_hundred_kills_of_a_run_of_two_hundred_cells(
    tmp_path, faults, undisturbed, words, longest
):
    assert disturbed(tmp_path, faults, 200, 100, longest, words) == undisturbed(200)


def test_an_interrupted_run_says_how_to_go_on(tmp_path, faults):
    (tmp_path / "suite.toml").write_text(suite(100) + "nap = 0.05\n")
    store = tmp_path / "stopped.sqlite"
    process = started(tmp_path, faults, "--store", str(store))
    while written(store) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run again to go on" in said.decode()
    with Store(store) as opened:
        records = opened.records("suite")
    assert len(records) == 100
    assert 2 <= sum(not record.failed for record in records) < 100
