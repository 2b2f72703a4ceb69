"""kill -9 at any instant: after resuming, every cell is there once, and no number differs."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest

from orthobench.harness.cell import Cell, execute
from orthobench.harness.stopping import Budget
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
            (record.solver.parameters["number"], record.seed): numbers(record)
            for record in store.records("suite")
        }


def numbers(run):
    return run.stop, [(mark.work, dict(mark.metrics)) for mark in run.trace]


def written(store):
    """The finished cells in a store that a run may be writing."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM run").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def undisturbed(faults, cells, nap=0.0):
    """Return the rows of cells that this process executes."""
    solvers = [faults.Sound(number=i, nap=nap) for i in range(cells // 2)]
    planned = [
        Cell(faults.Cloud(), s, seed, Budget(samples=100)) for s in solvers for seed in (0, 1)
    ]
    return {(cell.solver.number, cell.seed): numbers(execute(cell)) for cell in planned}


def killed(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def ended(process):
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said


@pytest.mark.slow
def test_runs_that_are_killed_as_they_write(tmp_path, faults):
    (tmp_path / "suite.toml").write_text(suite(40) + "nap = 0.002\n")
    store = tmp_path / "killed.sqlite"
    words = ("--store", str(store), "--executor")
    for cells, executor in ((10, "local"), (25, "inline")):
        process = started(tmp_path, faults, *words, executor)
        while written(store) < cells:
            assert process.poll() is None
            time.sleep(0.01)
        killed(process)
    ended(started(tmp_path, faults, *words, "inline"))
    assert written(store) == 40
    assert rows(store) == undisturbed(faults, 40, nap=0.002)


@pytest.mark.faults
def test_a_hundred_kills_at_random_instants(tmp_path, faults):
    (tmp_path / "suite.toml").write_text(suite(200))
    store = tmp_path / "killed.sqlite"
    chance = np.random.default_rng(100)
    for _ in range(100):
        process = started(tmp_path, faults, "--store", str(store), "-w", "2")
        time.sleep(chance.uniform(0, 4))
        killed(process)
    ended(started(tmp_path, faults, "--store", str(store), "-w", "2"))
    assert written(store) == 200
    assert rows(store) == undisturbed(faults, 200)


@pytest.mark.wide
def test_an_interrupted_run_says_how_to_go_on(tmp_path, faults):
    (tmp_path / "suite.toml").write_text(suite(100) + "nap = 0.05\n")
    store = tmp_path / "stopped.sqlite"
    process = started(tmp_path, faults, "--store", str(store), "-w", "1")
    while written(store) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "run again to go on" in said.decode()
    with Store(store) as opened:
        records = opened.records("suite")
    assert len(records) == 100
    assert 2 <= sum(record.ok for record in records) < 100
