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
from orthobench.results.reported import Reported

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
"""The distributions whose arithmetic reaches results."""

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
        Digests of what the store shows of it: `orthobench.verify.comparing.digests`.
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
    with Progress(quiet) as progress:
        progress.expect(len(drawn))
        for threads, group in groupby(by_threads, key=lambda one: one.cell.threads):
            known = {id(one.cell): one for one in group}
            cells = [one.cell for one in known.values()]
            for event in local.run(cells, workers, threads, limits):
                one = known[id(event.cell)]
                if event.outcome is None:
                    progress.begin(one.reported.label, event.worker)
                    continue
                progress.end(one.reported.label, False, event.worker)
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
    theirs: Mapping[str, Any], here: Mapping[str, Any], told: Mapping[str, Any],
    snapshot: Mapping[str, Any],
) -> tuple[str, ...]:  # fmt: skip
    """Return in what the platform of a cell differs from this one; empty where it does not.

    Parameters
    ----------
    theirs, here : mapping
        The content of the cell, as it was stored and as it is here.
    told, snapshot : mapping
        The environment of its session, and the one of this process.
    """
    found = [*_parts(theirs, here), *_machines(told, snapshot)]
    return tuple(f"{name} {_short(old)} there, {_short(new)} here" for name, old, new in found)


def machine(environment: Mapping[str, Any]) -> tuple[str, str]:
    """Return the processor, and the kind of system with its C library, from an environment."""
    name = str(environment.get("platform") or "").split("-")
    system = [name[0], *name[-3:]]
    return str(environment.get("cpu") or ""), "-".join(system)


def _parts(theirs: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    if theirs.get("blas") != here.get("blas"):
        yield "BLAS", theirs.get("blas"), here.get("blas")
    yield from _entries(theirs.get("versions"), here.get("versions"))
    if theirs.get("place") != here.get("place"):
        yield "device", theirs.get("place"), here.get("place")


def _machines(
    told: Mapping[str, Any], snapshot: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    for name, old, new in zip(
        ("processor", "system"), machine(told), machine(snapshot), strict=True
    ):
        if old != new:
            yield name, old, new
    old_python, new_python = (str(one.get("python", "")) for one in (told, snapshot))
    if old_python.split(".")[:2] != new_python.split(".")[:2]:
        yield "Python", old_python, new_python
    packages = [one.get("packages") or {} for one in (told, snapshot)]
    yield from _entries(*({name: one.get(name) for name in PACKAGES} for one in packages))


def _entries(theirs: Any, here: Any) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted({*theirs, *here}):
        if theirs.get(name) != here.get(name):
            yield name, theirs.get(name), here.get(name)


def _short(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return " and ".join(map(str, value))
    if isinstance(value, Mapping):
        return ", ".join(map(str, value.values()))
    return str(value or "not told")
