"""A comparison as a whole: the cells of both sides, three questions about each, the answers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial

from orthobench.compare import timing
from orthobench.compare.cells import Progress, SideCells, collect, run_cells, unchanged
from orthobench.compare.comparison import Comparison, Options, Question, Row
from orthobench.compare.process import SideProcess
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
from orthobench.stats import run_pairs
from orthobench.stats.run_pairs import Change, Finding, Key, is_reproducible
from orthobench.tools import environment
from orthobench.tools.places import TOLERANCES

Answers = dict[Question, Finding]

UNTOUCHED = Finding(Change.SAME, explanation="neither run nor timed: nothing of it differs")


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
    both = collect([base, head], options, progress)
    old, new = both
    same = unchanged(both, options)
    keys = list({**old.content, **new.content, **run_pairs.pairs(old.runs, new.runs)})
    if not keys:
        reasons = dict.fromkeys(reason for cells in both for _, _, reason in cells.absent)
        raise UsageError(f"nothing to compare: {'; '.join(reasons) or 'the suite has no cells'}")
    found = {
        key: dict.fromkeys(Question, UNTOUCHED) if key in same
        else _exact(old, new, key, options.tolerance) for key in keys
    }  # fmt: skip
    _withdraw_irreproducible(both, found, options, progress)
    rounds = _time(both, found, options, progress)
    for cells in both:
        cells.side.check()
    rows = (Row(asked, *key, answer) for key in keys for asked, answer in found[key].items())
    return Comparison(
        base, head, old.request["name"], options, tuple(rows), rounds,
        time.monotonic() - begin, environment.snapshot(), tuple(_notes(both, found, len(same))),
    )  # fmt: skip


def _exact(old: SideCells, new: SideCells, key: Key, tolerance: Mapping[str, float]) -> Answers:
    """Return the answers to the questions that do not depend on a clock."""
    base, head = old.runs.get(key), new.runs.get(key)
    if head is None:
        gone = f"HEAD does not have it: {new.why_absent(key)}"
        return {Question.RESULT: Finding(Change.WORSE, explanation=gone)}
    if base is None:
        added = f"new in HEAD; BASE: {old.why_absent(key)}"
        return {Question.RESULT: Finding(Change.NONE, explanation=added)}
    return {
        Question.RESULT: run_pairs.compare_results(base, head, tolerance["result"]),
        Question.WORK: run_pairs.compare_work(base, head, tolerance["work"]),
    }


def _withdraw_irreproducible(
    both: Sequence[SideCells], found: Mapping[Key, Answers], options: Options, progress: Progress
) -> None:
    """Run cells that changed once more, and withdraw answers where a side contradicts itself."""
    changes = {key: {one.change for one in answers.values()} for key, answers in found.items()}
    keys = [key for key, seen in changes.items() if seen & {Change.WORSE, Change.BETTER}]
    for name, cells in zip(("BASE", "HEAD"), both, strict=True):
        doubtful = [key for key in keys if key in cells.runs and not cells.runs[key].failed]
        if not doubtful:
            continue
        progress(f"running {len(doubtful)} cells that changed on {name} again")
        (again,) = run_cells([cells.side], cells.request, options, progress, doubtful)
        for key, run in again.runs.items():
            if not run_pairs.repeats(run, cells.runs[key]):
                why = f"{name} is not reproducible: two runs with the same seed differ"
                found[key].update(dict.fromkeys(found[key], Finding(Change.NONE, explanation=why)))


def _time(
    both: Sequence[SideCells], found: Mapping[Key, Answers], options: Options, progress: Progress
) -> int:
    """Time one seed of each problem and solver that both sides finish; return the rounds."""
    old, new = both
    cells: dict[tuple[str, str], timing.TimedCell] = {}
    for key in (key for key in old.runs if key in new.runs):
        base, head = old.runs[key], new.runs[key]
        if options.clock == "cpu" and not is_reproducible(base, head):
            why = "seconds of the processor say nothing about a GPU: take --clock wall"
            found[key][Question.TIME] = Finding(Change.NONE, explanation=why)
        elif not (base.failed or head.failed) and base.trace and head.trace:
            ends = base.trace[-1].work, head.trace[-1].work
            steps, samples = (ends[0].steps, ends[1].steps), (ends[0].samples, ends[1].samples)
            if all(steps):  # a unit of work is a sample where both draw any, else a step
                units = samples if all(samples) else steps
                cells.setdefault(key[:2], timing.TimedCell(key, steps, units))
    timed = list(cells.values())
    start = partial(SideProcess, options=options, request=old.request)
    sides, limits = [old.side, new.side], (options.tolerance["time"], options.budget)
    rounds = timing.measure(sides, timed, *limits, start, progress)
    for key, answer in timing.findings(timed, options.tolerance["time"]).items():
        found[key][Question.TIME] = answer
    return rounds


def _notes(both: Sequence[SideCells], found: Mapping[Key, Answers], untouched: int) -> list[str]:
    old, new = both
    parts = " or ".join(f"{part:g} ({dtype})" for dtype, part in TOLERANCES.items())
    notes = {
        f"{untouched:,} of {len(found):,} cells were neither run nor timed, since nothing of them "
        "differs; --all does both":
            untouched,
        "equal runs differ on a GPU: there, values that differ by less than "
        f"{parts} of BASE's count as the same":
            not all(is_reproducible(run, new.runs.get(key, run)) for key, run in old.runs.items()),
    }  # fmt: skip
    said = [note for note, holds in notes.items() if holds]
    return list(dict.fromkeys([*said, *old.notes, *new.notes]))
