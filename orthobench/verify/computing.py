"""Cells that were drawn, computed again in fresh processes, as `orthobench run` does."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby

from orthobench.harness.cell import Cell
from orthobench.harness.executors import Limits, local
from orthobench.harness.trace import Outcome
from orthobench.report.terminal.progress import Progress
from orthobench.results.reported import Reported

KERNELS = "OPENBLAS_CORETYPE"
"""The variable that tells OpenBLAS which processor to compute for."""


@dataclass(frozen=True)
class Drawn:
    """A cell that is computed again.

    Attributes
    ----------
    reported : Reported
    cell : Cell
        As it was run, and as it is `bounded` here.
    differences : tuple of str
        In what its platform differs from this one.
    code : tuple of str
        The modules whose code is another here.
    exhibits : mapping
        Digests of what the store shows of it: `orthobench.verify.pictures.digests`.
    """

    reported: Reported
    cell: Cell
    differences: tuple[str, ...]
    code: tuple[str, ...] = ()
    exhibits: Mapping[str, str] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether every bit has to be the same."""
        return not self.differences and not self.cell.solver.place.moves


def computed(
    drawn: Sequence[Drawn], workers: int, limits: Limits | None, quiet: bool
) -> Iterator[tuple[Drawn, Outcome]]:
    """Yield the outcome of each cell; parameters : see `orthobench.run`."""
    by_threads = sorted(drawn, key=lambda one: one.cell.threads)
    with Progress(len(drawn), quiet) as progress:
        for threads, group in groupby(by_threads, key=lambda one: one.cell.threads):
            known = {id(one.cell): one for one in group}
            cells = [one.cell for one in known.values()]
            for event in local.run(cells, workers, threads, limits):
                one = known[id(event.cell)]
                if event.outcome is None:
                    progress.begin(one.reported.label, event.worker)
                    continue
                progress.advance(one.reported.label, False, event.worker)
                yield one, event.outcome


def other_kernels() -> tuple[str, ...]:
    """Return processors that OpenBLAS can compute for on any machine of this kind."""
    intel = platform.machine().lower() in ("x86_64", "amd64")
    return ("Prescott", "Nehalem") if intel else ("ARMV8",)


@contextmanager
def kernels_for(processor: str) -> Iterator[None]:
    """Have processes that start meanwhile compute as for another processor, which rounds anew."""
    before = os.environ.get(KERNELS)
    os.environ[KERNELS] = processor
    try:
        yield
    finally:
        os.environ.pop(KERNELS)
        if before is not None:
            os.environ[KERNELS] = before
