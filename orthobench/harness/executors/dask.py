"""The Dask executor: cells on any Dask cluster, each in a process of its own beside a Dask worker.

The process keeps hangs, crashes and memory away from the Dask worker, as the local executor does.
A cell whose Dask worker dies goes to another, as often as the scheduler's ``allowed-failures``
allows: three times by default.

Who can connect to a scheduler can run code on its cluster; ``tls://`` keeps others out.
"""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager
from importlib.util import find_spec
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from orthobench.errors import UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.clusters import ClusterError, connected, silenced
from orthobench.harness.executors import Event, Events, Limits, local
from orthobench.harness.executors.cell_queue import CellQueue, Cells
from orthobench.harness.executors.local import NO_LIMITS
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Outcome

if TYPE_CHECKING:
    from distributed import Client


def run(
    cells: Cells | Iterable[Cell], scheduler: str, threads: int = 1, limits: Limits = NO_LIMITS
) -> Events:
    """Yield an event as each cell is finished; arguments as of `Executor`.

    Raises
    ------
    UsageError
        Where Dask is not installed.
    ClusterError
        Where the scheduler cannot be reached, or is lost while cells run.
    """
    with _connected(scheduler) as client, silenced("distributed.client"):
        from distributed import as_completed

        waiting, names = CellQueue.of(cells), dict[str, Cell]()
        how = {"threads": threads, "limits": limits, "pure": False}
        futures = as_completed(loop=client.loop)
        while True:
            new = {cell.key: cell for cell in iter(waiting.take, None)}
            names.update(new)
            if new:
                futures.update(client.map(_alone, list(new.values()), key=list(new), **how))
            if futures.is_empty():
                return
            ended = futures.next_batch()
            for future in ended:
                more = future is not ended[-1]
                yield Event(names[future.key], "dask", _result(future, client), more)
                future.release()


def capacity(scheduler: str) -> tuple[int, int]:
    """Return how many cells a cluster runs at once, and how many of them share a machine.

    Raises
    ------
    UsageError, ClusterError
        As `run`.
    """
    with _connected(scheduler) as client:
        threads = client.nthreads()
    hosts: Counter[str | None] = Counter()
    for address, count in threads.items():
        hosts[urlsplit(address).hostname] += count
    return hosts.total(), max(hosts.values(), default=0)


def _connected(scheduler: str) -> AbstractContextManager[Client]:
    if find_spec("distributed") is None:
        raise UsageError("Dask is not installed: pip install orthobench[dask]")
    return connected(scheduler)


def _alone(cell: Cell, threads: int, limits: Limits) -> Outcome:
    """Execute a cell in a process beside this Dask worker; the process stays for the next cell."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = local.Worker("", threads, limits, SimpleQueue())
        atexit.register(worker.close)
    if (worker.threads, worker.limits) != (threads, limits):
        worker.close()
        worker.threads, worker.limits = threads, limits
    try:
        return local.execute(worker, cell)
    finally:
        _idle.append(worker)


_idle: list[local.Worker] = []
"""The workers of this process that no cell runs on."""


def _result(future: Any, client: Client) -> Outcome:
    from distributed import CancelledError, KilledWorker

    try:
        return future.result()  # type: ignore[no-any-return]
    except KilledWorker as error:
        return Outcome(
            Termination(RunStatus.CRASHED, "every Dask worker that had it died", str(error))
        )
    except (CancelledError, Exception) as error:
        if future.status == "error":
            return Outcome(Termination(RunStatus.ERROR, f"the Dask worker: {error!r}"))
        raise ClusterError(
            f"the Dask scheduler at {client.scheduler.addr} is gone; finished cells are in the "
            "store, run again to go on"
        ) from error
