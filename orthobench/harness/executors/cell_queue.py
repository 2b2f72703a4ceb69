"""The cells that wait to be executed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol, TypeAlias

from orthobench.contract.problem import AnyProblem
from orthobench.harness.cell import Cell

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
