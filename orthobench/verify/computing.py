"""Cells that were drawn, computed again in fresh processes, as `orthobench run` does.

Bits depend on the platform besides code and data; here is in what two of them differ.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from orthobench.harness.cell import Cell
from orthobench.harness.executors import Limits, local
from orthobench.harness.trace import Outcome
from orthobench.report.terminal.progress import Progress
from orthobench.results.runs import Run

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
"""The distributions whose arithmetic reaches results."""

KERNELS = "OPENBLAS_CORETYPE"
"""The variable that tells OpenBLAS which processor to compute for."""


@dataclass(frozen=True)
class Drawn:
    """A cell that is computed again.

    Attributes
    ----------
    run : Run
    cell : Cell
        As it was run, and as it is `bounded` here.
    differences : tuple of str
        In what its platform differs from this one.
    code : tuple of str
        The modules whose code is another here.
    exhibits : mapping
        Digests of what the store shows of it: `orthobench.verify.comparing.digests`.
    """

    run: Run
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
    with Progress(quiet) as progress:
        progress.expect(len(drawn))
        for threads, group in groupby(by_threads, key=lambda one: one.cell.threads):
            by_cell = {id(one.cell): one for one in group}
            cells = [one.cell for one in by_cell.values()]
            for event in local.run(cells, workers, threads, limits):
                one = by_cell[id(event.cell)]
                if event.outcome is None:
                    progress.begin(one.run.label, event.worker)
                    continue
                progress.end(one.run.label, False, event.worker)
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


def platform_differences(
    theirs: Mapping[str, Any], here: Mapping[str, Any], environment: Mapping[str, Any],
    snapshot: Mapping[str, Any],
) -> tuple[str, ...]:  # fmt: skip
    """Return in what the platform of a cell differs from this one; empty where it does not.

    Parameters
    ----------
    theirs, here : mapping
        The content of the cell, as it was stored and as it is here.
    environment, snapshot : mapping
        The environment of its session, and the one of this process.
    """
    old, new = _platform(theirs, environment), _platform(here, snapshot)
    return tuple(
        f"{name} {_short(old.get(name))} there, {_short(new.get(name))} here"
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    )


def _platform(content: Mapping[str, Any], environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return by name what a result's bits depend on beside code and data."""
    packages = environment.get("packages") or {}
    system = str(environment.get("platform") or "").split("-")
    return {
        "BLAS": content.get("blas"),
        **content.get("versions", {}),
        "device": content.get("place"),
        "processor": environment.get("cpu"),
        "system": "-".join([system[0], *system[-3:]]),
        "Python": ".".join(str(environment.get("python", "")).split(".")[:2]),
        **{name: packages.get(name) for name in PACKAGES},
    }


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(map(str, value.values()))
    return " and ".join(map(str, value)) if isinstance(value, list) else str(value or "not told")
