"""The verification of a store: a share of its cells is drawn, computed again, and compared."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from orthobench.harness.executors import Limits
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Outcome
from orthobench.registry.plugins import Registry
from orthobench.results.rows import RANKING, Session
from orthobench.results.runs import Run
from orthobench.results.store import Store
from orthobench.tools import environment
from orthobench.verify.comparing import (
    OF_MACHINE,
    Mismatch,
    bounded,
    called,
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

    def leave_out(self, run: Run, reason: str) -> None:
        """Count a cell as not checked."""
        self.unchecked.setdefault(reason, []).append(called(run))


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
        runs, sessions = list(opened.runs()), opened.sessions()
        result = Verification(len(runs), share, seed)
        _read_plans(opened, runs, registry.solvers, result)
        able = _checkable(runs, sessions, Rebuilder(registry, folders), result)
        result.checkable = len(able)
        keys = order(able, seed)[: math.ceil(share * len(able))]
        # one cell at a time: exhibits may be large
        drawn = [replace(able[key], exhibits=digests(opened.exhibits([key])[key])) for key in keys]
    result.drawn = len(drawn)
    compute = partial(computed, workers=workers, limits=limits, quiet=quiet)
    doubtful = [
        (one, outcome, differ)
        for one, outcome in compute(drawn)
        if (differ := _judge(one, outcome, result))
    ]
    if doubtful:
        _settle(doubtful, compute, result)
    result.mismatches.sort(key=lambda one: (one.cell, one.key))
    return result


def order(keys: Iterable[str], seed: int) -> list[str]:
    """Return keys in the order in which cells are drawn: by the SHA-256 of ``"SEED KEY"``.

    So who does not know the seed cannot know which cells are drawn; a larger share has all cells
    of a smaller one; and what else a store has does not matter.
    """
    return sorted(keys, key=lambda key: hashlib.sha256(f"{seed} {key}".encode()).digest())


def _read_plans(
    store: Store, runs: Sequence[Run], solvers: Collection[str], result: Verification
) -> None:
    """Check what the plans of suites say of cells: tuned parameters, and the names of solvers.

    A label may be any text, but for one that begins with the name of another of the `solvers`.
    """
    names = {run.key: called(run) for run in runs}
    for run in (run for suite in store.suites() for run in store.records(suite)):
        if run.key not in names:
            continue
        label, name = run.solver.label, run.solver.name
        first = re.split(r"[^\w-]", label, maxsplit=1)[0]
        false: dict[str, tuple[Any, Any]] = {}
        if first != name and first in solvers:
            false["label"] = label, name
        elif first != name:
            result.renamed[label] = name
        for parameter, value in run.solver.tuned.items():
            if value != (true := run.solver.parameters.get(parameter)):
                false[f"tuned {parameter}"] = value, true
        result.mismatches += [
            Mismatch(run.key, names[run.key], what, None, *values) for what, values in false.items()
        ]


def _checkable(
    runs: Sequence[Run], sessions: Mapping[int, Session], rebuilder: Rebuilder,
    result: Verification,
) -> dict[str, Drawn]:  # fmt: skip
    """Return the cells that can be computed here, by key; count the others, and false facts."""
    here, able = environment.snapshot(), {}
    for run in runs:
        theirs = run.identity.content
        try:
            cell = rebuilder.cell(theirs)
        except NotHereError as error:
            result.leave_out(run, str(error))
            continue
        if run.stop.status in OF_MACHINE and not run.trace:
            result.leave_out(run, OF_ITS_MACHINE.format(run.stop.status.value))
            continue
        true = Run.of(cell).problem
        false = [
            Mismatch(run.key, called(run), name, None, old, new)
            for name in sorted(RANKING)
            if (old := getattr(run.problem, name)) != (new := getattr(true, name))
        ]
        code = other_code(theirs, cell.content)
        if code and false:
            result.leave_out(run, OTHERWISE.format(", ".join(code)))
            continue
        result.mismatches += false
        machine = sessions[run.session]["environment"]
        differ = platform_differences(theirs, cell.content, machine, here)
        able[run.key] = Drawn(run, bounded(cell, run), differ, code)
    return able


def _judge(one: Drawn, outcome: Outcome, result: Verification) -> list[Mismatch]:
    """Compare a cell, and count it unless something differs that other rounding may explain."""
    differ = mismatches(one.run, outcome, one.cell.solver.place, one.exact)
    seen = one.exact and comparable(one.run, outcome)
    if seen:
        differ += otherwise(one.run, one.exhibits, outcome)
    for text in one.differences:
        result.platforms[text] = result.platforms.get(text, 0) + 1
    why = _unfinished(one.run, outcome)
    if why and not (differ and common(one.run.trace, outcome.trace)):
        result.leave_out(one.run, why)
        return []
    if not differ:
        result.recomputed[one.run.key] = one.run.checksum
        result.exact += one.exact
        result.unseen += not seen and bool(one.exhibits)
        if one.code:
            result.other_code[one.run.key] = one.code
    elif one.code:
        result.leave_out(one.run, OTHERWISE.format(", ".join(one.code)))
        return []
    elif one.exact:
        result.mismatches += differ
        return []
    return differ


def _settle(
    doubtful: Sequence[tuple[Drawn, Outcome, list[Mismatch]]],
    compute: Callable[[Sequence[Drawn]], Iterator[tuple[Drawn, Outcome]]],
    result: Verification,
) -> None:
    """Tell mismatches from cells that come out otherwise even here, with other kernels of BLAS.

    Where eigenvalues coincide, say, the last bit decides which vector is found. Such a cell can be
    repeated on its own platform only.
    """
    left = {one.run.key: (one, outcome, differ) for one, outcome, differ in doubtful}
    for processor in other_kernels():
        with kernels_for(processor):
            for one, again in compute([one for one, _, _ in left.values()]):
                outcome = left[one.run.key][1]
                ours = replace(one.run, stop=outcome.stop, trace=outcome.trace)
                if mismatches(ours, again, one.cell.solver.place, exact=False):
                    result.leave_out(one.run, ROUNDING_DECIDES)
                    del left[one.run.key]
    result.mismatches += [mismatch for _, _, differ in left.values() for mismatch in differ]


def _unfinished(run: Run, outcome: Outcome) -> str | None:
    """Return why a run here says nothing about the stored one, or None."""
    old, new = run.stop, outcome.stop
    if old.status in OF_MACHINE:
        return OF_ITS_MACHINE.format(old.status.value)
    if new.status in OF_MACHINE:
        return f"here it ended with {new.status.value}: {new.reason:.200}"
    if old != new and (lacking := [one for one in (old, new) if _lacks_data(one)]):
        where = "here" if new in lacking else "there"
        return f"its data are not {where}: {lacking[-1].reason:.200}"
    if old.status is not RunStatus.ERROR and _lacks_package(new):
        return f"a package is missing here: {new.reason:.200}"
    if depends_on_clock(run) and not common(run.trace, outcome.trace):
        return "no checkpoint of it is one here"
    return None


def _lacks_package(stop: Termination) -> bool:
    """Return whether a run ended because something could not be imported."""
    return any(line.startswith(NO_PACKAGE) for line in stop.traceback.splitlines())


def _lacks_data(stop: Termination) -> bool:
    """Return whether a run ended because its data could not be read."""
    last = stop.traceback.strip().splitlines()[-1:]
    return stop.status is RunStatus.ERROR and bool(last) and last[0].startswith(NO_DATA)
