"""The cells that each side has of a suite, with their runs."""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from orthobench.compare.options import Options
from orthobench.compare.process import SideError, SideProcess, run_of
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
from orthobench.registry.entries import specification
from orthobench.results.runs import Run
from orthobench.stats.run_pairs import Key
from orthobench.tools import toml
from orthobench.tools.formatting import listed

SUITE = "regression"
SAMPLES = 10_000  # and steps: the budget of problems from the command line without another one
DENSE = 1.02  # ratio of checkpoints if both sides are run: work is found to two percent
RUNS = 5  # times the limit of a run is what all runs together may take
LATE = f"the runs before it took {RUNS} times the --run-limit"
LONGEST = 180  # characters of what a side says about a suite

Progress = Callable[[str], None]


@dataclass(frozen=True)
class SideCells:
    """The cells that one side has of a suite.

    Attributes
    ----------
    side : Side
    request : mapping
        What workers are asked to plan, by the suite's name.
    content : dict
        A digest of all that the result of each planned cell depends on.
    absent : tuple of (str, str, str)
        Problem, solver and the reason why the side does not have their cells.
    facts : mapping
        What the worker replied to ``describe``.
    notes : tuple of str
    runs : dict
        The run of every cell that the side has, does not refuse, and that is not `unchanged`.
    kinds : mapping
        Of each file that differs digests of its code, and of what of it runs at its import.
    imported : dict
        The modules of the side's libraries that the runs import, with their files.
    """

    side: Side
    request: Mapping[str, Any]
    content: dict[Key, str]
    absent: tuple[tuple[str, str, str], ...]
    facts: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    runs: dict[Key, Run] = field(default_factory=dict)
    kinds: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)

    def why_absent(self, key: Key) -> str:
        """Return why the side does not have a cell."""
        for problem, solver, reason in self.absent:
            if key[0].startswith(problem) and key[1].startswith(solver):
                return reason
        return "it is not in its suite"

    @property
    def shared_code(self) -> dict[str, str]:
        """Digests of the code that reaches every cell, by file.

        It is what runs at import, and all of a library, which cells may reach in ways that nobody
        sees.
        """
        part = 0 if self.facts["libraries"] else 1
        return {name: kind[part] for name, kind in self.kinds.items() if kind[part]}

    @property
    def importable(self) -> dict[str, list[str]]:
        """The modules of each project that are imported: of a library those that runs import."""
        libraries, used = self.facts["libraries"], {x.partition(".")[0] for x in self.imported}
        found = {project: [name for name in names if project not in libraries or name in used]
                 for project, names in self.facts["modules"].items()}  # fmt: skip
        return {project: names for project, names in found.items() if names}

    def add_imported(self, modules: Mapping[str, str]) -> None:
        """Add modules of libraries that a run has imported, with their files.

        Raises
        ------
        UsageError
            If a module is not imported from the side's folder.
        """
        self.imported.update(modules)
        root = self.side.root
        for name, file in modules.items():
            if root and not Path(file).is_relative_to(root.resolve()):
                raise UsageError(
                    f"{self.side} would be compared by another copy of {name.partition('.')[0]}: "
                    f"{name} was imported from {file}, and it was built in {root}"
                )

    def require_libraries(self) -> None:
        """Refuse the side if no run imports a library of it, although some have not failed."""
        for library in {*self.facts["libraries"]} - {*self.importable}:
            if not all(run.failed for run in self.runs.values()):
                raise UsageError(
                    f"no cell imports {library} of {self.side}: name solvers that use it, with "
                    "-s FILE.py:CLASS or a built-in one"
                )


def unchanged(both: Sequence[SideCells], options: Options) -> set[Key]:
    """Return the cells that are the same on both sides, which are neither run nor timed."""
    old, new = both
    if options.every or old.shared_code != new.shared_code:
        return set()
    return {key for key, _ in old.content.items() & new.content.items()}


def collect(sides: Sequence[Side], options: Options, progress: Progress) -> list[SideCells]:
    """Return the cells of both sides, which run the same cell at the same time.

    Raises
    ------
    UsageError
        If the suite cannot be read, or a side's library is not what its cells import.
    SideError
        If a side cannot plan it.
    """
    request = requested(sides, options)
    with ExitStack() as stack:
        workers = [stack.enter_context(SideProcess(side, options, request)) for side in sides]
        found = planned(sides, workers, request)
        if not (isinstance(options.suite, Path) or options.solvers or options.problems):
            notes = (*found[0].notes, *_other_suite(workers[0], request))
            found[0] = replace(found[0], notes=notes)
        old, new = (cells.facts["files"].items() for cells in found)
        for worker in workers:
            worker.request("kinds", files=sorted({name for name, _ in old ^ new}))
        found = [replace(cells, kinds=worker.reply())
                 for cells, worker in zip(found, workers, strict=True)]  # fmt: skip
        same = unchanged(found, options)
        keys = dict.fromkeys(key for cells in found for key in cells.content if key not in same)
        run_cells(found, workers, keys, options, progress, stack, RUNS * options.patience)
    for cells in found:
        cells.require_libraries()
    return found


def run_again(
    cells: SideCells, options: Options, progress: Progress, keys: Iterable[Key]
) -> dict[Key, Run]:
    """Run some cells of a side once more, in a fresh process."""
    again = replace(cells, runs={}, imported={})
    with ExitStack() as stack:
        worker = stack.enter_context(SideProcess(cells.side, options, cells.request))
        worker.reply()
        run_cells([again], [worker], keys, options, progress, stack, RUNS * options.patience)
    return again.runs


def run_cells(
    found: Sequence[SideCells], workers: list[SideProcess], keys: Iterable[Key],
    options: Options, progress: Progress, stack: ExitStack, seconds: float = math.inf,
    keep: Callable[[Key, Mapping[str, Any]], None] | None = None,
) -> None:  # fmt: skip
    """Run cells, the same on each side at a time, and note the modules of libraries they import.

    Parameters
    ----------
    found : sequence of SideCells
        The runs are added to them.
    workers : list of SideProcess
        One for each of them; one that dies is replaced.
    keys : iterable of tuple
    options : Options
    progress : callable
        Called with what is being done.
    stack : ExitStack
        Ends the workers.
    seconds : float
        What all runs together may take; the cells that are left then are not run.
    keep : callable, optional
        Called with each run as soon as it is known, as the worker tells of it.
    """
    deadline, keys = time.monotonic() + seconds, [*keys]
    watched = [[*chain(*map(cells.facts["modules"].get, cells.facts["libraries"]))]
               for cells in found]  # fmt: skip
    for number, key in enumerate(keys, start=1):
        progress(f"{key[1]} on {key[0]}, {number} of {len(keys)} cells")
        having = [i for i, cells in enumerate(found) if key in cells.content]
        if time.monotonic() > deadline:
            for i in having:
                found[i].runs[key] = run_of(key, {"status": "missing", "reason": LATE})
            continue
        for i in having:
            if not workers[i].alive:  # a cell killed it
                side, request = found[i].side, found[i].request
                workers[i] = stack.enter_context(SideProcess(side, options, request))
                workers[i].reply()
            workers[i].request("run", key=key, watched=watched[i])
        for i in having:
            reply = workers[i].outcome()
            found[i].runs[key] = run_of(key, reply)
            found[i].add_imported(reply.get("loaded", {}))
            if keep:
                keep(key, reply)


def planned(
    sides: Sequence[Side], workers: Sequence[SideProcess], request: Mapping[str, Any]
) -> list[SideCells]:
    """Return the cells that sides have, whose workers are asked for them, without runs."""
    for side, worker in zip(sides, workers, strict=True):
        worker.request("describe", distributions=side.distributions)
    return [_planned(*each, request) for each in zip(sides, workers, strict=True)]


def _planned(side: Side, worker: SideProcess, request: Mapping[str, Any]) -> SideCells:
    try:
        plan, facts = worker.reply(), worker.reply()
    except SideError as error:
        raise SideError(f"{side.name} cannot be compared: {error}") from None
    return SideCells(
        side, request, {tuple(key): digest for key, digest in facts["content"]},
        tuple(map(tuple, plan["absent"])), facts,
        tuple(f"{side.name}: plugin {name!r} is broken: {why}"
              for name, why in plan["broken"].items()),
    )  # fmt: skip


def requested(sides: Sequence[Side], options: Options) -> dict[str, Any]:
    """Return what workers are asked to plan: the name and the tables of the suite of all sides."""
    name, text = str(options.suite or SUITE), ""
    try:
        if isinstance(options.suite, Path):
            name, text = options.suite.stem, toml.text_of(options.suite)
        else:
            text = _ask_for_suite(name, sides, options)
        tables = toml.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read the suite {name}: {error}") from None
    chosen = {kind: [*map(specification, texts)] for kind, texts in
              (("solver", options.solvers), ("problem", options.problems)) if texts}  # fmt: skip
    seeds = {"seeds": options.seeds} if options.seeds else {}
    # not every solver draws samples, and each run needs an end
    default = {"budget": {"samples": SAMPLES, "steps": SAMPLES}} if options.problems else {}
    tables = {**default, **tables, **chosen, **seeds}
    tables.get("tuning", {}).pop("seeds", None)  # nothing is chosen: trials run on all seeds
    return {"tables": tables, "name": name, "ratio": DENSE}


def _other_suite(worker: SideProcess, request: Mapping[str, Any]) -> list[str]:
    """Return a note if the suite of BASE is another one: what it has more is not compared."""
    name, tables = request["name"], request["tables"]
    try:
        old = toml.loads(worker.ask("suite", name=name)["text"])
    except (SideError, tomllib.TOMLDecodeError):
        return []
    keys = {key for key in {*old, *tables} - {"seeds", "tuning"} if old.get(key) != tables.get(key)}
    other = f"the cells are those of HEAD's suite {name}; that of BASE has another "
    return [other + listed(sorted(keys))] if keys else []


def _ask_for_suite(name: str, sides: Sequence[Side], options: Options) -> str:
    """Return the text of a suite that HEAD knows by name, or BASE."""
    reasons = {}
    for side in reversed(sides):
        with SideProcess(side, options) as process:
            try:
                return str(process.ask("suite", name=name)["text"])
            except SideError as error:
                reasons[side.name] = str(error)
    same = len(reasons) > 1 and len({*reasons.values()}) == 1
    told = {"both sides": reasons.popitem()[1]} if same else reasons
    raise UsageError("; ".join(f"{who}: {why}"[:LONGEST] for who, why in told.items()))
