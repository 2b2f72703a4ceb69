"""The verification of a store: a share of its cells is drawn, computed again, and compared."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from orthobench.harness.cell import Cell
from orthobench.harness.executors import Limits
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Outcome
from orthobench.registry.plugins import Registry
from orthobench.results.reported import Reported
from orthobench.results.rows import metrics_of
from orthobench.results.store import Store
from orthobench.tools import environment
from orthobench.verify.comparing import (
    OF_MACHINE,
    Mismatch,
    bounded,
    common,
    comparable,
    depends_on_clock,
    digests,
    mismatches,
    otherwise,
)
from orthobench.verify.computing import (
    Drawn,
    computed,
    kernels_for,
    other_kernels,
    platform_differences,
)
from orthobench.verify.rebuilding import NotHereError, Rebuilder, other_code

OF_ITS_MACHINE = "its ending, {}, is a matter of the machine"

OTHERWISE = "its code is another here ({}), and comes out otherwise"
"""Who edits a metric and the digest of the code gets no more than this."""

ROUNDING_DECIDES = "rounding decides it: with another BLAS kernel it comes out otherwise here, too"

NO_DATA = "orthobench.errors.DataError"
"""How the traceback of a run ends whose data are not here."""

NO_PACKAGE = ("ImportError", "ModuleNotFoundError")
"""How a line begins in the traceback of a run for which a package is not here."""


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
    other_code : dict
        The modules whose code is another here, by the keys of cells that came out again with it.
    unseen : int
        Cells that came out again, but for exhibits, which were not compared.
    unchecked : dict
        Why cells were not checked, with the cells.
    mismatches : list of Mismatch
    renamed : dict
        Labels of solvers that do not begin with the solver's name, with this name.
    """

    cells: int
    share: float
    seed: int
    checkable: int = 0
    drawn: int = 0
    recomputed: dict[str, str] = field(default_factory=dict)
    exact: int = 0
    platforms: dict[str, int] = field(default_factory=dict)
    other_code: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unseen: int = 0
    unchecked: dict[str, list[str]] = field(default_factory=dict)
    mismatches: list[Mismatch] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)

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
        _read_plans(opened, reported, registry.solvers, found)
        able = _checkable(reported, Rebuilder(registry, folders), found)
        found.checkable = len(able)
        keys = order(able, seed)[: math.ceil(share * len(able))]
        drawn = [replace(able[key], exhibits=_exhibits(opened, key)) for key in keys]
    found.drawn = len(drawn)
    compute = partial(computed, workers=workers, limits=limits, quiet=quiet)
    doubtful = [
        (one, outcome, differ)
        for one, outcome in compute(drawn)
        if (differ := _judge(one, outcome, found))
    ]
    if doubtful:
        _settle(doubtful, compute, found)
    found.mismatches.sort(key=lambda one: (one.cell, one.key))
    return found


def order(keys: Iterable[str], seed: int) -> list[str]:
    """Return keys in the order in which cells are drawn: by the SHA-256 of ``"SEED KEY"``.

    So who does not know the seed cannot know which cells are drawn; a larger share has all cells
    of a smaller one; and what else a store has does not matter.
    """
    return sorted(keys, key=lambda key: hashlib.sha256(f"{seed} {key}".encode()).digest())


def _exhibits(store: Store, key: str) -> dict[str, str]:
    """Return the digests of what a store shows of a cell, one cell at a time: they may be large."""
    return digests(store.exhibits([key])[key])


def _read_plans(
    store: Store, reported: Sequence[Reported], solvers: Collection[str], found: Verification
) -> None:
    """Check what the plans of suites say of cells: tuned parameters, and the names of solvers.

    A label may be any text, but for one that begins with the name of another of the `solvers`.
    """
    known = {one.key: one for one in reported}
    for record in (record for suite in store.suites() for record in store.records(suite)):
        one, label = known.get(record.key), record.solver.label
        if one is None:
            continue
        name = one.content["solver"]["name"]
        called = re.split(r"[^\w-]", label, maxsplit=1)[0]
        if called != name and called in solvers:
            found.mismatches.append(Mismatch(one.key, one.label, "label", None, label, name))
        elif called != name:
            found.renamed[label] = name
        for name, value in record.solver.tuned.items():
            true = record.solver.parameters.get(name)
            if value != true:
                told = (one.key, one.label, f"tuned {name}", None, value, true)
                found.mismatches.append(Mismatch(*told))


def _checkable(
    reported: Sequence[Reported], rebuilder: Rebuilder, found: Verification
) -> dict[str, Drawn]:
    """Return the cells that can be computed here, by key; count the others, and false metrics."""
    here, able = environment.snapshot(), {}
    for one in reported:
        try:
            cell = rebuilder.cell(one.content)
        except NotHereError as error:
            found.leave_out(one, str(error))
            continue
        if one.stop.status in OF_MACHINE and not one.trace:
            found.leave_out(one, OF_ITS_MACHINE.format(one.stop.status.value))
            continue
        content, false = cell.content, list(_false_metrics(one, cell))
        code = other_code(one.content, content)
        if code and false:
            found.leave_out(one, OTHERWISE.format(", ".join(code)))
            continue
        found.mismatches += false
        differ = platform_differences(one.content, content, one.environment, here)
        able[one.key] = Drawn(one, bounded(cell, one), differ, code)
    return able


def _false_metrics(reported: Reported, cell: Cell) -> Iterator[Mismatch]:
    """Yield what the store says falsely about how the problem is judged."""
    true = json.loads(metrics_of(cell))
    for name in sorted({*true, *reported.metrics}):
        old, new = reported.metrics.get(name), true.get(name)
        if old != new:
            yield Mismatch(reported.key, reported.label, name, None, old, new)


def _judge(one: Drawn, outcome: Outcome, found: Verification) -> list[Mismatch]:
    """Compare a cell, and count it unless something differs that other rounding may explain."""
    differ = mismatches(one.reported, outcome, one.cell.solver.place, one.exact)
    seen = one.exact and comparable(one.reported, outcome)
    if seen:
        differ += otherwise(one.reported, one.exhibits, outcome)
    for text in one.differences:
        found.platforms[text] = found.platforms.get(text, 0) + 1
    why = _unfinished(one.reported, outcome)
    if why and not (differ and common(one.reported.trace, outcome.trace)):
        found.leave_out(one.reported, why)
        return []
    if not differ:
        found.recomputed[one.reported.key] = one.reported.checksum
        found.exact += one.exact
        found.unseen += not seen and bool(one.exhibits)
        if one.code:
            found.other_code[one.reported.key] = one.code
    elif one.code:
        found.leave_out(one.reported, OTHERWISE.format(", ".join(one.code)))
        return []
    elif one.exact:
        found.mismatches += differ
        return []
    return differ


def _settle(
    doubtful: Sequence[tuple[Drawn, Outcome, list[Mismatch]]],
    compute: Callable[[Sequence[Drawn]], Iterator[tuple[Drawn, Outcome]]],
    found: Verification,
) -> None:
    """Tell mismatches from cells that come out otherwise even here, with other kernels of BLAS.

    Where eigenvalues coincide, say, the last bit decides which vector is found. Such a cell can be
    repeated on its own platform only.
    """
    left = {one.reported.key: (one, outcome, differ) for one, outcome, differ in doubtful}
    for processor in other_kernels():
        with kernels_for(processor):
            for one, again in compute([one for one, _, _ in left.values()]):
                outcome = left[one.reported.key][1]
                ours = replace(one.reported, stop=outcome.stop, trace=outcome.trace)
                if mismatches(ours, again, one.cell.solver.place, exact=False):
                    found.leave_out(one.reported, ROUNDING_DECIDES)
                    del left[one.reported.key]
    found.mismatches += [mismatch for _, _, differ in left.values() for mismatch in differ]


def _unfinished(reported: Reported, outcome: Outcome) -> str | None:
    """Return why a run here says nothing about the one reported, or None."""
    old, new = reported.stop, outcome.stop
    if old.status in OF_MACHINE:
        return OF_ITS_MACHINE.format(old.status.value)
    if new.status in OF_MACHINE:
        return f"here it ended with {new.status.value}: {new.reason:.200}"
    if old != new and (lacking := [one for one in (old, new) if _lacks_data(one)]):
        where = "here" if new in lacking else "there"
        return f"its data are not {where}: {lacking[-1].reason:.200}"
    if old.status is not RunStatus.ERROR and _lacks_package(new):
        return f"a package is missing here: {new.reason:.200}"
    if depends_on_clock(reported) and not common(reported.trace, outcome.trace):
        return "no checkpoint of it is one here"
    return None


def _lacks_package(stop: Termination) -> bool:
    """Return whether a run ended because something could not be imported."""
    return any(line.startswith(NO_PACKAGE) for line in stop.traceback.splitlines())


def _lacks_data(stop: Termination) -> bool:
    """Return whether a run ended because its data could not be read."""
    last = stop.traceback.strip().splitlines()[-1:]
    return stop.status is RunStatus.ERROR and bool(last) and last[0].startswith(NO_DATA)
