"""The cells of a suite on each side, and the processes that run them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orthobench.compare import remote
from orthobench.compare.options import Options
from orthobench.compare.sides import Side
from orthobench.contract.solver import Work
from orthobench.errors import OrthobenchError, UsageError
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.suite import FULL
from orthobench.harness.trace import Checkpoint
from orthobench.registry.entries import specification
from orthobench.registry.suite_values import of_size
from orthobench.results.runs import ProblemInfo, Run, SolverInfo
from orthobench.stats.run_pairs import Key
from orthobench.tools import toml
from orthobench.tools.processes import Process, ProcessError, reason_of

SUITE = "regression"
SAMPLES = 10_000  # and steps: the budget of problems from the command line if the suite has none

STARTING = 120.0
"""Minimum patience with a request that is no run, in seconds: a busy machine imports slowly."""

Progress = Callable[[str], None]


class SideError(OrthobenchError):
    """A side's process raised, died or hung."""


class SideProcess(Process):
    """A worker of one side.

    Parameters
    ----------
    side : Side
        With its interpreter.
    options : Options
        Its clock, and the maximum time of a request before the process is killed.
    plan : mapping, optional
        Arguments of the request ``plan``, which is sent at once.
    """

    def __init__(self, side: Side, options: Options, plan: Mapping[str, Any] | None = None) -> None:
        self.side, self.options, self.plan = side, options, plan
        self.limit = options.patience
        self._start()

    def _start(self) -> None:
        threads = int(self.plan["tables"].get("threads", 1)) if self.plan else 1
        try:
            super().__init__(
                "orthobench_remote.worker", {"clock": self.options.clock}, threads,
                codec="json", python=self.side.python, package=Path(remote.__file__).parent,
            )  # fmt: skip
        except OSError as error:
            raise SideError(f"{self.side} cannot be started: {error}") from None
        if self.plan:
            self.request("plan", distributions=self.side.distributions, **self.plan)

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Send a request, and return its reply."""
        self.request(do, **arguments)
        return self.reply()

    def request(self, do: str, **arguments: Any) -> None:
        """Send a request; `reply` returns its reply."""
        self.send({"do": do, **arguments})

    def reply(self, patience: float | None = None) -> dict[str, Any]:
        """Return the reply to the oldest request without one.

        Parameters
        ----------
        patience : float, optional
            Maximum seconds [default: those of a run, at least `STARTING`].

        Raises
        ------
        SideError
            If the side raised, died, or took too long and was killed.
        """
        try:
            reply: dict[str, Any] = self.receive(patience or max(self.limit, STARTING))
        except (ProcessError, TimeoutError) as error:
            raise SideError(str(error)) from None
        if "error" in reply:
            raise SideError(reply["error"])
        if reply.get("ended"):
            raise SideError(str(ProcessError(reason_of(reply["ended"]), self.last_words)))
        return reply

    def begin_run(self, key: Key) -> None:
        """Let the worker run a cell; if an earlier one killed it, start another."""
        if not self.alive:
            self.close()
            self._start()
            self.reply()
        self.request("run", key=key)

    def outcome(self) -> dict[str, Any]:
        """Return the reply about a run; if the worker died, that of a failed run."""
        try:
            return self.reply(self.limit)
        except SideError as error:
            return {"status": "error", "reason": str(error)}


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
    imported : set of str
        The libraries' modules that runs import.
    """

    side: Side
    request: Mapping[str, Any]
    content: dict[Key, str]
    absent: tuple[tuple[str, str, str], ...]
    facts: Mapping[str, Any]
    runs: dict[Key, Run] = field(default_factory=dict)
    kinds: dict[str, tuple[str, str]] = field(default_factory=dict)
    imported: set[str] = field(default_factory=set)

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

    def add(self, key: Key, reply: Mapping[str, Any]) -> None:
        """Add the run of a cell."""
        self.runs[key] = run_of(key, reply)
        self.imported.update(reply.get("loaded", ()))

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
        found = planned(workers, request)
        old, new = (cells.facts["files"].items() for cells in found)
        for worker in workers:
            worker.request("kinds", files=sorted({name for name, _ in old ^ new}))
        for cells, worker in zip(found, workers, strict=True):
            cells.kinds.update(worker.reply())
        same = unchanged(found, options)
        keys = dict.fromkeys(key for cells in found for key in cells.content if key not in same)
        run_cells(found, workers, keys, progress)
    for cells in found:
        cells.require_libraries()
    return found


def run_again(
    cells: SideCells, options: Options, progress: Progress, keys: Iterable[Key]
) -> dict[Key, Run]:
    """Run some cells of a side once more, in a fresh process."""
    again = replace(cells, runs={}, imported=set())
    with SideProcess(cells.side, options, cells.request) as worker:
        worker.reply()
        run_cells([again], [worker], keys, progress)
    return again.runs


def run_cells(
    found: Sequence[SideCells], workers: Sequence[SideProcess], keys: Iterable[Key],
    progress: Progress,
) -> None:  # fmt: skip
    """Run cells one after the other, each on all sides at once, and add the runs to `found`."""
    keys = [*keys]
    for number, key in enumerate(keys, start=1):
        progress(f"{key[1]} on {key[0]}, {number} of {len(keys)} cells")
        having = [pair for pair in zip(found, workers, strict=True) if key in pair[0].content]
        for _, worker in having:
            worker.begin_run(key)
        for cells, worker in having:
            cells.add(key, worker.outcome())


def planned(workers: Sequence[SideProcess], request: Mapping[str, Any]) -> list[SideCells]:
    """Return the cells of sides, from workers with the request ``plan``, without runs.

    A side that does not import its own code is refused: its gate would always pass.
    """
    for worker in workers:
        worker.request("describe")
    found = []
    for worker in workers:
        try:
            plan, facts = worker.reply(), worker.reply()
        except SideError as error:
            raise UsageError(f"{worker.side} cannot be compared: {error}") from None
        content = {tuple(key): digest for key, digest in facts["content"]}
        absent = tuple(map(tuple, plan["absent"]))
        found.append(SideCells(worker.side, request, content, absent, facts))
    return found


def requested(sides: Sequence[Side], options: Options) -> dict[str, Any]:
    """Return the arguments of the request ``plan``; a suite is of HEAD, else of BASE."""
    name = str(options.suite or SUITE)
    try:
        if isinstance(options.suite, Path):
            name, text = options.suite.stem, toml.text_of(options.suite)
        else:
            text = _text_of_suite(name, sides, options)
        tables = of_size(toml.loads(text), FULL)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read the suite {name}: {error}") from None
    chosen = {kind: [*map(specification, texts)] for kind, texts in
              (("solver", options.solvers), ("problem", options.problems)) if texts}  # fmt: skip
    seeds = {"seeds": options.seeds} if options.seeds else {}
    # not every solver draws samples, and each run needs an end
    default = {"budget": {"samples": SAMPLES, "steps": SAMPLES}} if options.problems else {}
    tables = {**default, **tables, **chosen, **seeds}
    tables.get("tuning", {}).pop("seeds", None)  # nothing is chosen: trials run on all seeds
    return {"tables": tables, "name": name}


def _text_of_suite(name: str, sides: Sequence[Side], options: Options) -> str:
    reasons = []
    for side in reversed(sides):
        with SideProcess(side, options) as process:
            try:
                return str(
                    process.ask("suite", name=name, distributions=side.distributions)["text"]
                )
            except SideError as error:
                reasons.append(f"{side.name}: {error}"[:180])
    raise UsageError("; ".join(reasons))


def run_of(key: Key, reply: Mapping[str, Any]) -> Run:
    """Return the run in a worker's reply."""
    problem, solver, seed = key
    primary = reply.get("primary", "")
    trace = tuple(
        Checkpoint(0.0, 0.0, Work(steps, samples, flops), {primary: value})
        for steps, samples, flops, value in reply.get("trace", ())
    )
    return Run(
        "", ProblemInfo(problem, problem, {}, "", primary, primary),
        SolverInfo(solver, {"on": reply.get("on", "numpy")}), seed,
        Termination(RunStatus(reply["status"]), reply["reason"]), trace, reply.get("budget", {}),
    )  # fmt: skip
