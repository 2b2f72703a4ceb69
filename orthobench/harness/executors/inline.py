"""The inline executor: one cell after another, in this process."""

from __future__ import annotations

from collections.abc import Iterable

from orthobench.harness.cell import Cell, execute
from orthobench.harness.executors import Event, Events


def run(cells: Iterable[Cell]) -> Events:
    """Yield an event as each cell begins and as it is finished, in order."""
    for cell in cells:
        yield Event(cell, "1")
        yield Event(cell, "1", execute(cell))
