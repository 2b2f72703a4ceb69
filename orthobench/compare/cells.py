"""The cells that each side has of a suite, with their runs: made now, or read from a store."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orthobench.compare.comparison import Options
from orthobench.compare.process import SideError, SideProcess
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
from orthobench.harness.run import RATIO
from orthobench.harness.stopping import RunStatus
from orthobench.registry.entries import specification
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.stats.run_pairs import Key, key_of
from orthobench.tools import toml

SUITE = "regression"
SAMPLES = 10_000  # the budget of problems from the command line, where the suite has none for all
DENSE = 1.02  # ratio of checkpoints where both sides are run: work is found to two percent

Progress = Callable[[str], None]


@dataclass(frozen=True)
class SideCells:
    """The cells that one side has of a suite.

    Attributes
    ----------
    side : Side
    suite : str
        The suite's name.
    runs : dict
        The run of every cell that the side has, does not refuse, and that is not `unchanged`.
    absent : tuple of (str, str, str)
        Problem, solver and the reason why the side does not have their cells.
    request : mapping
        What workers are asked to plan; empty for a store.
    content : mapping
        A digest of all that the result of each planned cell depends on; empty for a store.
    notes : tuple of str
    """

    side: Side
    suite: str
    runs: dict[Key, Run]
    absent: tuple[tuple[str, str, str], ...] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    content: Mapping[Key, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def why_absent(self, key: Key) -> str:
        """Return why the side does not have a cell."""
        for problem, solver, reason in self.absent:
            if key[0].startswith(problem) and key[1].startswith(solver):
                return reason
        return "it is not in its suite"


def unchanged(both: Sequence[SideCells], options: Options) -> set[Key]:
    """Return the cells that are the same on both sides, which are neither run nor timed."""
    if options.every or len(both) == 1:
        return set()
    return {key for key, _ in both[0].content.items() & both[1].content.items()}


def collect(sides: Sequence[Side], options: Options, progress: Progress) -> list[SideCells]:
    """Return the cells of both sides; live sides run the same cell at the same time.

    Where a side is a store, its suite is what the other one runs.

    Raises
    ------
    UsageError
        Where the suite cannot be read.
    SideError
        Where a side cannot plan it.
    """
    live = [side for side in sides if not side.store]
    if not live:
        return [_stored(side, options) for side in sides]
    name, tables = _suite(sides, options)
    if live == list(sides):  # nothing is chosen here: trials run on all seeds
        tables.get("tuning", {}).pop("seeds", None)
    ratio = DENSE if live == list(sides) else RATIO
    request = {"tables": tables, "name": name, "ratio": ratio}
    found = iter(run_cells(live, request, options, progress))
    return [_stored(side, options) if side.store else next(found) for side in sides]


def run_cells(
    sides: Sequence[Side], request: Mapping[str, Any], options: Options, progress: Progress,
    only: Iterable[Key] = (),
) -> list[SideCells]:  # fmt: skip
    """Run the cells of live sides that differ in fresh processes, the same on each at a time.

    Parameters
    ----------
    sides : sequence of Side
    request : mapping
        The tables of the suite, its name, and the ratio of checkpoints.
    options : Options
    progress : callable
    only : iterable of tuple
        Problem, solver and seed of cells; all that differ without any.
    """
    with ExitStack() as stack:
        workers = [stack.enter_context(SideProcess(side, options, request)) for side in sides]
        found = [_planned(*each, request) for each in zip(sides, workers, strict=True)]
        planned, same = {**found[0].content, **found[-1].content}, unchanged(found, options)
        keys = list(only or (key for key in planned if key not in same))
        for number, key in enumerate(keys):
            progress(f"{key[1]} on {key[0]}, {number + 1} of {len(keys)} cells")
            having = [i for i, cells in enumerate(found) if key in cells.content]
            for i in having:
                if not workers[i].alive:  # a cell killed it
                    workers[i] = stack.enter_context(SideProcess(sides[i], options, request))
                    workers[i].reply()
                workers[i].request("run", key=key)
            for i in having:
                found[i].runs[key] = workers[i].run(key)
    return found


def _planned(side: Side, worker: SideProcess, request: Mapping[str, Any]) -> SideCells:
    """Return the cells that a live side has planned, without runs."""
    try:
        plan = worker.reply()
    except SideError as error:
        raise SideError(f"{side.name} cannot be compared: {error}") from None
    return SideCells(
        side,
        suite=request["name"],
        runs={},
        absent=tuple(map(tuple, plan["absent"])),
        request=request,
        content={tuple(key): digest for key, digest in plan["cells"]},
        notes=tuple(
            f"{side.name}: plugin {name!r} is broken: {why}" for name, why in plan["broken"].items()
        ),
    )


def _stored(side: Side, options: Options) -> SideCells:
    """Return the cells of a store."""
    results = _results(side, options)
    runs = [run for run in results.records if _is_meant(run, options)]
    refused = [run for run in runs if run.stop.status is RunStatus.REFUSED]
    return SideCells(
        side,
        suite=results.suite,
        runs={key_of(run): run for run in runs if run.stop.status is not RunStatus.REFUSED},
        absent=tuple((run.problem.label, run.solver.label, run.stop.reason) for run in refused),
    )


def _is_meant(run: Run, options: Options) -> bool:
    """Return whether the solver, the problem and the seed of a run are among those asked for."""
    for info, specs in ((run.solver, options.solvers), (run.problem, options.problems)):
        known = {**info.parameters, "name": info.name}
        if specs and not any(specification(spec).items() <= known.items() for spec in specs):
            return False
    return options.seeds is None or run.seed < options.seeds


def _results(side: Side, options: Options) -> Results:
    if isinstance(options.suite, Path):
        raise UsageError(f"a store has suites by name; {options.suite} is a file")
    return Results.read(side.store or "", options.suite)


def _suite(sides: Sequence[Side], options: Options) -> tuple[str, dict[str, Any]]:
    """Return the name and the tables of the suite that live sides run."""
    name, text = str(options.suite or SUITE), ""
    try:
        if stores := [_results(side, options) for side in sides if side.store]:
            name, text = stores[0].suite, stores[0].session()["text"]
        elif isinstance(options.suite, Path):
            name, text = options.suite.stem, toml.text_of(options.suite)
        else:
            text = _ask_for_suite(name, sides, options)
        tables = toml.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read the suite {name}: {error}") from None
    chosen = {kind: [*map(specification, texts)] for kind, texts in
              (("solver", options.solvers), ("problem", options.problems)) if texts}  # fmt: skip
    seeds = {"seeds": options.seeds} if options.seeds else {}
    default = {"budget": {"samples": SAMPLES}} if options.problems else {}
    return name, {**default, **tables, **chosen, **seeds}


def _ask_for_suite(name: str, sides: Sequence[Side], options: Options) -> str:
    """Return the text of a suite that HEAD knows by name, or BASE."""
    reasons = []
    for side in reversed(sides):
        with SideProcess(side, options) as process:
            try:
                return str(process.ask("suite", name=name)["text"])
            except SideError as error:
                reasons.append(f"{side.name}: {error}")
    raise UsageError("; ".join(reasons))
