"""The cells of a suite on each side, with their runs."""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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

SUITE = "regression"
SAMPLES = 10_000  # and steps: the budget of problems from the command line if the suite has none
DENSE = 1.02  # ratio of checkpoints, so that work is found to two percent
RUNS = 5  # maximum time of all runs together, in times of the limit of a run
LATE = f"the runs before it took {RUNS} times the --run-limit"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class SideCells:
    """The cells of a suite on one side.

    Attributes
    ----------
    side : Side
    request : mapping
        The arguments of the request ``plan``.
    content : dict
        A digest of all that the result of a planned cell depends on.
    absent : tuple of (str, str, str)
        Problem, solver and reason of missing cells.
    facts : mapping
        The worker's reply to ``describe``.
    runs : dict
        Without cells that are `unchanged`.
    kinds : dict
        Digests of the code of each file that differs, and of its part that runs at import.
    imported : dict
        The libraries' modules that runs import, with their files.
    """

    side: Side
    request: Mapping[str, Any]
    content: dict[Key, str]
    absent: tuple[tuple[str, str, str], ...]
    facts: Mapping[str, Any]
    runs: dict[Key, Run] = field(default_factory=dict)
    kinds: dict[str, tuple[str, str]] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)

    def why_absent(self, key: Key) -> str:
        """Return why the side does not have a cell."""
        return why_absent(self.absent, key) or "it is not in its suite"

    @property
    def shared_code(self) -> dict[str, str]:
        """Digests of code that reaches every cell: all of a library, else that at import."""
        part = 0 if self.facts["libraries"] else 1
        return {name: kind[part] for name, kind in self.kinds.items() if kind[part]}

    @property
    def importable(self) -> dict[str, list[str]]:
        """The modules of each project whose import is timed; in a library, those in use."""
        libraries, used = self.facts["libraries"], {x.partition(".")[0] for x in self.imported}
        found = {project: [name for name in names if project not in libraries or name in used]
                 for project, names in self.facts["modules"].items()}  # fmt: skip
        return {project: names for project, names in found.items() if names}

    def add_imported(self, modules: Mapping[str, str]) -> None:
        """Add modules of libraries; refuse files outside the side's folder."""
        self.imported.update(modules)
        root = self.side.root
        for name, file in modules.items():
            if root and not Path(file).is_relative_to(root.resolve()):
                raise UsageError(
                    f"{self.side} would be compared by another copy of {name.partition('.')[0]}: "
                    f"{name} was imported from {file}, and it was built in {root}"
                )

    def require_libraries(self) -> None:
        """Refuse the side if no run imports its library, unless all failed."""
        for library in {*self.facts["libraries"]} - {*self.importable}:
            if not all(run.failed for run in self.runs.values()):
                raise UsageError(
                    f"no cell imports {library} of {self.side}: name solvers that use it, with "
                    "-s FILE.py:CLASS or a built-in one"
                )


def why_absent(absent: Iterable[tuple[str, str, str]], key: Key) -> str:
    """Return the reason in a list of missing cells; empty if a cell is not in it."""
    reasons = (why for problem, solver, why in absent
               if key[0].startswith(problem) and key[1].startswith(solver))  # fmt: skip
    return next(reasons, "")


def unchanged(both: Sequence[SideCells], options: Options) -> set[Key]:
    """Return the cells that are equal on both sides, which are neither run nor timed."""
    old, new = both
    if options.every or old.shared_code != new.shared_code:
        return set()
    return {key for key, _ in old.content.items() & new.content.items()}


def collect(sides: Sequence[Side], options: Options, progress: Progress) -> list[SideCells]:
    """Return the cells of both sides with their runs."""
    request = requested(sides, options)
    with ExitStack() as stack:
        workers = [stack.enter_context(SideProcess(side, options, request)) for side in sides]
        found = planned(sides, workers, request)
        old, new = (cells.facts["files"].items() for cells in found)
        for worker in workers:
            worker.request("kinds", files=sorted({name for name, _ in old ^ new}))
        for cells, worker in zip(found, workers, strict=True):
            cells.kinds.update(worker.reply())
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
    keep: Callable[[Key, Mapping[str, Any]], None] = lambda *_: None,
) -> None:  # fmt: skip
    """Run cells one after the other, each on all sides at once, and add the runs to `found`.

    Dead workers are replaced. After `seconds`, no more cells run. `keep` gets each cell with the
    worker's reply.
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
            keep(key, reply)


def planned(
    sides: Sequence[Side], workers: Sequence[SideProcess], request: Mapping[str, Any]
) -> list[SideCells]:
    """Return the cells of sides, from workers with the request ``plan``, without runs.

    A side that does not import its own code is refused: its gate would always pass.
    """
    for worker in workers:
        worker.request("describe")
    found = []
    for side, worker in zip(sides, workers, strict=True):
        with _refusing(side):
            plan, facts = worker.reply(), worker.reply()
        content = {tuple(key): digest for key, digest in facts["content"]}
        own = side if side.root else replace(side, root=Path(plan["orthobench"]))
        found.append(SideCells(own, request, content, tuple(map(tuple, plan["absent"])), facts))
    return found


@contextmanager
def _refusing(side: Side) -> Iterator[None]:
    try:
        yield
    except SideError as error:
        raise UsageError(f"{side} cannot be compared: {error}") from None


def requested(sides: Sequence[Side], options: Options) -> dict[str, Any]:
    """Return the arguments of the request ``plan``; a suite is of HEAD, else of BASE."""
    name, text = str(options.suite or SUITE), ""
    try:
        if isinstance(options.suite, Path):
            name, text = options.suite.stem, toml.text_of(options.suite)
        else:
            text = _text_of_suite(name, sides, options)
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


def _text_of_suite(name: str, sides: Sequence[Side], options: Options) -> str:
    reasons = []
    for side in reversed(sides):
        with SideProcess(side, options) as process:
            with _refusing(side):
                process.ask("check", distributions=side.distributions)
            try:
                return str(process.ask("suite", name=name)["text"])
            except SideError as error:
                reasons.append(f"{side.name}: {error}"[:180])
    raise UsageError("; ".join(reasons))
