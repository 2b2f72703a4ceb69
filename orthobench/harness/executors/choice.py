"""The executor of a name, with its settings checked before anything runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias

from orthobench.errors import UsageError, unknown
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Events, Limits, inline, local

NAMES = ("inline", "local", "dask")

Execute: TypeAlias = Callable[[Iterable[Cell]], Events]


def make_executor(
    name: str,
    workers: int = 1,
    threads: int = 1,
    limits: Limits | None = None,
    scheduler: str | None = None,
) -> Execute:
    """Return the executor of a name, with its settings.

    Parameters
    ----------
    name : {"inline", "local", "dask"}
    workers : int
        Processes.
    threads : int
        Threads of the libraries in each process.
    limits : Limits, optional
        The most that one cell may take.
    scheduler : str, optional
        Address of a Dask scheduler.

    Raises
    ------
    UsageError
        On an unknown name, and on settings that the executor does not have.
    """
    if name not in NAMES:
        raise unknown("executor", name, NAMES)
    if workers < 1:
        raise UsageError(f"there must be at least one worker, not {workers}")
    if scheduler is not None and name != "dask":
        raise UsageError(f"a scheduler goes with the executor dask, not {name}")
    if name == "dask":
        from orthobench.harness.executors import dask

        return partial(
            dask.run, workers=workers, threads=threads, limits=limits, scheduler=scheduler
        )
    if limits is not None and limits.memory is not None and sys.platform != "linux":
        raise UsageError("only Linux can limit the memory of a process: leave the limit out")
    if name == "local":
        return partial(local.run, workers=workers, threads=threads, limits=limits)
    if workers != 1 or (limits is not None and limits != Limits()):
        raise UsageError("workers and limits need processes: take the executor local or dask")
    return inline.run
