"""The Dask executor: each cell is in a process of its own beside a Dask worker.

If the Dask worker dies, its cell goes to another one, as often as the scheduler's
``allowed-failures`` allows (3 by default).
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
from orthobench.harness.executors import CellQueue, Cells, Event, Events, Limits, local
from orthobench.harness.executors.local import NO_LIMITS
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Outcome
from orthobench_clusters.clusters import ClusterError, connected, silenced

if TYPE_CHECKING:
    from distributed import Client


def run(
    cells: Cells | Iterable[Cell], scheduler: str, threads: int = 1, limits: Limits = NO_LIMITS
) -> Events:
    """Yield an event as each cell ends; parameters as of `Executor`.

    Raises
    ------
    UsageError
        If Dask is not installed.
    ClusterError
        If the scheduler cannot be reached, or is lost while cells run.
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
            for future in futures.next_batch():
                yield Event(names[future.key], "dask", _result(future, client))
                future.release()


def capacity(scheduler: str) -> tuple[int, int]:
    """Return the number of cells that a cluster runs at once, and that one of its machines does."""
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


_idle: list[local.Worker] = []
"""Workers of this process without a cell."""


def _alone(cell: Cell, threads: int, limits: Limits) -> Outcome:
    """Execute a cell in a process beside this Dask worker; the next cell reuses the process."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = local.Worker("", threads, limits, SimpleQueue())
        atexit.register(worker.close)
    if (worker.threads, worker.limits) != (threads, limits):
        worker.close()
        worker.threads, worker.limits = threads, limits
    try:
        worker.begin(cell)
        while True:
            for event in local.next_events([worker], worker.replies):
                if event.outcome is not None:
                    return event.outcome
    finally:
        _idle.append(worker)


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
