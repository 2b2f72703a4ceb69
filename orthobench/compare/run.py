"""A comparison as a whole: the cells of both sides, six questions about them, the answers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from orthobench.compare import timing
from orthobench.compare.cells import (
    Progress,
    SideCells,
    changes_of,
    collect,
    run_again,
    unchanged,
)
from orthobench.compare.changes import Changes
from orthobench.compare.comparison import UNTOUCHED, Comparison, Options, Question, Row
from orthobench.compare.process import SideError, SideProcess
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
from orthobench.stats import run_pairs
from orthobench.stats.run_pairs import Change, Finding, Key, is_reproducible
from orthobench.tools import environment
from orthobench.tools.formatting import listed, plural
from orthobench.tools.places import TOLERANCES

Answers = dict[Question, Finding]

OF_CELLS = tuple(asked for asked in Question if asked is not Question.IMPORT)


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
        If the suite is unknown to both sides, or nothing of it is left to compare.
    ChangedError
        If a side is not what was built any more.
    """
    begin = time.monotonic()
    both = collect([base, head], options, progress)
    old, new = both
    same, changes = unchanged(both, options), changes_of(both)
    keys = list({**old.content, **new.content, **run_pairs.pairs(old.runs, new.runs)})
    if not keys:
        reasons = dict.fromkeys(reason for cells in both for _, _, reason in cells.absent)
        raise UsageError(f"nothing to compare: {'; '.join(reasons) or 'the suite has no cells'}")
    found: dict[Key, Answers] = {
        key: dict.fromkeys(OF_CELLS, UNTOUCHED) if key in same else _exact(old, new, key, options)
        for key in keys
    }
    _blame_irreproducible(both, found, options, progress)
    measured = _time(both, found, options, progress)
    rows = [Row(asked, *key, answer) for key in keys for asked, answer in found[key].items()]
    rows += _imports(both, changes, options, progress)
    for cells in both:
        cells.side.check()
    machine = environment.snapshot()
    machine["packages"] = {"base": old.facts["installed"], "head": new.facts["installed"]}
    return Comparison(
        base, head, old.request["name"], options, tuple(rows), measured.rounds,
        time.monotonic() - begin, machine,
        tuple(_notes(both, found, len(same), measured)), changes,
    )  # fmt: skip


def _exact(old: SideCells, new: SideCells, key: Key, options: Options) -> Answers:
    """Return the answers to the questions that do not depend on a clock."""
    base, head = old.runs.get(key), new.runs.get(key)
    if head is None:
        gone = f"HEAD does not have it: {new.why_absent(key)}"
        return {Question.RESULT: Finding(Change.WORSE, explanation=gone)}
    if base is None:
        added = f"new in HEAD; BASE: {old.why_absent(key)}"
        return {Question.RESULT: Finding(Change.NEW, explanation=added)}
    late = [run.stop.reason for run in (base, head) if run.stop.status.absent]
    if late:
        return {Question.RESULT: Finding(Change.NONE, explanation=f"not run: {late[0]}")}
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
    """Run cells that changed once more, and withdraw what a side contradicts itself about.

    If HEAD alone does so, that is a regression.
    """
    moved = {Change.WORSE, Change.BETTER, Change.MIXED}
    keys = [key for key, answers in found.items()
            if moved & {one.change for one in answers.values()}]  # fmt: skip
    doubtful: dict[Key, list[str]] = {}
    for name, cells in zip(("BASE", "HEAD"), both, strict=True):
        ran = [key for key in keys if key in cells.runs and not cells.runs[key].failed]
        if not ran:
            continue
        progress(f"running {plural(len(ran), 'cell')} that changed on {name} again")
        for key, run in run_again(cells, options, progress, ran).items():
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
) -> timing.Measured:
    """Time one seed of each problem and solver that both sides finish."""
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
            if all(steps):  # a unit of work is a sample if both draw any, else a step
                units = samples if all(samples) else steps
                tolerance = options.tolerated(*key[:2])
                timed = timing.TimedCell(key, steps, units, tolerance=tolerance)
                cells.setdefault(key[:2], timed)
    start = partial(SideProcess, options=options, request=old.request)
    measured = timing.measure([old.side, new.side], [*cells.values()], options, start, progress)
    for key, answers in timing.findings([*cells.values()]).items():
        found[key].update(answers)
    return measured


def _imports(
    both: Sequence[SideCells], changes: Changes, options: Options, progress: Progress
) -> list[Row]:
    """Return the answers about importing the projects, each time in a fresh process."""
    rows = []
    old, new = map(_importable, both)
    for project in (name for name in old if name in new):
        progress(f"importing {project}")
        seen: list[timing.Pair] = []
        answer = UNTOUCHED
        differs = options.every or changes.at_import
        tolerance = options.tolerated("", project)
        try:
            while differs and len(seen) < timing.OBSERVED[Question.IMPORT]:
                names = (old[project], new[project])
                order = (1, 0) if len(seen) % 2 else (0, 1)
                seconds = {i: _import(both[i].side, names[i], options) for i in order}
                seen.append((seconds[0], seconds[1]))
                answer = timing.few(Question.IMPORT, seen, tolerance)
                if answer.change is not Change.UNDECIDED and answer.ratio > 0.5:
                    break
        except SideError as error:
            answer = Finding(Change.NONE, explanation=f"cannot be imported: {error}")
        rows.append(Row(Question.IMPORT, "", project, 0, answer))
    return rows


def _importable(cells: SideCells) -> dict[str, list[str]]:
    """Return the modules of each project that are imported: of a library those that runs import."""
    tops, libraries = {name.partition(".")[0] for name in cells.imported}, cells.facts["libraries"]
    found = {
        project: [name for name in names if project not in libraries or name in tops]
        for project, names in cells.facts["modules"].items()
    }
    return {project: names for project, names in found.items() if names}


def _import(side: Side, modules: Sequence[str], options: Options) -> float:
    with SideProcess(side, options) as process:
        return float(process.ask("imported", modules=modules)["seconds"])


def _notes(
    both: Sequence[SideCells], found: Mapping[Key, Answers], untouched: int,
    measured: timing.Measured,
) -> list[str]:  # fmt: skip
    old, new = both
    parts = " or ".join(f"{part:g} ({dtype})" for dtype, part in TOLERANCES.items())
    notes = {
        f"{untouched:,} of {len(found):,} cells were neither run nor timed, since nothing of them "
        "differs; --all does both":
            untouched,
        "the budget was doubled once for times that were undecided": measured.prolonged,
        "equal runs differ on a GPU: there, values that differ by less than "
        f"{parts} of BASE's count as the same":
            not all(is_reproducible(run, new.runs.get(key, run)) for key, run in old.runs.items()),
    }  # fmt: skip
    said = [note for note, holds in notes.items() if holds]
    return list(dict.fromkeys([*said, *old.notes, *new.notes]))
