"""The inline executor: one cell after another, in this process."""

from __future__ import annotations

from collections.abc import Iterable

from orthobench.harness.cell import Cell, execute
from orthobench.harness.executors import Event, Events
from orthobench.harness.executors.cell_queue import CellQueue


def run(cells: Iterable[Cell]) -> Events:
    """Yield an event as each cell begins and as it is finished, those on the same data together.

    To `CellQueue` cells more may be added after any event.
    """
    waiting, held = CellQueue.of(cells), None
    while (cell := waiting.take(held)) is not None:
        held = cell.problem, cell.seed
        yield Event(cell, "1")
        yield Event(cell, "1", execute(cell))
