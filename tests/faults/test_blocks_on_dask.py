"""Blocks on real Dask workers: equal bits, lost workers and schedulers, blocks that are unfit."""

import os
import signal
import socket
import ssl
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from block_solvers import Blocks, PowerSteps, said
from clusters import cluster, of_this_process
from orthobench_clusters.clusters import make_key

import orthobench as ob
from orthobench.errors import OrthobenchError
from orthobench.harness.placement import MEMORY, MOVED, WORKER_SECONDS, WORKERS

pytest.importorskip("distributed")
pytestmark = [
    # what distributed leaves open when its peers are killed is not ours
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("swept"),
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


@pytest.mark.wide
def test_two_workers_give_equal_bits_and_listen_locally(log):
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


@pytest.mark.faults
def test_a_worker_killed_in_a_pass_costs_what_only_it_had(log):
    killed = []

    def kill(process):
        killed.append(process)
        os.kill(process, signal.SIGKILL)

    waiting = when(log, 8, kill)
    outcome = solved("dask:2", log=log, nap=0.03)
    waiting.join()
    assert np.array_equal(outcome.solution, solved("blocks").solution)
    done = [(number, process) for process, rows, number in said(log) if process != os.getpid()]
    lost = {number for number, process in done if process == killed[0]}
    kept = [number for number, process in done if process not in killed]
    first = Blocks().block(0)[0, 0]
    assert len(lost) >= 6
    # each pass once by the worker that stayed: no result of its own is computed again
    assert max(kept.count(number) for number in set(kept) - {repr(first)}) == 2
    assert len(set(kept)) == 47


@pytest.mark.faults
def test_a_run_whose_workers_are_all_killed_fails_and_says_so(log):
    def kill_all(_):
        for process in {process for process, *_ in said(log)} - {os.getpid()}:
            os.kill(process, signal.SIGKILL)

    when(log, 8, kill_all)
    with pytest.raises(OrthobenchError, match="has no workers left"):
        solved("dask:2", log=log, nap=0.05)


@pytest.mark.faults
def test_named_cluster_gives_equal_bits_until_it_is_lost(log):
    with cluster() as (address, head, _):
        on = f"dask:{address}"
        assert np.array_equal(solved(on).solution, solved("blocks").solution)
        when(log, 3, lambda _: head.kill())
        begun = time.monotonic()
        with pytest.raises(
            OrthobenchError, match=r"scheduler at tcp://.* is gone, or all of its workers"
        ):
            solved(on, log=log, nap=0.1)
        assert time.monotonic() - begun < 120


def answers(address, certificate=None):
    """Return whether something that listens says a word to who has a certificate, or none."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(certificate / "certificate.pem", certificate / "key.pem")
    try:
        plain = socket.create_connection((address.ip, address.port), timeout=120)
        with plain, context.wrap_socket(plain) as secured:
            return secured.recv(1) != b""
    except OSError:  # refused, or silent
        return False


@pytest.mark.faults
def test_workers_talk_to_nobody_without_the_key_of_their_run(log, tmp_path):
    before, _ = of_this_process()
    found = {}

    def knock(_):
        own = max(Path(tempfile.gettempdir()).glob("orthobench-dask-*"), key=os.path.getmtime)
        found["mode"] = own.stat().st_mode & 0o777
        for address in of_this_process()[0] - before:
            found.setdefault("with", set()).add(answers(address, own))
            found.setdefault("without", set()).add(answers(address))
            found.setdefault("foreign", set()).add(answers(address, tmp_path))

    make_key(tmp_path)
    knocking = when(log, 3, knock)
    solved("dask:2", log=log, nap=0.3)
    knocking.join()
    assert found == {"mode": 0o700, "with": {True}, "without": {False}, "foreign": {False}}


def test_threads_of_dask_are_no_fault_of_the_solver(tmp_path):
    results = ob.run(
        problems=["digits k=2"], solvers=["batch-pca on=dask:2"], seeds=1,
        budget=ob.Budget(samples=500), store=tmp_path / "results.sqlite", quiet=True,
    )  # fmt: skip
    (run,) = results.records
    assert "threads" not in run.stop.reason
    assert "generator" not in run.stop.reason
