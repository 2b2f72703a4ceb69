"""The verification of a store: a share of its cells is drawn, computed again, and compared."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from orthobench.errors import UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Limits, local
from orthobench.harness.trace import Outcome
from orthobench.registry.plugins import Registry
from orthobench.report.terminal.progress import Progress
from orthobench.results.reported import Reported
from orthobench.results.rows import metrics_of
from orthobench.results.store import Store
from orthobench.results.tiers import Tiers
from orthobench.tools import environment
from orthobench.verify.comparing import (
    OF_MACHINE,
    Mismatch,
    bounded,
    common,
    depends_on_clock,
    mismatches,
)
from orthobench.verify.platforms import differences, machine
from orthobench.verify.rebuilding import NotHereError, Rebuilder

NO_DATA = "orthobench.errors.DataError"
"""How the traceback of a run ends whose data are not here."""


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
    """

    reported: Reported
    cell: Cell
    differences: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether every bit has to be the same."""
        return not self.differences and self.cell.solver.place.is_default


@dataclass
class Verification:
    """What came out of the verification of a store.

    Attributes
    ----------
    cells, checkable : int
        The finished cells of the store, and those of them that can be computed here.
    share : float
    seed : int
    drawn : int
        How many of the checkable ones were computed again.
    recomputed : dict
        The checksums of the results that came out again, by the keys of their cells.
    exact : int
        How many of these were compared bit for bit.
    platforms : dict
        In what platforms differ, with the number of drawn cells that it concerns.
    unchecked : dict
        Why cells were not checked, with the cells.
    mismatches : list of Mismatch
    measured_here : dict
        Checksums, by key, of all results of the store that this kind of machine measured.
    """

    cells: int
    share: float
    seed: int
    checkable: int = 0
    drawn: int = 0
    recomputed: dict[str, str] = field(default_factory=dict)
    exact: int = 0
    platforms: dict[str, int] = field(default_factory=dict)
    unchecked: dict[str, list[str]] = field(default_factory=dict)
    mismatches: list[Mismatch] = field(default_factory=list)
    measured_here: dict[str, str] = field(default_factory=dict)

    def tiers(self, reference: bool) -> Tiers:
        """Return what is known of the results now.

        A result that did not come out again is withdrawn.

        Parameters
        ----------
        reference : bool
            Whether this machine is the reference, on which times are measured that count.

        Raises
        ------
        UsageError
            Where it is to be, and measured nothing in this store.
        """
        if reference and not self.measured_here:
            raise UsageError("--reference: no cell of the store was measured on such a machine")
        false: dict[str, list[str]] = {}
        for one in self.mismatches:
            false.setdefault(one.key, []).append(
                f"{one.metric} {one.stored} was reported, {one.recomputed} came out"
            )
        reasons = {key: f"computed again: {'; '.join(told)}" for key, told in false.items()}
        return Tiers(self.recomputed, self.measured_here if reference else {}, reasons)

    def leave_out(self, reported: Reported, reason: str) -> None:
        """Count a cell as not checked."""
        self.unchecked.setdefault(reason, []).append(reported.label)


def verify(
    store: Path,
    registry: Registry,
    *,
    share: float = 0.1,
    seed: int = 0,
    folders: Sequence[Path] = (),
    workers: int = 1,
    limits: Limits | None = None,
    quiet: bool = False,
) -> Verification:
    """Compute a random share of the cells of a store again, and compare.

    Parameters
    ----------
    store : Path
        It is only read.
    registry : Registry
        What is installed; nothing else of what the store names is run.
    share : float
        Of the cells that can be computed here, rounded up.
    seed : int
        Decides which: `order` by it.
    folders : sequence of Path
        Where files may be read that the store names.
    workers, limits, quiet
        As for `orthobench.run`.

    Raises
    ------
    StoreError
        Where the store is damaged, or is not what was written.
    """
    with Store(store) as opened:
        reported = opened.reported()
    found = Verification(len(reported), share, seed)
    able = _checkable(reported, Rebuilder(registry, folders), found)
    found.checkable = len(able)
    drawn = order(able, seed)[: math.ceil(share * len(able))]
    found.drawn = len(drawn)
    with Progress(len(drawn), quiet) as progress:
        for one, outcome in _computed([able[key] for key in drawn], workers, limits, progress):
            _judge(one, outcome, found)
    found.mismatches.sort(key=lambda one: (one.cell, one.key))
    return found


def order(keys: Iterable[str], seed: int) -> list[str]:
    """Return keys in the order in which cells are drawn: by the SHA-256 of ``"SEED KEY"``.

    So who does not know the seed cannot know which cells are drawn; a larger share has all cells
    of a smaller one; and what else a store has does not matter.
    """
    return sorted(keys, key=lambda key: hashlib.sha256(f"{seed} {key}".encode()).digest())


def _checkable(
    reported: Sequence[Reported], rebuilder: Rebuilder, found: Verification
) -> dict[str, Drawn]:
    """Return the cells that can be computed here, by key; count the others, and false metrics."""
    here, able = environment.snapshot(), {}
    for one in reported:
        if machine(one.environment) == machine(here):
            found.measured_here[one.key] = one.checksum
        try:
            cell = rebuilder.cell(one.content)
        except NotHereError as error:
            found.leave_out(one, str(error))
            continue
        if one.stop.status in OF_MACHINE and not one.trace:
            found.leave_out(one, f"its ending, {one.stop.status.value}, is a matter of the machine")
            continue
        found.mismatches += _false_metrics(one, cell)
        differ = differences(one.content, cell.content, one.environment, here)
        able[one.key] = Drawn(one, bounded(cell, one), differ)
    return able


def _false_metrics(reported: Reported, cell: Cell) -> Iterator[Mismatch]:
    """Yield what the store says falsely about how the problem is judged."""
    true = json.loads(metrics_of(cell))
    for name in sorted({*true, *reported.metrics}):
        old, new = reported.metrics.get(name), true.get(name)
        if old != new:
            yield Mismatch(reported.key, reported.label, name, None, old, new)


def _computed(
    drawn: Sequence[Drawn], workers: int, limits: Limits | None, progress: Progress
) -> Iterator[tuple[Drawn, Outcome]]:
    """Yield the outcome of each cell, which fresh processes compute."""
    by_threads = sorted(drawn, key=lambda one: one.cell.threads)
    for threads, group in groupby(by_threads, key=lambda one: one.cell.threads):
        known = {id(one.cell): one for one in group}
        cells = [one.cell for one in known.values()]
        for event in local.run(cells, workers, threads, limits):
            one = known[id(event.cell)]
            label = one.reported.label
            if event.outcome is None:
                progress.begin(label, event.worker)
                continue
            progress.advance(label, False, event.worker)
            yield one, event.outcome


def _judge(one: Drawn, outcome: Outcome, found: Verification) -> None:
    """Compare a cell, and add to what was found."""
    differ = mismatches(one.reported, outcome, one.cell.solver.place, one.exact)
    for text in one.differences:
        found.platforms[text] = found.platforms.get(text, 0) + 1
    why = _unfinished(one.reported, outcome)
    if why and not (outcome.trace and differ):
        found.leave_out(one.reported, why)
    elif differ:
        found.mismatches += differ
    else:
        found.recomputed[one.reported.key] = one.reported.checksum
        found.exact += one.exact


def _unfinished(reported: Reported, outcome: Outcome) -> str | None:
    """Return why a run here says nothing about the one reported, or None."""
    old, new = reported.stop, outcome.stop
    if new.status in OF_MACHINE:
        return f"here it ended with {new.status.value}"
    last = new.traceback.strip().splitlines()[-1:]
    if old.status is not new.status and last and last[0].startswith(NO_DATA):
        return f"its data are not here: {new.reason:.200}"
    if depends_on_clock(reported) and not common(reported.trace, outcome.trace):
        return "no checkpoint of it is one here"
    return None
