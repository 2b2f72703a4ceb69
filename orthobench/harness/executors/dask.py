"""The Dask executor: cells on any Dask cluster, each in a process of its own beside a Dask worker.

The process keeps hangs, crashes and memory away from the Dask worker, as the local executor does.
A cell whose Dask worker dies goes to another, as often as the scheduler's ``allowed-failures``
allows: three times by default.

Who can connect to a scheduler can run code on its cluster; ``tls://`` keeps others out.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterable
from importlib.util import find_spec
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from orthobench.errors import UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.clusters import ClusterError, connected, silenced
from orthobench.harness.executors import Event, Events, Limits, local
from orthobench.harness.executors.cell_queue import CellQueue
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Outcome

if TYPE_CHECKING:
    from distributed import Client


def run(
    cells: Iterable[Cell], scheduler: str, threads: int = 1, limits: Limits | None = None
) -> Events:
    """Yield an event as each cell is finished, in any order.

    Parameters
    ----------
    cells : iterable of Cell
        To `CellQueue` cells more may be added after any event.
    scheduler : str
        Its address, as ``tls://10.0.0.1:8786``.
    threads : int
        Threads of the libraries in each process.
    limits : Limits, optional
        The most that one cell may take.

    Raises
    ------
    UsageError
        Where Dask is not installed.
    ClusterError
        Where the scheduler cannot be reached, or is lost while cells run.
    """
    if find_spec("distributed") is None:
        raise UsageError("Dask is not installed: pip install orthobench[dask]")
    waiting = CellQueue.of(cells)
    with connected(scheduler) as client:
        yield from _events(client, waiting, threads, limits or Limits())


def _events(client: Client, waiting: CellQueue, threads: int, limits: Limits) -> Events:
    from distributed import as_completed

    names: dict[str, Cell] = {}
    how = {"threads": threads, "limits": limits, "pure": False}
    futures = as_completed(loop=client.loop)
    with silenced("distributed.client"):
        while True:
            new = {cell.key: cell for cell in waiting.drained()}
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
