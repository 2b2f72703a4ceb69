"""The cells that wait to be executed; more may be added while others run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from orthobench.contract.problem import AnyProblem
from orthobench.harness.cell import Cell

Data: TypeAlias = tuple[AnyProblem, int]
"""The problem and the seed: cells with equal ones share an instance."""


class Waiting:
    """Cells that no worker has taken yet, grouped by problem and seed.

    Those of one problem come before those of the next, so that its table is finished first.

    Parameters
    ----------
    cells : iterable of Cell
    """

    def __init__(self, cells: Iterable[Cell] = ()) -> None:
        self._problems: dict[AnyProblem, dict[int, list[Cell]]] = {}
        self.add(cells)

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> Waiting:
        """Return cells that wait already as they are, and others as waiting."""
        return cells if isinstance(cells, cls) else cls(cells)

    def __iter__(self) -> Iterator[Cell]:
        for seeds in self._problems.values():
            for cells in seeds.values():
                yield from cells

    def add(self, cells: Iterable[Cell]) -> None:
        """Add cells, those of a known problem to the others of this problem."""
        for cell in cells:
            self._problems.setdefault(cell.problem, {}).setdefault(cell.seed, []).append(cell)

    def drained(self) -> Iterator[Cell]:
        """Take all cells, in the order in which they should run."""
        while (cell := self.take()) is not None:
            yield cell

    def take(self, held: Data | None = None, last: bool = False) -> Cell | None:
        """Return the next cell for a worker, or None where none waits now.

        Parameters
        ----------
        held : tuple, optional
            Problem and seed that the worker holds the instance of: a cell on these, else one on the
            seed of the first problem that has the most cells left.
        last : bool
            The last cell on the same data instead of the first, so that two workers that begin
            with the same solvers do not wait for each other to compile a kernel.
        """
        data = held if held and held[1] in self._problems.get(held[0], ()) else self._next()
        if data is None:
            return None
        problem, seed = data
        cells = self._problems[problem][seed]
        cell = cells.pop(-1 if last else 0)
        if not cells:
            del self._problems[problem][seed]
        return cell

    def _next(self) -> Data | None:
        """Return the problem and the seed to go on with."""
        for problem, seeds in self._problems.items():
            if seeds:
                return problem, max(seeds, key=lambda seed: len(seeds[seed]))
        return None
