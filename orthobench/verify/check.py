"""The verification of a store: some of its cells are computed again, and compared.

Seconds are never compared; if a clock or the end of a process cut a run, common checkpoints are.

Nothing in a store is code. Names are looked up among the installed plugins, values are checked like
those of a suite, and files are read only in folders that the user named.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orthobench.errors import OrthobenchError, UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.execution import PEAK
from orthobench.harness.executors import Limits, local
from orthobench.harness.identity import digest
from orthobench.harness.placement import TRANSFER, WARM_UP, WORKER_METRICS
from orthobench.harness.run import RATIO
from orthobench.harness.stopping import Budget, RunStatus, Target
from orthobench.harness.suite import Suite, SuiteProblem, SuiteSolver
from orthobench.harness.trace import Outcome
from orthobench.registry.plugins import Registry
from orthobench.report.terminal.progress import Progress
from orthobench.results.runs import Run
from orthobench.results.store import Store
from orthobench.results.traces import COUNTS
from orthobench.stats.run_pairs import EXACT, PLATFORMS, differences
from orthobench.tools import environment
from orthobench.tools.collections import grouped, plain
from orthobench.tools.files import refuse_files
from orthobench.tools.formatting import plural

OF_MACHINE = (RunStatus.TIMEOUT, RunStatus.MEMORY, RunStatus.CRASHED, RunStatus.SUSPECT)
"""Endings that depend on the machine."""

MEASURED = frozenset({TRANSFER, WARM_UP, PEAK, *WORKER_METRICS})
"""Metrics that depend on the machine."""

MAY_DIFFER = ("versions", "blas", "place", "code")
"""The parts of a cell's content about platform and code; a cell with another part is another."""

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
"""Distributions on whose arithmetic results depend."""


@dataclass(frozen=True)
class Mismatch:
    """A value that differs.

    Attributes
    ----------
    key, cell : str
        The key of the cell, and its name.
    metric : str
        A metric, or ``steps``, ``samples``, ``flops``, ``checkpoints`` or ``ending``.
    step : int, optional
        The first checkpoint with a difference.
    stored, recomputed : object
    """

    key: str
    cell: str
    metric: str
    step: int | None
    stored: Any
    recomputed: Any

    def __str__(self) -> str:
        where = "" if self.step is None else f" at step {self.step:,}"
        values = f"stored {self.stored!r}, recomputed {self.recomputed!r}"
        return f"{self.cell}: {self.metric}{where}: {values}"


@dataclass
class Verification:
    """The verification of a store.

    Attributes
    ----------
    cells, checkable, drawn : int
        The number of finished cells, of those that can be computed here, and of those drawn.
    share : float
    seed : int
    recomputed : list of str
        The keys of the cells with equal values.
    exact : int
        The number of these that were compared bit for bit.
    platforms : dict
        The number of drawn cells, by difference of platform or code.
    unchecked : dict
        Cells that were not checked, by reason.
    mismatches : list of Mismatch
    """

    cells: int
    share: float
    seed: int
    checkable: int = 0
    drawn: int = 0
    recomputed: list[str] = field(default_factory=list)
    exact: int = 0
    platforms: Counter[str] = field(default_factory=Counter)
    unchecked: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    mismatches: list[Mismatch] = field(default_factory=list)

    def facts(self) -> Mapping[str, Any]:
        """Return the attributes as plain values, and ``verified``."""
        return {"verified": bool(self.recomputed) and not self.mismatches, **plain(self)}


def verify(
    store: Path,
    registry: Registry,
    *,
    share: float,
    seed: int = 0,
    folders: Sequence[Path] = (),
    workers: int = 1,
    limits: Limits | None = None,
    quiet: bool = False,
) -> Verification:
    """Compute a random share of the cells again, and compare.

    Parameters
    ----------
    store : Path
        It is only read.
    registry : Registry
        No other code runs.
    share : float
        The part of the cells, rounded up.
    seed : int
        See `order`.
    folders : sequence of Path
        Files in them that the store names may be read.
    workers, limits, quiet
        As for `orthobench.run`.

    Raises
    ------
    StoreError
        If the store is damaged.
    """
    with Store(store) as opened:
        runs, sessions = list(opened.runs()), opened.sessions()
    result, here = Verification(len(runs), share, seed), environment.snapshot()
    able: dict[str, tuple[Run, Cell]] = {}
    for run in runs:
        try:
            able[run.key] = run, rebuilt(run.identity.content, registry, folders)
        except OrthobenchError as error:
            result.unchecked[str(error)].append(called(run))
    result.checkable = len(able)
    drawn = [able[key] for key in order(able, seed)[: math.ceil(share * len(able))]]
    result.drawn = len(drawn)
    for run, cell, outcome in _computed(drawn, workers, limits, quiet):
        machine = sessions[run.session]["environment"]
        _judge(run, cell, outcome, platform_differences(run, cell, machine, here), result)
    result.mismatches.sort(key=lambda one: (one.cell, one.key))
    return result


def order(keys: Iterable[str], seed: int) -> list[str]:
    """Return keys by the SHA-256 of ``"SEED KEY"``, so that a larger share has the smaller one."""
    return sorted(keys, key=lambda key: digest(f"{seed} {key}"))


def lines(result: Verification) -> Iterator[str]:
    """Yield the lines of text about a verification."""
    again = len(result.recomputed)
    yield (
        f"{plural(result.cells, 'cell')}, of which {result.checkable:,} can be computed here; "
        f"{result.drawn:,} drawn (share {result.share:g}, seed {result.seed})"
    )
    yield (
        f"{plural(again, 'cell')} came out again: {result.exact:,} bit for bit, "
        f"{again - result.exact:,} within tolerance"
    )
    for text, count in result.platforms.items():
        yield f"  {plural(count, 'cell')} on another platform or by other code: {text}"
    if result.mismatches:
        yield f"{len(result.mismatches):,} values did not:"
        yield from (f"  {one}" for one in result.mismatches)
    for reason, cells in result.unchecked.items():
        yield f"{plural(len(cells), 'cell')} not checked, such as {cells[0]}: {reason}"
    if result.mismatches:
        yield "next: ask the author of the store about these values before you use any"
    elif result.drawn < result.checkable:
        yield "next: --share 1 computes all cells again, --seed N others"


def called(run: Run) -> str:
    """Return the name of a run, with the beginning of its key."""
    return f"{run.label} (cell {run.key[:12]})"


def _computed(
    drawn: Sequence[tuple[Run, Cell]], workers: int, limits: Limits | None, quiet: bool
) -> Iterator[tuple[Run, Cell, Outcome]]:
    """Yield each run and cell with its outcome here, from processes."""
    cells = [_bounded(cell, run) for run, cell in drawn]
    runs = {id(cell): run for cell, (run, _) in zip(cells, drawn, strict=True)}
    with Progress(quiet) as progress:
        progress.expect(len(cells))
        for threads, group in grouped(cells, lambda cell: cell.threads).items():
            for event in local.run(group, workers, threads, limits or Limits()):
                run = runs[id(event.cell)]
                if event.outcome is None:
                    progress.begin(run.label, event.worker)
                else:
                    progress.end(run.label, False, event.worker)
                    yield run, event.cell, event.outcome


def _bounded(cell: Cell, run: Run) -> Cell:
    """Return a cell with a budget in steps that repeats the stored run.

    It ends at the last step if a clock cut the run, and otherwise beyond the next checkpoint, so
    that a run can end by itself.
    """
    last = run.trace[-1].work.steps if run.trace else 0
    beyond = max(last + 1, int(RATIO * last)) + 1
    cut = _cut_by_clock(run) and run.stop.status not in (
        RunStatus.DONE, RunStatus.DIVERGED, RunStatus.INFEASIBLE, RunStatus.ERROR
    )  # fmt: skip
    steps = min(cell.budget.steps, last if cut else beyond)
    return replace(cell, budget=replace(cell.budget, steps=steps, seconds=math.inf))


def _cut_by_clock(run: Run) -> bool:
    """Return whether a clock or its process may have cut a run."""
    return "seconds" in run.budget or run.stop.status in OF_MACHINE


def _judge(
    run: Run, cell: Cell, outcome: Outcome, elsewhere: Sequence[str], result: Verification
) -> None:
    """Compare a run with its outcome here, and count it."""
    result.platforms.update(elsewhere)
    exact = not elsewhere and not cell.solver.place.moves
    first: dict[str, Mismatch] = {}
    for metric, step, *values in _differences(run, outcome, cell.solver.place.dtype, exact):
        first.setdefault(metric, Mismatch(run.key, called(run), metric, step, *values))
    machine = next((s for s in (run.stop, outcome.stop) if s.status in OF_MACHINE), None)
    if first:
        result.mismatches += first.values()
    elif machine is not None:
        why = f"its ending, {machine.status.value}, is a matter of the machine"
        result.unchecked[f"{why}: {machine.reason:.200}"].append(called(run))
    else:
        result.recomputed.append(run.key)
        result.exact += exact


def _differences(
    run: Run, outcome: Outcome, dtype: str, exact: bool
) -> Iterator[tuple[str, int | None, Any, Any]]:
    """Yield each difference: metric, step, stored value and value here."""
    stored, again = tuple(run.trace), outcome.trace
    of_machine = {run.stop.status, outcome.stop.status} & {*OF_MACHINE}
    cut = _cut_by_clock(run) and run.stop.status in (RunStatus.BUDGET, RunStatus.TARGET)
    excused = of_machine or (cut and not outcome.stop.status.failed)
    if run.stop.status is not outcome.stop.status and not excused:
        here = f"{outcome.stop.status.value}: {outcome.stop.reason:.200}"
        yield "ending", None, run.stop.status.value, here
    by_steps = {mark.work.steps: mark for mark in again}
    pairs = [(m, by_steps[m.work.steps]) for m in stored if m.work.steps in by_steps]
    if exact and not (_cut_by_clock(run) or of_machine):
        if len(stored) != len(again):
            yield "checkpoints", None, len(stored), len(again)
        pairs = list(zip(stored, again, strict=False))
    elif stored and again and outcome.stop.status.ok:
        too_short = stored[-1].work.steps > again[-1].work.steps
        pairs += [(stored[-1], again[-1])] if too_short or not exact else []
    rule = EXACT if exact else PLATFORMS[dtype]
    for old, new in pairs:
        step = old.work.steps
        if exact or step == new.work.steps:
            for name in COUNTS:
                if (a := getattr(old.work, name)) != (b := getattr(new.work, name)):
                    yield name, step, a, b
        for metric, x, y in differences(old.metrics, new.metrics, again[0].metrics, rule, MEASURED):
            yield metric, step, x, y


def rebuilt(content: Mapping[str, Any], registry: Registry, folders: Sequence[Path] = ()) -> Cell:
    """Return the cell with a content.

    Parameters
    ----------
    content : mapping
        `Identity.content` of a run.
    registry : Registry
        The solvers and problems that a store can name.
    folders : sequence of Path
        Files in them that the store names may be read.

    Raises
    ------
    OrthobenchError
        If it cannot be run here, or would be another cell, for instance with other data.
    """
    if "imported" in content:
        raise UsageError("it was imported, and only its own harness can repeat it")
    try:
        cell = _cell(content, registry, folders)
        here = cell.content
    except OrthobenchError:
        raise
    except (TypeError, ValueError, LookupError, ArithmeticError) as error:
        raise UsageError(f"no cell has such values: {error!s:.200}") from None
    for part in sorted({*content, *here} - {*MAY_DIFFER}):
        if content.get(part) != here.get(part):
            raise UsageError(f"its {part} is another here: that of {cell.label}")
    return cell


def _cell(content: Mapping[str, Any], registry: Registry, folders: Sequence[Path]) -> Cell:
    (problem_name, of_problem), (solver_name, of_solver) = (
        (content[kind]["name"], content[kind]["parameters"]) for kind in ("problem", "solver")
    )
    for parameters in (of_problem, of_solver):
        refuse_files(parameters, folders)
    problem = registry.problem(problem_name, of_problem)
    solver = registry.solver(solver_name, of_solver, problem.offers)
    if missing := solver.missing_packages():
        raise UsageError(f"solver {solver.name}: {missing}")
    if solver.place.address:
        raise UsageError("a store names no cluster, whose owner could run code here")
    if why := solver.place.missing():
        raise UsageError(f"nothing can be computed on {solver.place}: {why}")
    version = registry.problems[problem_name].version
    entry = SuiteProblem(problem, problem_name, Budget(**content["budget"]), version)
    version = registry.solver_class(solver_name, problem.offers).version
    method = SuiteSolver(solver, solver_name, {}, version)
    target = None if content["until"] is None else Target(**content["until"])
    seeds, threads = (content["seed"],), content["threads"]
    (cell,) = Suite("", (entry,), (method,), seeds, threads=threads, target=target).cells()
    return cell


def platform_differences(
    run: Run, cell: Cell, there: Mapping[str, Any], here: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the differences of platform and code between a stored run and its cell here.

    Parameters
    ----------
    run : Run
    cell : Cell
    there, here : mapping
        The environments of the run's session and of this process.
    """
    old, new = _platform(run.identity.content, there), _platform(cell.content, here)
    return tuple(
        f"{name} {old.get(name) or 'none'!s:.80} there, {new.get(name) or 'none'!s:.80} here"
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    )


def _platform(content: Mapping[str, Any], environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return, by name, what the bits of a result depend on beside the cell and its data."""
    packages = environment.get("packages") or {}
    system = str(environment.get("platform") or "").split("-")
    return {
        **{f"code of {name}": digest for name, digest in (content.get("code") or {}).items()},
        "BLAS": content.get("blas"),
        **content.get("versions", {}),
        "device": content.get("place"),
        "processor": environment.get("cpu"),
        "system": "-".join([system[0], *system[-3:]]),
        "Python": ".".join(str(environment.get("python", "")).split(".")[:2]),
        **{name: packages.get(name) for name in PACKAGES},
    }
