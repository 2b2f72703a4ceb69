"""The comparison as a whole: what both sides show, the three questions, and their answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from orthobench.compare import exact
from orthobench.compare.comparison import (
    Answer,
    Change,
    Compared,
    Comparison,
    Question,
    Side,
    Tolerance,
)
from orthobench.compare.curves import Curve, Key
from orthobench.compare.shown import Shown, Wanted, again, shown
from orthobench.compare.timing import interleave, timed
from orthobench.compare.timing.process import Process
from orthobench.errors import UsageError
from orthobench.tools import environment

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What to compare, and how long.

    Attributes
    ----------
    suite : str or Path, optional
        Name or file; without one `orthobench.compare.shown.SUITE`, or the latest of a store.
    tolerance : Tolerance
    budget : float
        Wall seconds for timing, after everything else.
    solvers, problems : tuple of str
        Names; only these, where any are given.
    seeds : int, optional
        Instead of the suite's.
    clock : str
        ``"cpu"`` or ``"wall"``.
    patience : float
        Seconds after which a run is killed, and has failed.
    """

    suite: str | Path | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    budget: float = 90.0
    solvers: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    seeds: int | None = None
    clock: str = "cpu"
    patience: float = 600.0


def compare(base: Side, head: Side, options: Options, tell: Tell) -> Comparison:
    """Compare two sides on the cells of a suite.

    Parameters
    ----------
    base, head : Side
    options : Options
    tell : callable
        Is told what is being done.

    Raises
    ------
    UsageError
        Where the suite is unknown to both sides, or nothing of it is left to compare.
    """
    begin = time.monotonic()
    wanted = Wanted(
        options.suite, options.solvers, options.problems, options.seeds, options.clock,
        options.patience,
    )  # fmt: skip
    old, new = shown(base, head, wanted, tell)
    keys = list(dict.fromkeys([*old.curves, *new.curves]))
    if not keys:
        raise UsageError("nothing to compare: neither side has a cell that can be run")
    found = {key: _exact(old, new, key, options.tolerance) for key in keys}
    _doubt((base, head), (old, new), found, wanted, tell)
    cells = _timed(old, new)
    timing = interleave.Timing(
        options.tolerance.time, options.budget, options.clock, old.threads, options.patience
    )
    rounds = _time((base, head), cells, (old, new), timing, tell)
    answers = timed.answers(list(cells.values()), timing.tolerance)
    for key, cell in cells.items():
        found[key][Question.TIME] = answers[cell.key]
    compared = tuple(Compared(*key, found[key]) for key in keys)
    return Comparison(
        base, head, old.suite, options.tolerance, compared, rounds,
        time.monotonic() - begin, environment.snapshot(), _notes(base, head, old, new),
    )  # fmt: skip


def _exact(old: Shown, new: Shown, key: Key, tolerance: Tolerance) -> dict[Question, Answer]:
    if key not in new.curves:
        gone = Answer(Change.WORSE, said=f"HEAD does not have it: {new.why(key)}")
        return {Question.RESULT: gone}
    if key not in old.curves:
        return {Question.RESULT: Answer(Change.NONE, said=f"new in HEAD; BASE: {old.why(key)}")}
    if key in old.by_the_clock:
        said = "its budget is in seconds, so that its results depend on the machine"
        return dict.fromkeys((Question.RESULT, Question.WORK), Answer(Change.NONE, said=said))
    base, head = old.curves[key], new.curves[key]
    return {
        Question.RESULT: exact.result(base, head, tolerance.result),
        Question.WORK: exact.work(base, head, tolerance.work),
    }


def _doubt(
    sides: tuple[Side, Side],
    both: tuple[Shown, Shown],
    found: Mapping[Key, dict[Question, Answer]],
    wanted: Wanted,
    tell: Tell,
) -> None:
    """Run cells that changed once more, and withdraw answers where a side contradicts itself."""
    keys = [key for key, answers in found.items() if _changed(answers)]
    for name, side, one in zip(("BASE", "HEAD"), sides, both, strict=True):
        doubted = [key for key in keys if key in one.curves and not one.curves[key].failed]
        if side.python is None or not doubted:
            continue
        tell(f"running {len(doubted)} cells that changed on {name} again")
        for key, curve in again(side, one, doubted, wanted).items():
            if not curve.equals(one.curves[key]):
                said = f"{name} is not reproducible: two runs with the same seed differ"
                found[key].update(dict.fromkeys(found[key], Answer(Change.NONE, said=said)))


def _changed(answers: Mapping[Question, Answer]) -> bool:
    return any(answer.change in (Change.WORSE, Change.BETTER) for answer in answers.values())


def _timed(old: Shown, new: Shown) -> dict[Key, timed.Timed]:
    """Return the cells to time: one seed of each problem and solver that both sides finish."""
    cells: dict[Key, timed.Timed] = {}
    seen: set[tuple[str, str]] = set()
    for key in old.keys:
        if key[:2] in seen or key not in new.keys:
            continue
        base, head = old.curves[key], new.curves[key]
        if base.failed or head.failed or not (base.steps and head.steps):
            continue
        seen.add(key[:2])
        cells[key] = timed.Timed(old.keys[key], (base.steps, head.steps), _units(base, head))
    return cells


def _units(base: Curve, head: Curve) -> tuple[float, float]:
    """Return the units of work of both runs: samples where they draw any, else steps."""
    samples = (base.samples, head.samples)
    return samples if all(samples) else (base.steps, head.steps)


def _time(
    sides: tuple[Side, Side],
    cells: Mapping[Key, timed.Timed],
    both: tuple[Shown, Shown],
    timing: interleave.Timing,
    tell: Tell,
) -> int:
    start = partial(_started, both[0], timing)
    return interleave.measure(sides, list(cells.values()), timing, start, tell) if cells else 0


def _started(shown: Shown, timing: interleave.Timing, side: Side) -> Process:
    process = Process(side, timing.clock, timing.threads, timing.patience)
    process.send("plan", **shown.request)
    return process


def _notes(base: Side, head: Side, old: Shown, new: Shown) -> tuple[str, ...]:
    notes = [*old.notes, *(note for note in new.notes if note not in old.notes)]
    if base.store or head.store:
        notes.append(
            "seconds are not compared: a store's were taken at another time, under other load"
        )
    if old.code and old.code == new.code:
        notes.append(
            "no cell runs a solver, a problem or a harness that differs between BASE and HEAD; "
            "name a suite with what did change"
        )
    return tuple(notes)
