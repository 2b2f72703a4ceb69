"""A real Dask cluster: equal bits, strangers, killed workers and a killed scheduler."""

import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from clusters import cluster
from orthobench_clusters import executor as dask

from orthobench.errors import OrthobenchError
from orthobench.harness.cell import Cell, execute
from orthobench.harness.stopping import Budget, RunStatus
from orthobench.results.store import Store

dask_config = pytest.importorskip("dask.config")
pytest.importorskip("distributed")
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "many-machines.md"
pytestmark = [
    # what distributed leaves open when its peers are killed is not ours
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("swept"),
]


def cells(faults, count, nap=0.0):
    return [
        Cell(faults.Cloud(), faults.Sound(number=i, nap=nap), 0, Budget(samples=100))
        for i in range(count)
    ]


def numbers(executed):
    return [(mark.work, dict(mark.metrics)) for mark in executed.trace], executed.stop


@pytest.mark.wide
def test_cluster_gives_equal_bits_and_cells_fail_alone(faults, monkeypatch):
    solvers = [faults.Raising(), faults.Segfaulting()]
    bad = [Cell(faults.Cloud(), solver, 0, Budget(samples=100)) for solver in solvers]
    sound = cells(faults, 4)
    with cluster() as (address, _, _):
        found = {e.cell.key: e.outcome for e in dask.run([*bad, *sound], address)}
        monkeypatch.setattr(dask, "_alone", faults.no_room)
        (event,) = dask.run(cells(faults, 1), address)
    assert event.outcome.stop.status is RunStatus.ERROR
    assert "No space left" in event.outcome.stop.reason
    for cell in sound:
        assert numbers(found[cell.key]) == numbers(execute(cell))
    raising, segfaulting = (found[cell.key] for cell in bad)
    assert raising.stop.status is RunStatus.ERROR
    assert segfaulting.stop.status is RunStatus.CRASHED
    assert len(segfaulting.trace) == len(raising.trace) > 10


@pytest.fixture
def key(tmp_path, monkeypatch):
    """The current folder, with the key and the configuration that the documentation shows."""
    page = PAGE.read_text(encoding="utf-8")
    (command,) = re.findall(r"^openssl .*", page, re.MULTILINE)
    subprocess.run(shlex.split(command), cwd=tmp_path, check=True, capture_output=True)
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "tls.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "tls.yaml"


@pytest.mark.faults
def test_only_who_has_its_key_can_connect_to_a_cluster(faults, key, monkeypatch):
    planned = cells(faults, 4)
    monkeypatch.setenv("DASK_CONFIG", str(key))
    settings = dask_config.merge(dask_config.config, *dask_config.collect_yaml([str(key)]))
    with cluster("tls") as (address, _, _):
        with dask_config.set(settings):
            found = {e.cell.key: e.outcome for e in dask.run(planned, scheduler=address)}
        for cell in planned:
            assert numbers(found[cell.key]) == numbers(execute(cell))
        with pytest.raises(OrthobenchError, match=r"tls://.*needs the key of the cluster"):
            next(dask.run(planned, scheduler=address))
        (key.parent / "foreign").mkdir()
        monkeypatch.chdir(key.parent / "foreign")
        self_made = PAGE.read_text(encoding="utf-8").partition("```sh\n")[2].partition("\n")[0]
        subprocess.run(shlex.split(self_made), check=True, capture_output=True)
        with dask_config.set(settings), pytest.raises(OrthobenchError, match="no Dask scheduler"):
            next(dask.run(planned, scheduler=address))
        with pytest.raises(OrthobenchError, match="no Dask scheduler"):
            next(dask.run(planned, scheduler=address.replace("tls", "tcp")))


@pytest.mark.faults
def test_a_worker_killed_with_its_cell_costs_nothing(faults):
    planned = cells(faults, 12, nap=0.1)
    with cluster() as (address, _, (first, _)):
        found = {}
        for event in dask.run(planned, scheduler=address):
            found[event.cell.key] = event.outcome
            if len(found) == 3:
                first.send_signal(signal.SIGKILL)
    assert len(found) == len(planned)
    for cell in planned:
        assert numbers(found[cell.key]) == numbers(execute(cell))


SUITE = """
seeds = 1
[budget]
samples = 100
[[problem]]
name = "cloud"
[[solver]]
name = "sound"
nap = 0.05
number = {numbers}
"""


def ran(folder, faults, *words):
    path = os.pathsep.join([str(faults.folder), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-m", "orthobench", "run", "suite.toml", "--no-figures", "-q",
         "--store", "store.sqlite", *words],
        cwd=folder, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finished(path):
    """Return how many cells are finished in a store that another process is about to make."""
    reading = f"file:{path}?mode=ro"
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(reading, uri=True)) as store:
        return store.execute("SELECT count(*) FROM run").fetchone()[0]
    return 0


@pytest.mark.faults
def test_a_run_whose_scheduler_was_killed_goes_on_anywhere(tmp_path, faults):
    (tmp_path / "suite.toml").write_text(SUITE.format(numbers=list(range(30))))
    with cluster() as (address, head, _):
        run = ran(tmp_path, faults, "--executor", "dask", "--scheduler", address)
        while not finished(tmp_path / "store.sqlite"):
            time.sleep(0.1)
        head.kill()
        _, said = run.communicate(timeout=600)
    assert run.returncode == 2
    assert "run again to go on" in said
    again = ran(tmp_path, faults, "-w", "2")
    _, said = again.communicate(timeout=600)
    assert again.returncode == 0, said
    with Store(tmp_path / "store.sqlite") as store:
        records = store.records("suite")
    assert len(records) == 30
    assert all(record.ok for record in records)
