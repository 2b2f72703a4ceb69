"""Executors: cells in, events out, and the same results on each of them."""

from __future__ import annotations

import math
import sys
from collections.abc import Generator, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, Self, TypeAlias

from orthobench.contract.problem import AnyProblem
from orthobench.errors import UsageError, unknown
from orthobench.harness.cell import Cell, execute
from orthobench.harness.placement import clusters
from orthobench.harness.trace import Outcome
from orthobench.tools.arrays import whole
from orthobench.tools.environment import cores

Data: TypeAlias = tuple[AnyProblem, int]
"""Problem and seed: cells with the same ones share an instance."""


class Cells(Protocol):
    """Decides which cell is executed next.

    Attributes
    ----------
    deadline : float
        Time at which all runs end, by `time.monotonic`.
    """

    deadline: float = math.inf

    def take(self, held: Data | None = None, last: bool = False) -> Cell | None:
        """Return the next cell for a worker that holds some data, or None if no cell waits.

        The `last` one is taken if another worker would compile the same kernels.
        """


class CellQueue(Cells):
    """Cells grouped by problem and seed; those of a problem are finished before the next begins.

    Parameters
    ----------
    cells : iterable of Cell
    """

    def __init__(self, cells: Iterable[Cell] = ()) -> None:
        self._problems: dict[AnyProblem, dict[int, list[Cell]]] = {}
        self.add(cells)

    @classmethod
    def of(cls, cells: Cells | Iterable[Cell]) -> Cells:
        """Return a queue of cells, or the given `Cells`."""
        return cls(cells) if isinstance(cells, Iterable) else cells

    def add(self, cells: Iterable[Cell]) -> None:
        """Add cells."""
        for cell in cells:
            self._problems.setdefault(cell.problem, {}).setdefault(cell.seed, []).append(cell)

    def take(self, held: Data | None = None, last: bool = False) -> Cell | None:
        """Return a cell on the data of a worker, else on the seed with the largest number left."""
        if held is None or held[1] not in self._problems.get(held[0], {}):
            if not self._problems:
                return None
            problem, seeds = next(iter(self._problems.items()))
            held = problem, max(seeds, key=lambda seed: len(seeds[seed]))
        problem, seed = held
        seeds = self._problems[problem]
        cell = seeds[seed].pop(-1 if last else 0)
        if not seeds[seed]:
            del seeds[seed]
        if not seeds:
            del self._problems[problem]
        return cell


@dataclass(frozen=True)
class Event:
    """The beginning of a cell on a worker, its end with the outcome, or what ends a late one."""

    cell: Cell
    worker: str
    outcome: Outcome | None = None
    late: str = ""


Events: TypeAlias = Generator[Event, None, None]


class Observer:
    """Watches a run, as a context; this one does nothing."""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *error: object) -> None:
        """End, with the error if there is one."""

    def expect(self, left: int, stored: int = 0) -> None:
        """Take the numbers of cells that are left, and that the store had."""

    def begin(self, label: str, worker: str) -> None:
        """Take note that a worker begins a cell."""

    def late(self, label: str, said: str) -> None:
        """Take note that a cell takes long."""

    def end(self, label: str, failed: bool, worker: str) -> None:
        """Take note that a cell ended."""


def run_inline(cells: Cells | Iterable[Cell]) -> Events:
    """Yield an event as each cell begins and as it ends, in this process."""
    waiting, held = CellQueue.of(cells), None
    while (cell := waiting.take(held)) is not None:
        held = cell.problem, cell.seed
        yield Event(cell, "1")
        yield Event(cell, "1", execute(cell))


EXCESS = 0.08
"""Part of a budget in seconds after which a call is ended, so that it is over before a tenth is."""

LEAST_EXCESS = 0.2
"""Minimum of that excess, in seconds, in which a run that is over can say so."""


@dataclass(frozen=True)
class Limit:
    """The seconds after which a cell is cut: those of the `whole` cell, or of warm-up and run each.

    A run with a budget in steps may take ten times its time to the last checkpoint. `clock` is the
    maximum of the run's own clock, in seconds.
    """

    seconds: float
    whole: bool = False
    clock: float = math.inf


@dataclass(frozen=True)
class Limits:
    """Limits of each cell, which need worker processes.

    Attributes
    ----------
    timeout : float, optional
        Wall-clock time of the solver in seconds, with building the data and compiling.
    memory : int, optional
        Memory of the process in bytes.
    isolate : bool
        Whether each cell gets a fresh process.
    """

    timeout: float | None = None
    memory: int | None = None
    isolate: bool = False

    def __post_init__(self) -> None:
        for name, value in (("time", self.timeout), ("memory", self.memory)):
            if value is not None and not value > 0:
                raise UsageError(f"the {name} limit must be positive, not {value}")

    def limit(self, cell: Cell, slowest: float = 0.0) -> Limit:
        """Return the limit of a cell: the timeout, or at least twice a limit that cut it before.

        The default is ten times its budget in seconds, or the seconds of the slowest finished cell.
        A call that outlasts a budget in seconds by `EXCESS` is ended, unless the cell has a limit
        of its own.
        """
        if cell.timeout is not None:
            return Limit(cell.timeout, whole=True)
        seconds = cell.budget.seconds
        clock = max((1 + EXCESS) * seconds, seconds + LEAST_EXCESS)
        if self.timeout is not None:
            return Limit(self.timeout, whole=True, clock=clock)
        usual = max(60.0, 10 * slowest) if math.isinf(seconds) else max(25.0, 10 * seconds)
        return Limit(max(usual, 2 * cell.cut), clock=clock)


NAMES = ("inline", "local", "dask")


@dataclass(frozen=True)
class Executor:
    """How cells are executed; each executor gives the same results.

    Parameters
    ----------
    name : {"inline", "local", "dask"}
    workers : int or "auto"
        Number of processes of ``"local"``; ``"auto"`` uses all physical cores.
    threads : int
        Threads of the libraries in each process.
    limits : Limits
    scheduler : str, optional
        Address of the Dask scheduler.

    Raises
    ------
    UsageError
        On a name or a setting that is not possible.
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
            if self.name == "dask":
                raise UsageError("the executor dask needs a scheduler, such as tls://HOST:8786")
            raise UsageError(f"the executor {self.name} takes no scheduler: take dask, or none")
        if self.name == "inline" and (self.at_once != 1 or self.limits != Limits()):
            raise UsageError("workers and limits need processes: take the executor local or dask")
        if self.limits.memory is not None and sys.platform != "linux" and self.name != "dask":
            raise UsageError("only Linux can limit the memory of a process: leave the limit out")

    @property
    def at_once(self) -> int:
        """Number of cells that run at once on this machine."""
        if self.workers != "auto":
            return self.workers
        return max(1, cores() // self.threads) if self.name == "local" else 1

    def run(self, cells: Cells | Iterable[Cell]) -> Events:
        """Yield an event as each cell begins and as it ends; `Cells` may get more cells."""
        if self.name == "inline":
            return run_inline(cells)
        if self.scheduler is not None:
            events: Events = clusters("dask").run(cells, self.scheduler, self.threads, self.limits)
            return events
        from orthobench.harness.executors import local

        return local.run(cells, self.at_once, self.threads, self.limits)

    def facts(self) -> dict[str, Any]:
        """Return what a session records of the executor."""
        workers = shared = self.at_once
        if self.scheduler is not None:
            workers, shared = clusters("dask").capacity(self.scheduler)
        return {
            "executor": self.name, "workers": workers, "shared": shared,
            "scheduler": self.scheduler, **asdict(self.limits),
        }  # fmt: skip
