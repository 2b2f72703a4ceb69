"""A comparison as a whole: the cells of both sides, three questions about each, the answers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

from orthobench.compare import timing
from orthobench.compare.cells import Progress, SideCells, collect, run_again
from orthobench.compare.comparison import Comparison, Options, Question, Row, Tolerance
from orthobench.compare.process import SideProcess
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
from orthobench.results.runs import Run
from orthobench.stats.run_pairs import (
    Change,
    Finding,
    Key,
    compare_results,
    compare_work,
    is_reproducible,
    pairs,
    repeats,
)
from orthobench.tools import environment
from orthobench.tools.places import TOLERANCES

UNTIMED = Finding(
    Change.NONE, explanation="seconds of the processor say nothing about a GPU: take --clock wall"
)
"""The answer about the time of a cell on a GPU, where processor time is compared."""

GPU_NOTE = (
    "equal runs differ on a GPU: there, values that differ by less than "
    + " or ".join(f"{part:g} ({dtype})" for dtype, part in TOLERANCES.items())
    + " of BASE's count as the same"
)


def compare(base: Side, head: Side, options: Options, progress: Progress) -> Comparison:
    """Compare two sides on the cells of a suite.

    Parameters
    ----------
    base, head : Side
    options : Options
    progress : callable
        Called with what is being done.

    Raises
    ------
    UsageError
        Where the suite is unknown to both sides, or nothing of it is left to compare.
    ChangedError
        Where a side is not what was built any more.
    """
    begin = time.monotonic()
    sides = (base, head)
    both = old, new = collect(base, head, options, progress)
    keys = list(pairs(old.runs, new.runs))
    if not keys:
        raise UsageError("nothing to compare: neither side has a cell that can be run")
    found = {key: _exact(old, new, key, options.tolerance) for key in keys}
    _withdraw_irreproducible(sides, both, found, options, progress)
    cells = _cells_to_time(old, new, options.clock)
    rounds = _time(sides, both, list(cells.values()), options, progress)
    for side in sides:
        side.check()
    answers = timing.findings(list(cells.values()), options.tolerance.time)
    for key, cell in cells.items():
        found[key][Question.TIME] = answers[cell.key]
    for key in old.worker_keys if options.clock == "cpu" else ():
        if _on_gpu(old, new, key):
            found[key][Question.TIME] = UNTIMED
    rows = (Row(asked, *key, answer) for key in keys for asked, answer in found[key].items())
    notes = _notes(base, head, old, new, any(map(_changed, found.values())))
    return Comparison(
        base, head, old.suite, options.tolerance, tuple(rows), rounds,
        time.monotonic() - begin, environment.snapshot(), notes,
    )  # fmt: skip


def _exact(
    old: SideCells, new: SideCells, key: Key, tolerance: Tolerance
) -> dict[Question, Finding]:
    """Return the answers to the questions that do not depend on a clock."""
    if key not in new.runs:
        gone = f"HEAD does not have it: {new.why_absent(key)}"
        return {Question.RESULT: Finding(Change.WORSE, explanation=gone)}
    if key not in old.runs:
        added = f"new in HEAD; BASE: {old.why_absent(key)}"
        return {Question.RESULT: Finding(Change.NONE, explanation=added)}
    if key in old.in_seconds:
        why = "its budget is in seconds, so that its results depend on the machine"
        answer = Finding(Change.NONE, explanation=why)
        return dict.fromkeys((Question.RESULT, Question.WORK), answer)
    base, head = old.runs[key], new.runs[key]
    return {
        Question.RESULT: compare_results(base, head, tolerance.result),
        Question.WORK: compare_work(base, head, tolerance.work),
    }


def _withdraw_irreproducible(
    sides: tuple[Side, Side],
    both: tuple[SideCells, SideCells],
    found: Mapping[Key, dict[Question, Finding]],
    options: Options,
    progress: Progress,
) -> None:
    """Run cells that changed once more, and withdraw answers where a side contradicts itself."""
    keys = [key for key, answers in found.items() if _changed(answers)]
    for name, side, cells in zip(("BASE", "HEAD"), sides, both, strict=True):
        doubtful = [key for key in keys if key in cells.runs and not cells.runs[key].failed]
        if side.python is None or not doubtful:
            continue
        progress(f"running {len(doubtful)} cells that changed on {name} again")
        for key, run in run_again(side, cells, doubtful, options).items():
            if not repeats(run, cells.runs[key]):
                why = f"{name} is not reproducible: two runs with the same seed differ"
                found[key].update(dict.fromkeys(found[key], Finding(Change.NONE, explanation=why)))


def _changed(answers: Mapping[Question, Finding]) -> bool:
    return any(answer.change in (Change.WORSE, Change.BETTER) for answer in answers.values())


def _on_gpu(old: SideCells, new: SideCells, key: Key) -> bool:
    """Return whether a cell of both sides was computed on a GPU."""
    both = old.runs.get(key), new.runs.get(key)
    return both[0] is not None and both[1] is not None and not is_reproducible(both[0], both[1])


def _cells_to_time(old: SideCells, new: SideCells, clock: str) -> dict[Key, timing.TimedCell]:
    """Return one seed of each problem and solver that both sides finish, and the clock can time."""
    cells: dict[Key, timing.TimedCell] = {}
    seen: set[tuple[str, str]] = set()
    for key in old.worker_keys:
        if key[:2] in seen or key not in new.worker_keys:
            continue
        if clock == "cpu" and _on_gpu(old, new, key):
            continue
        base, head = old.runs[key], new.runs[key]
        steps = _totals(base, head, "steps")
        if base.failed or head.failed or not all(steps):
            continue
        seen.add(key[:2])
        # a unit of work is a sample where both draw any, else a step
        samples = _totals(base, head, "samples")
        units = samples if all(samples) else steps
        cells[key] = timing.TimedCell(old.worker_keys[key], steps, units)
    return cells


def _totals(base: Run, head: Run, name: str) -> tuple[int, int]:
    """Return a count of work of both whole runs."""
    old, new = (getattr(run.trace[-1].work, name) if run.trace else 0 for run in (base, head))
    return int(old), int(new)


def _time(
    sides: tuple[Side, Side],
    both: tuple[SideCells, SideCells],
    cells: list[timing.TimedCell],
    options: Options,
    progress: Progress,
) -> int:
    """Time cells side by side; return the number of rounds."""
    if not cells:
        return 0
    start = partial(_started, both[0], options)
    return timing.measure(sides, cells, options.tolerance.time, options.budget, start, progress)


def _started(cells: SideCells, options: Options, side: Side) -> SideProcess:
    process = SideProcess(side, options.clock, cells.threads, options.patience)
    process.request("plan", **cells.request)
    return process


def _notes(
    base: Side, head: Side, old: SideCells, new: SideCells, changed: bool
) -> tuple[str, ...]:
    same = (base.kind, base.detail) == (head.kind, head.detail)
    notes = ["BASE and HEAD are the same: what differs is noise"] if same else []
    notes += [*old.notes, *(note for note in new.notes if note not in old.notes)]
    if base.store or head.store:
        notes.append(
            "seconds are not compared: a store's were taken at another time, under other load"
        )
    if any(_on_gpu(old, new, key) for key in old.runs):
        notes.append(GPU_NOTE)
    if old.code and old.code == new.code and not changed:
        notes.append(
            "no cell runs a solver, a problem or a harness that differs between BASE and HEAD; "
            "name a suite with what did change"
        )
    elif old.code and old.code == new.code:
        notes.append("cells differ though their code is the same: something else differs")
    return tuple(notes)
