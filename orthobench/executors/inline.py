"""The inline executor: one cell after the other, in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orthobench.cell import Cell, Executed, execute


def run(cells: Iterable[Cell]) -> Iterator[tuple[Cell, Executed]]:
    """Yield each cell with its result, in order, as soon as it is finished."""
    for cell in cells:
        yield cell, execute(cell)
