"""Executors: cells in, events out, and the same results on each of them.

An executor is a function ``run(cells, ...)`` that yields an `Event` when a cell begins and when it
is finished, in any order between cells. Whatever a cell does, it is finished once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from orthobench.errors import UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.trace import Outcome


@dataclass(frozen=True)
class Event:
    """A cell began, or is finished.

    Attributes
    ----------
    cell : Cell
    worker : str
        Who has it: ``"1"`` for the first worker.
    outcome : Outcome, optional
        The result of a cell that is finished.
    """

    cell: Cell
    worker: str
    outcome: Outcome | None = None


Events: TypeAlias = Iterator[Event]


@dataclass(frozen=True)
class Limits:
    """What one cell may take; all of them need a process of its own.

    Attributes
    ----------
    timeout : float, optional
        Seconds of wall time, building the data, compiling and judging included; then the process
        is killed.
    memory : int, optional
        Bytes of memory of the process.
    isolate : bool
        Whether every cell has a fresh process.
    """

    timeout: float | None = None
    memory: int | None = None
    isolate: bool = False

    def __post_init__(self) -> None:
        if self.timeout is not None and not self.timeout > 0:
            raise UsageError(f"the time limit must be positive, not {self.timeout}")
        if self.memory is not None and self.memory < 1:
            raise UsageError(f"the memory limit must be positive, not {self.memory}")
