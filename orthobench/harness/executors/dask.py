"""The Dask executor: cells on any Dask cluster, each in a process of its own beside a Dask worker.

The process keeps hangs, crashes and memory away from the Dask worker, as the local executor does.
A cell whose Dask worker dies goes to another, as often as the scheduler's ``allowed-failures``
allows: three times by default.
"""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from orthobench.errors import OrthobenchError, UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Event, Events, Limits, local
from orthobench.harness.stopping import Ending, Stop
from orthobench.harness.trace import Outcome

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 10
"""Seconds that a scheduler has to answer."""

SAFE_PATH = "PYTHONSAFEPATH"
"""The environment variable that keeps the current folder off the path, like ``python -P``."""


class ClusterError(OrthobenchError):
    """A cluster that cannot be reached, or was lost."""


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
        Dask workers of the cluster that is started if no scheduler is named.
    threads : int
        Threads of the libraries in each process.
    limits : Limits, optional
        The most that one cell may take.
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
    with _silenced("distributed.client"):
        for future in as_completed(futures):
            yield Event(names[future.key], "dask", _result(future, client))
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
    outcome = local.execute(worker, cell)
    _idle.append(worker)
    return outcome


_idle: list[local.Worker] = []
"""The idle workers of this process."""


def _result(future: Any, client: Client) -> Outcome:
    from distributed import CancelledError, KilledWorker

    try:
        return future.result()  # type: ignore[no-any-return]
    except KilledWorker as error:
        return Outcome(Stop(Ending.CRASHED, "every Dask worker that had it died", str(error)))
    except (CancelledError, Exception) as error:
        if future.status == "error":
            return Outcome(Stop(Ending.ERROR, f"the Dask worker: {error!r}"))
        raise ClusterError(
            f"the Dask scheduler at {client.scheduler.addr} is gone; finished cells are in the "
            "store, run again to go on"
        ) from error


@contextmanager
def _client(workers: int, scheduler: str | None) -> Iterator[Client]:
    """Connect to a scheduler, or to a cluster that is started here and ends with the run."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise UsageError("Dask is not installed: pip install orthobench[dask]") from None
    if scheduler is None:
        alone = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
        with _safe_path(), LocalCluster(**alone) as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"there is no Dask scheduler at {scheduler}: {error}") from error
    with client:
        yield client


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let processes that are started meanwhile import nothing from the current folder."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


@contextmanager
def _silenced(name: str) -> Iterator[None]:
    """Keep a logger quiet whose messages also come as errors."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
