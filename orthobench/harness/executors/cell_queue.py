"""The cells that wait to be executed; more may be added while others run."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Protocol, TypeAlias

from orthobench.contract.problem import AnyProblem
from orthobench.harness.cell import Cell
from orthobench.harness.source_digests import imports, reached

Data: TypeAlias = tuple[AnyProblem, int]
"""The problem and the seed: cells with equal ones share an instance."""

COMPILER = "orthobench.tools.compiled"
"""What modules of kernels import."""


class Cells(Protocol):
    """Says which cell is executed next.

    Attributes
    ----------
    deadline : float
        When to end whatever runs, by `time.monotonic`.
    """

    deadline: float = math.inf

    def take(
        self, held: Data | None = None, last: bool = False, beside: Collection[Cell] = ()
    ) -> Cell | None:
        """Return the next cell for a worker, or None where none waits now.

        Parameters
        ----------
        held : tuple, optional
            Problem and seed that the worker holds the instance of.
        last : bool
            Whether to prefer the last of several cells, so that two workers that begin with the
            same solvers do not wait for each other to compile a kernel.
        beside : collection of Cell
            What other workers run.
        """


class CellQueue(Cells):
    """Cells that no worker has taken yet, grouped by problem and seed.

    Those of one problem come before those of the next, so that its table is finished first.

    Parameters
    ----------
    cells : iterable of Cell
    """

    def __init__(self, cells: Iterable[Cell] = ()) -> None:
        self._problems: dict[AnyProblem, dict[int, list[Cell]]] = {}
        self._compiled = frozenset[str]()
        self.add(cells)

    @classmethod
    def of(cls, cells: Cells | Iterable[Cell]) -> Cells:
        """Return cells in the order in which they run, which is that of a queue by default."""
        return cls(cells) if isinstance(cells, Iterable) else cells

    def add(self, cells: Iterable[Cell]) -> None:
        """Add cells, those of a known problem to the others of this problem."""
        for cell in cells:
            self._problems.setdefault(cell.problem, {}).setdefault(cell.seed, []).append(cell)

    def finish(self, cell: Cell) -> None:
        """Take notice that a cell is finished: its kernels are compiled."""
        self._compiled |= kernels_of(cell)

    def take(
        self, held: Data | None = None, last: bool = False, beside: Collection[Cell] = ()
    ) -> Cell | None:
        """Return a cell on the data that a worker holds, else on the seed with the most cells left.

        Cells whose kernels other workers may be compiling come last: they would only wait.
        """
        compiling = frozenset[str]().union(*map(kernels_of, beside)) - self._compiled

        def shared(cell: Cell) -> int:
            return len(kernels_of(cell) & compiling)

        least = len(compiling)
        for cell in self._waiting() if compiling else ():
            least = min(least, shared(cell))
            if not least:  # of a hundred thousand cells few are looked at
                break
        data = self._next(held, lambda cell: shared(cell) == least)
        if data is None:
            return None
        problem, seed = data
        cells = self._problems[problem][seed]
        order = reversed(range(len(cells))) if last else range(len(cells))
        cell = cells.pop(min(order, key=lambda i: shared(cells[i])))
        if not cells:
            del self._problems[problem][seed]
        return cell

    def _waiting(self) -> Iterator[Cell]:
        for seeds in self._problems.values():
            for cells in seeds.values():
                yield from cells

    def _next(self, held: Data | None, good: Callable[[Cell], bool]) -> Data | None:
        """Return the problem and the seed to go on with, where some cell is good."""
        if held and any(map(good, self._problems.get(held[0], {}).get(held[1], ()))):
            return held
        for problem, seeds in self._problems.items():
            if left := [seed for seed, cells in seeds.items() if any(map(good, cells))]:
                return problem, max(left, key=lambda seed: len(seeds[seed]))
        return None


def kernels_of(cell: Cell) -> frozenset[str]:
    """Return the modules of kernels that the solver of a cell may call."""
    return _kernels(type(cell.solver.single).__module__)


@cache
def _kernels(home: str) -> frozenset[str]:
    return frozenset(module for module in reached(home) if COMPILER in imports(module))
