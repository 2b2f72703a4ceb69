"""The cells that each side has of a suite, with their runs."""

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
from orthobench.registry.entries import specification
from orthobench.results.runs import Run
from orthobench.stats.run_pairs import Key
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
    runs : dict
        The run of every cell that the side has, does not refuse, and that is not `unchanged`.
    absent : tuple of (str, str, str)
        Problem, solver and the reason why the side does not have their cells.
    request : mapping
        What workers are asked to plan, by the suite's name.
    content : mapping
        A digest of all that the result of each planned cell depends on.
    notes : tuple of str
    """

    side: Side
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
    """Return the cells of both sides, which run the same cell at the same time.

    Raises
    ------
    UsageError
        Where the suite cannot be read.
    SideError
        Where a side cannot plan it.
    """
    name, tables = _suite(sides, options)
    tables.get("tuning", {}).pop("seeds", None)  # nothing is chosen: trials run on all seeds
    request = {"tables": tables, "name": name, "ratio": DENSE}
    return run_cells(sides, request, options, progress)


def run_cells(
    sides: Sequence[Side], request: Mapping[str, Any], options: Options, progress: Progress,
    only: Iterable[Key] = (),
) -> list[SideCells]:  # fmt: skip
    """Run the cells of sides that differ in fresh processes, the same on each at a time.

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
        content={tuple(key): digest for key, digest in plan["cells"]},
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
