"""Compares two sides: runs and times their cells, and answers the questions about them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from orthobench.compare import timing
from orthobench.compare.cells import Progress, SideCells, collect, run_again, unchanged
from orthobench.compare.changes import between
from orthobench.compare.comparison import UNTOUCHED, Comparison, Row
from orthobench.compare.options import Options, Question
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
from orthobench.stats import run_pairs
from orthobench.stats.run_pairs import Change, Finding, Key, is_reproducible
from orthobench.tools import environment
from orthobench.tools.formatting import listed

Answers = dict[Question, Finding]


def compare(base: Side, head: Side, options: Options, progress: Progress) -> Comparison:
    """Compare two sides on the cells of a suite.

    Raises
    ------
    UsageError
        If a side does not import its own code or cannot plan the suite; if the suite is unknown
        to both sides, or has no cell that either side can plan.
    """
    begin, sides = time.monotonic(), (base, head)
    old, new = both = collect(sides, options, progress)
    same, changes = unchanged(both, options), between(old, new)
    keys = list({**old.content, **new.content})
    if not keys:
        reasons = dict.fromkeys(reason for cells in both for _, _, reason in cells.absent)
        raise UsageError(f"nothing to compare: {'; '.join(reasons) or 'the suite has no cells'}")
    untouched: Answers = {asked: UNTOUCHED for asked in Question if asked is not Question.IMPORT}
    found: dict[Key, Answers] = {
        key: {**untouched} if key in same else _exact(old, new, key, options) for key in keys
    }
    _blame_irreproducible(both, found, options, progress)
    rounds = _time(both, found, options, progress)
    rows = [Row(asked, *key, answer) for key in keys for asked, answer in found[key].items()]
    for project in old.importable:
        if project in new.importable:
            progress(f"importing {project}")
            asked = options.every or changes.at_import
            modules = [cells.importable[project] for cells in both]
            answer = timing.importing(project, modules, sides, options) if asked else UNTOUCHED
            rows.append(Row(Question.IMPORT, "", project, 0, answer))
    machine = environment.snapshot()
    machine["packages"] = {"base": old.facts["installed"], "head": new.facts["installed"]}
    note = (f"{len(same):,} of {len(found):,} cells were neither run nor timed, since nothing of "
            "them differs; --all does both")  # fmt: skip
    return Comparison(
        base, head, old.request["name"], options, tuple(rows), rounds, time.monotonic() - begin,
        machine, (note,) if same else (), changes,
    )  # fmt: skip


def _exact(old: SideCells, new: SideCells, key: Key, options: Options) -> Answers:
    """Return the answers about result and work."""
    base, head = old.runs.get(key), new.runs.get(key)
    if head is None:
        gone = f"HEAD does not have it: {new.why_absent(key)}"
        return {Question.RESULT: Finding(Change.WORSE, explanation=gone)}
    if base is None:
        added = f"new in HEAD; BASE: {old.why_absent(key)}"
        return {Question.RESULT: Finding(Change.NEW, explanation=added)}
    tolerance = options.tolerated(*key[:2])
    answers = {Question.RESULT: run_pairs.compare_results(base, head, tolerance["result"])}
    if not (base.failed or head.failed):
        work = run_pairs.compare_work(base, head, tolerance["work"])
        if work.change is Change.WORSE and answers[Question.RESULT].change is Change.BETTER:
            work = replace(work, change=Change.MIXED)
        answers[Question.WORK] = work
    return answers


def _blame_irreproducible(
    both: Sequence[SideCells], found: Mapping[Key, Answers], options: Options, progress: Progress
) -> None:
    """Run changed cells again, and withdraw answers about runs that are not repeated.

    If only HEAD does not repeat its run, that is a regression.
    """
    moved = {Change.WORSE, Change.BETTER, Change.MIXED}
    keys = [key for key, answers in found.items()
            if moved & {one.change for one in answers.values()}]  # fmt: skip
    doubtful: dict[Key, list[str]] = {}
    for name, cells in zip(("BASE", "HEAD"), both, strict=True):
        ran = [key for key in keys if key in cells.runs and not cells.runs[key].failed]
        again = run_again(cells, options, progress, ran) if ran else {}
        for key, run in again.items():
            if not run_pairs.repeats(run, cells.runs[key]):
                doubtful.setdefault(key, []).append(name)
    for key, names in doubtful.items():
        why = f"two runs of {listed(names)} with the same seed differ"
        change = Change.NONE
        if names == ["HEAD"]:
            why, change = f"{why}; those of BASE repeat their bits", Change.WORSE
        found[key].pop(Question.WORK, None)
        found[key][Question.RESULT] = Finding(change, explanation=why)


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
        elif cell := timing.timed_cell(key, base, head, options):
            cells.setdefault(key[:2], cell)
    sides = old.side, new.side
    rounds = timing.measure(sides, [*cells.values()], options, old.request, progress)
    for key, answers in timing.findings([*cells.values()]).items():
        found[key].update(answers)
    return rounds
