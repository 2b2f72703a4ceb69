"""The Dask executor: cells on any Dask cluster, each in a process of its own on a worker there.

The process keeps hangs, crashes and memory away from the Dask worker, as on this machine. A cell
whose Dask worker dies goes to another, a stated number of times.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from orthobench.cell import Cell, Executed
from orthobench.errors import OrthobenchError, UsageError
from orthobench.executors import Event, Events, Limits, local
from orthobench.stopping import Ending, Stop

if TYPE_CHECKING:
    from distributed import Client

DEATHS = 3
"""Dask workers that may die with a cell, before it is recorded as crashed."""


class ClusterError(OrthobenchError):
    """A cluster that cannot be reached, or is gone."""


def run(
    cells: Sequence[Cell],
    workers: int = 1,
    threads: int = 1,
    limits: Limits | None = None,
    scheduler: str | None = None,
) -> Events:
    """Yield an event as each cell is finished, in any order.

    Parameters
    ----------
    cells : sequence of Cell
    workers : int
        Dask workers of the cluster that is started where no scheduler is named.
    threads : int
        Threads of the libraries in each process.
    limits : Limits, optional
        What one cell may take.
    scheduler : str, optional
        Address of a scheduler, as ``tcp://10.0.0.1:8786``.

    Raises
    ------
    UsageError
        Where Dask is not installed.
    ClusterError
        Where the scheduler cannot be reached, or is lost while cells run.
    """
    local.refuse_scripts(cells)
    with _client(workers, scheduler) as client:
        yield from _events(client, cells, threads, limits or Limits())


def _events(client: Client, cells: Sequence[Cell], threads: int, limits: Limits) -> Events:
    from distributed import as_completed

    names = {cell.key: cell for cell in cells}
    futures = client.map(_alone, cells, threads=threads, limits=limits, key=list(names), pure=False)
    try:
        for future in as_completed(futures):
            cell = names[future.key]
            yield Event(cell, "dask", _result(future))
            future.release()
    except (OSError, TimeoutError) as error:
        raise _lost(error) from error


def _alone(cell: Cell, threads: int, limits: Limits) -> Executed:
    """Execute a cell, on a Dask worker, in a process beside it that lives on for the next."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = local.Worker("", threads, limits, SimpleQueue())
        atexit.register(worker.close)
    if (worker.threads, worker.limits) != (threads, limits):
        worker.close()
        worker.threads, worker.limits = threads, limits
    executed = local.execute(worker, cell)
    _idle.append(worker)
    return executed


_idle: list[local.Worker] = []
"""Workers of this process that have no cell."""


def _result(future: Any) -> Executed:
    from distributed import KilledWorker

    error = future.exception()
    if error is None:
        return future.result()  # type: ignore[no-any-return]
    if isinstance(error, KilledWorker):
        reason = f"{DEATHS} Dask workers died with it, one after the other"
        return Executed(Stop(Ending.CRASHED, reason, str(error)))
    return Executed(Stop(Ending.ERROR, f"the Dask worker: {error!r}"))


@contextmanager
def _client(workers: int, scheduler: str | None) -> Iterator[Client]:
    """Connect to a scheduler, or to a cluster of our own that ends with us."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise UsageError("Dask is not installed: pip install orthobench[dask]") from None
    if scheduler is None:
        with (
            _settings(),
            LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=30)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"there is no Dask scheduler at {scheduler}: {error}") from error
    with client:
        yield client


def _settings() -> Any:
    import dask

    return dask.config.set({"distributed.scheduler.allowed-failures": DEATHS - 1})


def _lost(error: Exception) -> ClusterError:
    return ClusterError(
        f"the Dask scheduler is gone ({error}); finished cells are in the store, run again to go on"
    )
