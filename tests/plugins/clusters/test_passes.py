"""Blocks and cells on a cluster whose scheduler does each task at once, in this process."""

from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from block_solvers import SAMPLES, Blocks, PowerSteps
from orthobench_clusters import executor as dask
from orthobench_clusters import passes as module
from orthobench_clusters.clusters import ClusterError
from orthobench_clusters.passes import OnDask
from orthobench_clusters.reduction import Blocks as Task
from threadpoolctl import threadpool_info

import orthobench as ob
from orthobench.contract import BlockOracle
from orthobench.harness.execution import CLOCK
from orthobench.harness.executors import Executor
from orthobench.harness.stopping import RunStatus
from orthobench.tools.environment import limited
from orthobench.tools.places import place_of

distributed = pytest.importorskip("distributed")

START = np.eye(6)[:, :2]
ORACLE = BlockOracle((6, 2), START, len(SAMPLES), np.random.SeedSequence(0))


class Future:
    def __init__(self, value=None, error=None, key=""):
        self.value, self.error, self.key = value, error, key
        self.status = "error" if error else "finished"

    def result(self, timeout=None):
        if self.error:
            raise self.error
        return self.value

    def release(self):
        self.key = ""


class Client:
    """Does what it is asked, and notes whom it was to be near, and how soon."""

    def __init__(self, workers):
        self.workers, self.tasks, self.sent, self.loop = workers, [], [], None
        self.scheduler = SimpleNamespace(addr="tls://a:1")

    def nthreads(self):
        if self.workers is None:
            raise OSError
        return dict.fromkeys(self.workers, 1)

    def wait_for_workers(self, wanted, timeout):
        if len(self.workers) < wanted:
            raise TimeoutError

    def scatter(self, value, broadcast, hash):  # noqa: A002
        assert (broadcast, hash) == (True, False)
        self.sent.append(value)
        return value

    def submit(self, function, task, *given, workers, allow_other_workers, priority, pure):
        assert (allow_other_workers, pure) == (True, False)
        self.tasks.append((function.__name__, workers[0], priority, given))
        values = [one.value if isinstance(one, Future) else one for one in given]
        try:
            return Future(function(task, *values))
        except Exception as error:
            return Future(error=error)


@pytest.fixture
def engine(monkeypatch):
    """A function that begins on the workers of a named cluster."""

    def begin(workers, blocks=None, oracle=ORACLE, on="dask:tcp://a:1"):
        client = Client(workers)

        @contextmanager
        def connected(address):
            client.address = address
            yield client
            client.address = ""

        monkeypatch.setattr(module, "connected", connected)
        return OnDask(place_of(on), blocks or Task(PowerSteps(on="blocks"), Blocks(), 3000), oracle)

    return begin


@pytest.mark.parametrize("workers", [["a"], ["b", "a"], ["c", "a", "b"]])
def test_pass_has_the_same_bits_on_any_number_of_workers(engine, workers):
    here = Task(PowerSteps(on="blocks"), Blocks(), 3000).reduce(ORACLE)
    found = engine(workers)
    part = found.reduce(ORACLE)
    assert found.workers == len(workers)
    assert np.array_equal(part.summary.total, here.summary.total)
    assert (part.summary.rows, part.summary.flops) == (here.summary.rows, here.summary.flops)
    assert part.moved == 0


def test_run_on_a_cluster_has_the_same_bits_and_its_costs(engine):
    engine(["a", "b"])  # the next one has the same cluster
    instance = ob.stochastic_pca(Blocks(), k=2)
    there, here = (
        ob.solve(PowerSteps(on=on, turns=2), instance) for on in ("dask:tcp://a:1", "blocks")
    )
    assert np.array_equal(there.solution, here.solution)
    assert there.work == here.work
    last, own = there.trace[-1].metrics, here.trace[-1].metrics
    assert (last["workers"], own["workers"]) == (2, 1)
    # of two passes the second shares a basis with both workers
    assert (last["moved_bytes"], own["moved_bytes"]) == (2 * 6 * 2 * 8, 0)


def test_reading_is_off_the_clock_by_what_each_worker_reads(engine):
    engine(["a", "b"])
    now = [0]

    class Slow(Blocks):
        timed = False

        def block(self, index):
            now[0] += 10**9
            return super().block(index)

    token = CLOCK.set(lambda: now[0])
    try:
        last = ob.solve(PowerSteps(on="dask:tcp://a:1"), ob.stochastic_pca(Slow(), k=2)).trace[-1]
    finally:
        CLOCK.reset(token)
    # 47 blocks, one after another here, half of them of each worker
    assert last.seconds == pytest.approx(47 - 47 / 2)
    assert last.metrics["reading_seconds"] == 47


def test_a_pass_has_one_blas_thread_wherever_it_is(engine):
    threads = []

    class Noting(PowerSteps):
        def merge(self, a, b):
            pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
            threads.append({pool["num_threads"] for pool in pools})
            return super().merge(a, b)

    for on in ("blocks", "dask:tcp://a:1"):
        task = Task(Noting(on=on), Blocks(SAMPLES[:200]), 200)
        found = task if on == "blocks" else engine(["a"], task)
        threads.clear()  # those of the warm-up
        with limited(2):
            found.reduce(ORACLE)
        assert len(threads) == 3
        assert all(found <= {1} for found in threads), on


def test_workers_that_do_not_begin_are_said(engine):
    with pytest.raises(ClusterError, match="1 Dask workers did not begin in time"):
        engine([])


@pytest.mark.parametrize("workers", [[], None])
def test_a_cluster_without_workers_is_lost(engine, workers):
    found = engine(["a"])
    found._client.workers = workers
    with pytest.raises(ClusterError, match="tls://a:1 is gone, or all of its workers are"):
        found.reduce(ORACLE)
    with pytest.raises(ClusterError, match="gone"):
        found._leaves(ORACLE)
    found._own = SimpleNamespace(alive=False)
    with pytest.raises(ClusterError, match="has no workers left: each of their processes died"):
        found.reduce(ORACLE)


def test_an_error_of_a_block_is_raised_as_it_is(engine):
    found = engine(["a"], Task(PowerSteps(on="blocks", wrong="raises"), Blocks(), 3000))
    with pytest.raises(RuntimeError, match=r"block 1 .*a wrong turn"):
        found._result(found._submit(0, "a", Task.part, ORACLE, 1))
    killed = distributed.KilledWorker("task", SimpleNamespace(address="tcp://b:1"), 3)
    with pytest.raises(ClusterError, match="each worker that had some of the blocks died"):
        found._result(Future(error=killed))
    lost = Future(error=distributed.CancelledError("task"))
    lost.status = "cancelled"
    with pytest.raises(ClusterError, match="gone"):
        found._result(lost)


def test_lost_scheduler_ends_the_run_and_errors_their_cell():
    client = Client(["a"])
    killed = distributed.KilledWorker("task", SimpleNamespace(address="tcp://b:1"), 3)
    stop = dask._result(Future(error=killed), client).stop
    assert (stop.status, stop.reason) == (
        RunStatus.CRASHED, "every Dask worker that had it died"
    )  # fmt: skip
    stop = dask._result(Future(error=ValueError("no")), client).stop
    assert (stop.status, stop.reason) == (RunStatus.ERROR, "the Dask worker: ValueError('no')")
    lost = Future(error=ValueError("no"))
    lost.status = "lost"
    with pytest.raises(ClusterError, match="tls://a:1 is gone; finished cells are in the store"):
        dask._result(lost, client)


def test_cluster_counts_cells_at_once_and_on_a_machine(monkeypatch):
    client = Client(["a"])
    client.nthreads = lambda: {"tcp://a:1": 2, "tcp://a:2": 1, "tcp://b:1": 2}
    monkeypatch.setattr(dask, "connected", lambda address: nullcontext(client))
    facts = Executor("dask", scheduler="tls://a:1").facts()
    assert (facts["workers"], facts["shared"]) == (5, 3)
