"""A real Dask cluster: equal bits, workers that are killed, a scheduler that is killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from orthobench.errors import OrthobenchError
from orthobench.harness.cell import Cell, execute
from orthobench.harness.executors import dask
from orthobench.harness.stopping import Budget, Ending
from orthobench.results.store import Store

pytest.importorskip("distributed")
pytestmark = [
    # what distributed leaves open when its peers are killed is not ours
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def cells(faults, count, nap=0.0):
    return [
        Cell(faults.Cloud(), faults.Sound(number=i, nap=nap), 0, Budget(samples=100))
        for i in range(count)
    ]


def numbers(executed):
    return [(mark.work, dict(mark.metrics)) for mark in executed.trace], executed.stop


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def started(module, *words):
    path = os.pathsep.join(sys.path)
    process = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{module}", *words],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def cluster():
    """A scheduler and two workers, as an administrator would start them; no nannies."""
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    worker = ("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    scheduler = ("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    with started(*scheduler) as head, started(*worker) as first, started(*worker) as second:
        yield address, head, (first, second)


def test_a_cluster_of_its_own_gives_the_bits_of_this_process_and_cells_fail_alone(faults):
    solvers = [faults.Raising(), faults.Segfaulting()]
    bad = [Cell(faults.Cloud(), solver, 0, Budget(samples=100)) for solver in solvers]
    sound = cells(faults, 4)
    found = {e.cell.key: e.outcome for e in dask.run([*bad, *sound], 2)}
    for cell in sound:
        assert numbers(found[cell.key]) == numbers(execute(cell))
    raising, segfaulting = (found[cell.key] for cell in bad)
    assert raising.stop.status is Ending.ERROR
    assert segfaulting.stop.status is Ending.CRASHED
    assert len(segfaulting.trace) == len(raising.trace) > 10


def test_what_a_dask_worker_raises_fails_the_cell(faults, monkeypatch):
    monkeypatch.setattr(dask, "_alone", faults.no_room)
    (event,) = dask.run(cells(faults, 1), 1)
    assert event.outcome.stop.status is Ending.ERROR
    assert "No space left" in event.outcome.stop.reason


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


@pytest.mark.faults
def test_a_scheduler_that_is_killed_is_said_and_what_is_finished_stays(faults):
    with cluster() as (address, head, _):
        events, begun = dask.run(cells(faults, 12, nap=0.1), scheduler=address), time.monotonic()
        first = next(events)
        head.kill()
        with pytest.raises(OrthobenchError, match=r"scheduler at .* is gone"):
            list(events)
    assert first.outcome.stop.status is Ending.BUDGET
    assert time.monotonic() - begun < 120


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


@pytest.mark.faults
def test_a_run_whose_scheduler_was_killed_goes_on_anywhere(tmp_path, faults):
    (tmp_path / "suite.toml").write_text(SUITE.format(numbers=list(range(30))))
    with cluster() as (address, head, _):
        run = ran(tmp_path, faults, "--executor", "dask", "--scheduler", address)
        while not (tmp_path / "store.sqlite").exists():
            time.sleep(0.1)
        time.sleep(3)
        head.kill()
        _, said = run.communicate(timeout=120)
    assert run.returncode == 2
    assert "run again to go on" in said
    again = ran(tmp_path, faults, "-w", "2")
    _, said = again.communicate(timeout=120)
    assert again.returncode == 0, said
    with Store(tmp_path / "store.sqlite") as store:
        records = store.records("suite")
    assert len(records) == 30
    assert not any(record.failed for record in records)


@pytest.mark.faults
def test_no_scheduler_is_said(faults):
    with pytest.raises(OrthobenchError, match="there is no Dask scheduler at"):
        next(dask.run(cells(faults, 1), scheduler=f"tcp://127.0.0.1:{free_port()}"))
