"""Blocks on real Dask workers: equal bits, lost workers and schedulers, blocks that are unfit."""

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from block_solvers import Blocks, PowerSteps, said
from clusters import of_this_process

import orthobench as ob
from orthobench.harness.reducing.reduction import MEMORY, MOVED, WORKER_SECONDS, WORKERS

pytest.importorskip("distributed")
pytestmark = [
    # what distributed leaves open when its peers are killed is not ours
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def solved(on, source=None, **parameters):
    instance = ob.stochastic_pca(source or Blocks(), k=2, covariance=np.eye(6))
    return ob.solve(PowerSteps(on=on, turns=2, **parameters), instance)


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "log")


def when(log, count, then):
    """Call ``then(process)`` in a thread, once a log says that a process summarized some blocks."""

    def look():
        while True:
            time.sleep(0.01)
            done = [process for process, *_ in said(log)] if Path(log).exists() else []
            busy = [process for process in done if done.count(process) >= count]
            if busy:
                then(busy[0])
                return

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    return thread


def test_two_workers_give_the_bits_of_this_process_and_listen_to_nobody_else(log):
    before, family = of_this_process()
    heard = set()
    listen = when(log, 3, lambda _: heard.update(of_this_process()[0] - before))
    outcome = solved("dask:2", log=log, nap=0.01)
    listen.join()
    assert np.array_equal(outcome.solution, solved("blocks").solution)
    assert {address.ip for address in heard} == {"127.0.0.1"}
    assert {process.pid for process in of_this_process()[1]} <= {one.pid for one in family}
    processes = {process for process, *_ in said(log)}
    assert len(processes - {os.getpid()}) == 2
    last = outcome.trace[-1].metrics
    assert last[WORKERS] == 2
    assert last[WORKER_SECONDS] >= 2 * 47 * 0.01
    assert 0 < last[MOVED] < 2 * 100 * 12 * 8
    assert 10 * 2**20 < last[MEMORY] < 2**30
