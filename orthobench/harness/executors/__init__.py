"""Executors: cells in, events out, and the same results on each of them.

An `Executor` takes cells from whoever says which one comes next, and yields an `Event` when a cell
begins and another when it is finished. Whatever a cell does, it is finished exactly once.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Generator, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, TypeAlias

from orthobench.errors import UsageError, unknown
from orthobench.harness.cell import Cell, execute
from orthobench.harness.executors.cell_queue import CellQueue, Cells
from orthobench.harness.trace import Outcome
from orthobench.tools.arrays import whole
from orthobench.tools.environment import cores


@dataclass(frozen=True)
class Event:
    """The beginning or the end of a cell, or that it takes long.

    Attributes
    ----------
    cell : Cell
    worker : str
        The worker that has it: ``"1"`` for the first.
    outcome : Outcome, optional
        The result, at the end.
    more : bool
        Whether another cell has ended already, whose event comes next and at once.
    late : str
        What to tell of a cell that takes long.
    """

    cell: Cell
    worker: str
    outcome: Outcome | None = None
    more: bool = False
    late: str = ""


Events: TypeAlias = Generator[Event, None, None]


class Observer:
    """What a run tells as it goes on; this one takes no notice.

    A run enters it as a context, and leaves it when it ends.
    """

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *error: object) -> None:
        """End, with the error where there is one."""

    def expect(self, left: int, stored: int = 0) -> None:
        """Take the number of cells that are left, and of those that the store had."""

    def begin(self, label: str, worker: str) -> None:
        """Take notice that a worker begins a cell."""

    def late(self, label: str, said: str) -> None:
        """Take notice that a cell takes long."""

    def end(self, label: str, failed: bool, worker: str) -> None:
        """Take notice that a cell has ended."""

    def table(self, results: Any) -> None:
        """Take the `Results` of a problem all of whose cells have ended, in the suite's order."""


def run_inline(cells: Cells | Iterable[Cell]) -> Events:
    """Yield an event as each cell begins and as it is finished, in this process."""
    waiting, held = CellQueue.of(cells), None
    while (cell := waiting.take(held)) is not None:
        held = cell.problem, cell.seed
        yield Event(cell, "1")
        yield Event(cell, "1", execute(cell))


def in_batches(events: Events) -> Iterator[list[Event]]:
    """Yield events in groups: those of cells that have ended when the first of them is taken.

    Those that came before an error are yielded before it is raised.
    """
    group: list[Event] = []
    try:
        for event in events:
            group.append(event)
            if not event.more:
                yield group
                group = []
    except Exception:
        if group:
            yield group
        raise


@dataclass(frozen=True)
class Limit:
    """The time after which a cell is cut.

    Attributes
    ----------
    seconds : float
        Of wall time.
    whole : bool
        Whether they begin with the cell. Otherwise they are for its warm-up, and then anew for its
        run; a run that counts down its budget may take ten times as long as so far to the next
        checkpoint.
    """

    seconds: float
    whole: bool = False


@dataclass(frozen=True)
class Limits:
    """The most that one cell may take; any limit needs worker processes.

    Attributes
    ----------
    timeout : float, optional
        Seconds of wall time, including building the data and compiling, after which the solver is
        cut; in the place of those of `limit`.
    memory : int, optional
        Bytes of memory of the process.
    isolate : bool
        Whether each cell gets a fresh process.
    """

    timeout: float | None = None
    memory: int | None = None
    isolate: bool = False

    def __post_init__(self) -> None:
        if self.timeout is not None and not self.timeout > 0:
            raise UsageError(f"the time limit must be positive, not {self.timeout}")
        if self.memory is not None and self.memory < 1:
            raise UsageError(f"the memory limit must be positive, not {self.memory}")

    def limit(self, cell: Cell, slowest: float = 0.0) -> Limit:
        """Return the limit of a cell: its own or that of all cells, if there is one.

        By default it is ten times its budget in seconds, or if it has none ten times the slowest
        finished cell, and at least twice a limit that cut it before.

        Parameters
        ----------
        cell : Cell
        slowest : float
            The seconds of the slowest finished cell.
        """
        timeout = self.timeout if cell.timeout is None else cell.timeout
        if timeout is not None:
            return Limit(timeout, whole=True)
        seconds = cell.budget.seconds
        usual = max(60.0, 10 * slowest) if math.isinf(seconds) else max(25.0, 10 * seconds)
        return Limit(max(usual, 2 * cell.cut))


NAMES = ("inline", "local", "dask")


@dataclass(frozen=True)
class Executor:
    """How cells are executed; each executor gives the same results.

    Parameters
    ----------
    name : {"inline", "local", "dask"}
    workers : int or "auto"
        Processes of ``"local"``; ``"auto"``: as many as keep all physical cores busy.
    threads : int
        Threads of the libraries in each process.
    limits : Limits
        What one cell may take.
    scheduler : str, optional
        Address of the Dask scheduler, whose cluster has workers of its own.

    Raises
    ------
    UsageError
        On an unknown name, and on settings that the executor does not have.
    """

    name: str = "local"
    workers: int | Literal["auto"] = 1
    threads: int = 1
    limits: Limits = Limits()
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise unknown("executor", self.name, NAMES)
        if self.workers != "auto":
            whole(self.workers, "workers", why=", nor 'auto'")
        if (self.scheduler is None) == (self.name == "dask"):
            raise UsageError(
                f"a scheduler such as tls://HOST:8786 goes with dask alone, not {self.name}"
            )
        if self.name == "inline" and (self.at_once != 1 or self.limits != Limits()):
            raise UsageError("workers and limits need processes: take the executor local or dask")
        if self.limits.memory is not None and sys.platform != "linux" and self.name != "dask":
            raise UsageError("only Linux can limit the memory of a process: leave the limit out")

    @property
    def at_once(self) -> int:
        """How many cells run at once on this machine."""
        if self.workers != "auto":
            return self.workers
        return max(1, cores() // self.threads) if self.name == "local" else 1

    def run(self, cells: Cells | Iterable[Cell]) -> Events:
        """Yield an event as each cell begins, and as it is finished.

        Parameters
        ----------
        cells : Cells or iterable of Cell
            To `Cells` more may be added after any event.
        """
        if self.name == "inline":
            return run_inline(cells)
        if self.scheduler is not None:
            from orthobench.harness.executors import dask

            return dask.run(cells, self.scheduler, self.threads, self.limits)
        from orthobench.harness.executors import local

        return local.run(cells, self.at_once, self.threads, self.limits)

    def facts(self) -> dict[str, Any]:
        """Return what a session records: how many runs there are at once, and share a machine."""
        workers = shared = self.at_once
        if self.scheduler is not None:
            from orthobench.harness.executors import dask

            workers, shared = dask.capacity(self.scheduler)
        return {
            "executor": self.name, "workers": workers, "shared": shared,
            "scheduler": self.scheduler, **asdict(self.limits),
        }  # fmt: skip
