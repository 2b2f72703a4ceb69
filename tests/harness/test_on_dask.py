"""Blocks and cells on a cluster whose scheduler does each task at once, in this process."""

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from block_solvers import SAMPLES, Blocks, PowerSteps
from threadpoolctl import threadpool_info

import orthobench as ob
from orthobench.contract import BlockOracle
from orthobench.errors import UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.clusters import ClusterError
from orthobench.harness.execution import CLOCK
from orthobench.harness.executors import Executor, Limits, dask, local
from orthobench.harness.reducing import on_dask as module
from orthobench.harness.reducing.on_dask import OnDask
from orthobench.harness.reducing.reduction import Blocks as Task
from orthobench.harness.stopping import Budget, RunStatus, Termination
from orthobench.harness.trace import Outcome
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
    """A function that begins on so many workers of a cluster that is named."""

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
def test_a_pass_gives_the_bits_of_one_process_on_any_number_of_workers(engine, workers):
    here = Task(PowerSteps(on="blocks"), Blocks(), 3000).reduce(ORACLE)
    found = engine(workers)
    part = found.reduce(ORACLE)
    assert found.workers == len(workers)
    assert np.array_equal(part.summary.total, here.summary.total)
    assert (part.summary.rows, part.summary.flops) == (here.summary.rows, here.summary.flops)
    assert part.moved == 0


def test_a_run_on_a_cluster_gives_the_bits_of_one_here_and_says_what_it_needed(engine):
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


def test_each_worker_is_warmed_up_and_has_neighbouring_blocks_in_turn(engine):
    found = engine(["b", "a"])
    warm, tasks = found._client.tasks[:2], []
    assert [task[:3] for task in warm] == [("warm_up", "a", 0), ("warm_up", "b", 0)]
    found._client.tasks = tasks
    found.reduce(ORACLE)
    leaves = [task for task in tasks if task[0] == "reduced"]
    assert [worker for _, worker, *_ in leaves] == 23 * ["a", "b"] + ["a"]
    first, *_, last = sorted(leaves, key=lambda task: -task[2])
    assert (first[2], first[3][1:]) == (0, (0, 1))
    assert (last[2], last[3][1:]) == (-46, (46, 47))
    blocks = {worker: sorted(t[3][1] for t in leaves if t[1] == worker) for worker in "ab"}
    assert blocks == {"a": [*range(24)], "b": [*range(24, 47)]}
    merges = [task for task in tasks if task[0] == "_merged"]
    assert len(merges) == 46
    assert merges[0][1:3] == ("a", -1.5)
    assert all(priority <= -1.5 for _, _, priority, _ in merges)


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


@pytest.fixture
def cell(toys):
    return Cell(toys.Problem(), toys.Solver(), 0, Budget(steps=3))


class Completed:
    """Futures that are completed two at a time."""

    def __init__(self, loop):
        self.futures = []

    def update(self, futures):
        self.futures += futures

    def is_empty(self):
        return not self.futures

    def next_batch(self):
        batch, self.futures = self.futures[:2], self.futures[2:]
        return batch


def test_cells_that_end_together_come_together(cell, monkeypatch):
    client = Client(["a"])
    done = Outcome(Termination(RunStatus.BUDGET, "the budget is spent"))

    def map_(function, cells, key, threads, limits, pure):
        client.tasks += [(function, threads, limits, pure)]
        return [Future(done, key=one) for one in key]

    @contextmanager
    def connected(address):
        client.address = address
        yield client

    client.map = map_
    monkeypatch.setattr(distributed, "as_completed", Completed)
    monkeypatch.setattr(dask, "connected", connected)
    cells = [replace(cell, seed=seed) for seed in range(3)]
    run = Executor("dask", 1, 2, Limits(timeout=9.0), "tls://a:1").run
    events = [*run(cells)]
    assert client.address == "tls://a:1"
    assert [(e.cell.seed, e.worker, e.more) for e in events] == [
        (0, "dask", True), (1, "dask", False), (2, "dask", False),
    ]  # fmt: skip
    assert client.tasks == [(dask._alone, 2, Limits(timeout=9.0), False)]
    assert [*run([])] == []
    assert len([*dask.run(cells[:1], "tls://a:1")]) == 1
    assert client.tasks[1] == (dask._alone, 1, Limits(), False)
    monkeypatch.setattr(dask, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="Dask is not installed"):
        [*run(cells)]


def test_what_a_worker_of_a_cluster_raises_is_of_the_cell_and_what_is_lost_of_the_run():
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


def test_a_process_beside_a_worker_is_kept_for_cells_with_the_same_limits(cell, monkeypatch):
    closed = []
    monkeypatch.setattr(dask, "_idle", [])
    monkeypatch.setattr(dask.atexit, "register", lambda function: None)
    monkeypatch.setattr(local, "execute", lambda worker, cell: (worker, cell))
    monkeypatch.setattr(local.Worker, "close", lambda worker: closed.append(worker))
    first, ran = dask._alone(cell, 1, Limits())
    assert ran is cell
    assert dask._alone(cell, 1, Limits())[0] is first
    assert closed == []
    other, _ = dask._alone(cell, 2, Limits())
    assert (other, closed) == (first, [first])
    assert (other.threads, other.limits) == (2, Limits())
    dask._alone(cell, 2, Limits(timeout=1.0))
    assert len(closed) == 2
    assert dask._idle == [first]


def test_a_cluster_says_how_many_cells_run_at_once_and_share_a_machine(monkeypatch):
    client = Client(["a"])
    client.nthreads = lambda: {"tcp://a:1": 2, "tcp://a:2": 1, "tcp://b:1": 2}
    monkeypatch.setattr(dask, "connected", lambda address: nullcontext(client))
    facts = Executor("dask", scheduler="tls://a:1").facts()
    assert (facts["workers"], facts["shared"]) == (5, 3)
