"""The cells that each side has of a suite, with their runs."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orthobench.compare.changes import Changes, between, differing_files
from orthobench.compare.comparison import Options
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

UNTOLD: Mapping[str, Any] = {
    "packages": {}, "installed": {}, "requires": (), "files": {}, "reached": (), "defaults": {},
    "libraries": (), "modules": {},
}  # fmt: skip
"""What is known of a side whose worker was not asked."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class SideCells:
    """The cells that one side has of a suite.

    Attributes
    ----------
    side : Side
    runs : dict
        The run of every cell that the side has, does not refuse, and that is not `unchanged`.
    absent : tuple of (str, str, str)
        Problem, solver and the reason why the side does not have their cells.
    request : mapping
        What workers are asked to plan, by the suite's name.
    content : mapping
        A digest of all that the result of each planned cell depends on.
    notes : tuple of str
    facts : mapping
        What the worker replied to ``describe``.
    kinds : mapping
        Of each file that differs digests of its code, and of what of it runs at its import.
    imported : dict
        The modules of the side's libraries that the runs import, with their files.
    """

    side: Side
    runs: dict[Key, Run]
    absent: tuple[tuple[str, str, str], ...] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    content: Mapping[Key, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=lambda: UNTOLD)
    kinds: Mapping[str, Any] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)

    def why_absent(self, key: Key) -> str:
        """Return why the side does not have a cell."""
        for problem, solver, reason in self.absent:
            if key[0].startswith(problem) and key[1].startswith(solver):
                return reason
        return "it is not in its suite"


def changes_of(both: Sequence[SideCells]) -> Changes:
    """Return how the two sides differ."""
    old, new = both
    kinds, imported = [old.kinds, new.kinds], {**old.imported, **new.imported}
    return between(old.facts, new.facts, kinds, imported, [old.side, new.side])


def unchanged(both: Sequence[SideCells], options: Options) -> set[Key]:
    """Return the cells that are the same on both sides, which are neither run nor timed."""
    if options.every or changes_of(both).everywhere:
        return set()
    return {key for key, _ in both[0].content.items() & both[1].content.items()}


def collect(sides: Sequence[Side], options: Options, progress: Progress) -> list[SideCells]:
    """Return the cells of both sides, which run the same cell at the same time.

    Raises
    ------
    UsageError
        If the suite cannot be read, or a side's library is not what its cells import.
    SideError
        If a side cannot plan it.
    """
    name, tables = _suite(sides, options)
    tables.get("tuning", {}).pop("seeds", None)  # nothing is chosen: trials run on all seeds
    request = {"tables": tables, "name": name, "ratio": DENSE}
    with ExitStack() as stack:
        workers = [stack.enter_context(SideProcess(side, options, request)) for side in sides]
        planned = [_planned(*each, request) for each in zip(sides, workers, strict=True)]
        if not (isinstance(options.suite, Path) or options.solvers or options.problems):
            planned[0] = replace(
                planned[0], notes=(*planned[0].notes, *_other_suite(workers[0], name, tables))
            )
        for side, worker in zip(sides, workers, strict=True):
            worker.request("describe", distributions=side.distributions)
        facts = [worker.reply() for worker in workers]
        for worker in workers:
            worker.request("kinds", files=differing_files(facts[0], facts[-1]))
        found = [
            replace(cells, facts=told, kinds=worker.reply(), content={
                tuple(key): digest for key, digest in told["content"]
            })
            for cells, told, worker in zip(planned, facts, workers, strict=True)
        ]  # fmt: skip
        same = unchanged(found, options)
        keys = dict.fromkeys(key for cells in found for key in cells.content if key not in same)
        _run(found, workers, [*keys], options, progress, stack)
    for cells in found:
        _require_own(cells)
    return found


def run_again(
    cells: SideCells, options: Options, progress: Progress, keys: Sequence[Key]
) -> dict[Key, Run]:
    """Run some cells of a side once more, in a fresh process."""
    again = replace(cells, runs={}, imported={})
    with ExitStack() as stack:
        worker = stack.enter_context(SideProcess(cells.side, options, cells.request))
        worker.reply()
        _run([again], [worker], keys, options, progress, stack)
    return again.runs


def _run(
    found: Sequence[SideCells], workers: list[SideProcess], keys: Sequence[Key],
    options: Options, progress: Progress, stack: ExitStack,
) -> None:  # fmt: skip
    """Run cells, the same on each side at a time, and note the modules of libraries they import.

    All runs together may take `RUNS` times as long as one.
    """
    watched = [
        [name for one in cells.facts["libraries"] for name in cells.facts["modules"][one]]
        for cells in found
    ]
    deadline = time.monotonic() + RUNS * options.patience
    for number, key in enumerate(keys):
        progress(f"{key[1]} on {key[0]}, {number + 1} of {len(keys)} cells")
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
            found[i].runs[key], modules = workers[i].run(key)
            found[i].imported.update(modules)


def _require_own(cells: SideCells) -> None:
    """Refuse a side whose cells do not import its library, or import another copy of it."""
    root = cells.side.root
    if root is None or all(run.failed for run in cells.runs.values()):
        return
    for library in cells.facts["libraries"]:
        tops = cells.facts["modules"][library]
        own = {name: file for name, file in cells.imported.items()
               if name.partition(".")[0] in tops}  # fmt: skip
        if not own:
            raise UsageError(
                f"no cell imports {library} of {cells.side}: name solvers that use it, with "
                "-s FILE.py:CLASS or a built-in one"
            )
        for name, file in own.items():
            if not Path(file).is_relative_to(root.resolve()):
                raise UsageError(
                    f"{cells.side} would be compared by another copy of {library}: {name} was "
                    f"imported from {file}, and it was built in {root}"
                )


def _planned(side: Side, worker: SideProcess, request: Mapping[str, Any]) -> SideCells:
    """Return the cells that a side has planned, without runs."""
    try:
        plan = worker.reply()
    except SideError as error:
        raise SideError(f"{side.name} cannot be compared: {error}") from None
    return SideCells(
        side,
        runs={},
        absent=tuple(map(tuple, plan["absent"])),
        request=request,
        content=dict.fromkeys(map(tuple, plan["cells"]), ""),
        notes=tuple(
            f"{side.name}: plugin {name!r} is broken: {why}" for name, why in plan["broken"].items()
        ),
    )


def _suite(sides: Sequence[Side], options: Options) -> tuple[str, dict[str, Any]]:
    """Return the name and the tables of the suite that both sides run."""
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
    return name, {**default, **tables, **chosen, **seeds}


def _other_suite(worker: SideProcess, name: str, tables: Mapping[str, Any]) -> list[str]:
    """Return a note if the suite of BASE is another one: what it has more is not compared."""
    try:
        old = toml.loads(worker.ask("suite", name=name)["text"])
    except (SideError, tomllib.TOMLDecodeError):
        return []
    keys = {key for key in {*old, *tables} - {"seeds", "tuning"} if old.get(key) != tables.get(key)}
    if not keys:
        return []
    other = listed(sorted(keys))
    return [f"the cells are those of HEAD's suite {name}; that of BASE has another {other}"]


def _ask_for_suite(name: str, sides: Sequence[Side], options: Options) -> str:
    """Return the text of a suite that HEAD knows by name, or BASE."""
    reasons = []
    for side in reversed(sides):
        with SideProcess(side, options) as process:
            try:
                return str(process.ask("suite", name=name)["text"])
            except SideError as error:
                reasons.append(f"{side.name}: {error}")
    if len({reason.partition(": ")[2] for reason in reasons}) == 1:
        reasons = [f"both sides: {reasons[0].partition(': ')[2]}"]
    raise UsageError("; ".join(reason[:LONGEST] for reason in reasons))
