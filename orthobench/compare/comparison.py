"""A comparison: what was asked for, and a table of findings, one for each question and cell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from orthobench.compare.changes import Changes
from orthobench.compare.sides import Side
from orthobench.results.runs import run_label
from orthobench.stats.run_pairs import Change, Finding, Key
from orthobench.tools.formatting import plural


class Question(Enum):
    """The questions: about every cell, but for the import, which is one of each project."""

    RESULT = "result"
    WORK = "work"
    TIME = "time"
    MEMORY = "memory"
    IMPORT = "import"
    FIRST = "first"


ASKED = {
    Question.RESULT: "is the result worse at the same budget?",
    Question.WORK: "does it take more work to a target?",
    Question.TIME: "does a unit of work take longer?",
    Question.MEMORY: "does a run need more memory?",
    Question.IMPORT: "does importing the project take longer?",
    Question.FIRST: "does the first call take longer than later ones by more?",
}

TOLERANCE: Mapping[str, float] = {
    "result": 0.0, "work": 0.0, "time": 0.03, "memory": 0.1, "import": 0.25, "first": 0.25,
}  # fmt: skip
"""The part of BASE by which a cell may be worse without being a regression, by question.

Result and work are compared exactly, so that their tolerance is zero unless users accept more.
"""

UNTOUCHED = Finding(Change.SAME, explanation="neither run nor timed: nothing of it differs")
"""The answer about a cell of which nothing differs."""

SHORTEST_LIMIT = 60.0
"""Seconds that a run may take in any case."""


@dataclass(frozen=True)
class Row:
    """The answer to a question about a cell of both sides: problem, solver and seed.

    The import is of a project, which stands in place of the solver; the problem is empty.
    """

    question: Question
    problem: str
    solver: str
    seed: int
    finding: Finding

    @property
    def cell(self) -> Key | None:
        """The cell that the answer is about, if it is about one."""
        return (self.problem, self.solver, self.seed) if self.problem else None

    @property
    def label(self) -> str:
        """The cell or project, for people."""
        return run_label(self.solver, self.problem, self.seed) if self.problem else self.solver

    @property
    def ratio(self) -> str:
        """How much worse HEAD is: ``+5.2 % [+3.9, +6.6]``; empty if it is unknown."""
        low, high = self.finding.low, self.finding.high
        if math.isnan(low) or low == high or (low, high) == (0, math.inf):
            return percent(self.finding.ratio)
        bounds = ", ".join(percent(end).removesuffix(" %") for end in (low, high))
        return f"{percent(self.finding.ratio)} [{bounds}]"

    @property
    def said(self) -> str:
        """The ratio, and what was compared: ``+17.0 %; gap 0.12 -> 0.14``."""
        return "; ".join(filter(None, (self.ratio, self.finding.explanation)))


def _counted(rows: list[Row]) -> list[tuple[Question, int]]:
    counts = Counter(row.question for row in rows)
    return [(asked, counts[asked]) for asked in Question if counts[asked]]


def percent(ratio: float) -> str:
    """Return a ratio as a change in percent, with its sign; from tenfold on as a factor."""
    if math.isnan(ratio):
        return ""
    if ratio >= 10:
        return "never" if math.isinf(ratio) else f"x {ratio:.3g}"
    change = 100 * (ratio - 1)
    digits = ".1f" if abs(change) >= 0.05 or change == 0 else ".1g"
    return f"{change:+{digits}} %"


@dataclass(frozen=True)
class Options:
    """What to compare, and for how long.

    Attributes
    ----------
    suite : str or Path, optional
        Name or file; `orthobench.compare.cells.SUITE` without one.
    tolerance : mapping
        As `TOLERANCE`. A key ``time@digits*`` is the tolerance of the cells whose problem, solver
        or label ``SOLVER on PROBLEM`` matches the pattern; the last one that matches counts.
    budget : float
        Wall seconds for timing, which comes last. Once, they may be doubled.
    solvers, problems : tuple of str
        Specifications ``NAME key=value ...``, instead of the suite's.
    seeds : int, optional
        Instead of the suite's.
    clock : {"cpu", "wall"}
    run_limit : float, optional
        Seconds after which a run is killed, and has failed; twice the budget by default, and
        `SHORTEST_LIMIT` at least.
    every : bool
        Whether to run and time also the cells that are the same on both sides.
    failing : tuple of Change
        What counts as a regression.
    undecided : float
        The part of BASE's time that the interval of an undecided time has to exclude.
    """

    suite: str | Path | None = None
    tolerance: Mapping[str, float] = field(default_factory=lambda: TOLERANCE)
    budget: float = 90.0
    solvers: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    seeds: int | None = None
    clock: str = "cpu"
    run_limit: float | None = None
    every: bool = False
    failing: tuple[Change, ...] = (Change.WORSE, Change.MIXED)
    undecided: float = 0.25

    @property
    def patience(self) -> float:
        """Seconds that a run may take."""
        return self.run_limit or max(SHORTEST_LIMIT, 2 * self.budget)

    def tolerated(self, problem: str, solver: str) -> dict[str, float]:
        """Return the tolerances of a cell, by question."""
        found = dict(TOLERANCE)
        for name, part in self.tolerance.items():
            asked, at, pattern = name.partition("@")
            names = (problem, solver, f"{solver} on {problem}")
            if not at or any(fnmatch(one, pattern) for one in names):
                found[asked] = part
        return found

    def settled(self, finding: Finding) -> bool:
        """Return whether a finding says enough for a gate to pass."""
        if finding.change is Change.UNDECIDED:
            return finding.high <= 1 + self.undecided
        return finding.change not in (Change.NONE, Change.PROBABLE)


@dataclass(frozen=True)
class Comparison:
    """BASE against HEAD on all cells.

    Attributes
    ----------
    base, head : Side
    suite : str
        Name of the suite.
    options : Options
        What was asked for.
    rows : tuple of Row
        In the suite's order, including cells that only one side has or that failed on either.
    rounds : int
        How many rounds both sides were timed for; 0 if they were not.
    seconds : float
        Wall time that all of it took.
    machine : mapping
        `orthobench.tools.environment.snapshot`; its ``packages`` are those of the sides.
    notes : tuple of str
        What a reader should know besides: for instance why seconds are not compared.
    changes : Changes
        How the sides differ.
    reason : str
        Why there was no comparison at all; then there are no rows.
    """

    base: Side
    head: Side
    suite: str
    options: Options
    rows: tuple[Row, ...] = ()
    rounds: int = 0
    seconds: float = 0.0
    machine: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    changes: Changes = field(default_factory=Changes)
    reason: str = ""

    def found(self, change: Change, question: Question | None = None) -> list[Row]:
        """Return the rows with an answer, to one question or to all, worst first.

        Of improvements, the largest comes first. One without a ratio, for instance of a run that
        failed, comes before all.
        """
        sign = 1 if change is Change.BETTER else -1
        rows = (row for row in self.rows if question in (None, row.question))
        return sorted(
            (row for row in rows if row.finding.change is change),
            key=lambda row: (not math.isnan(row.finding.ratio), sign * row.finding.ratio),
        )

    @property
    def regressions(self) -> list[Row]:
        """The rows that a gate fails on, worst first of each kind."""
        return [row for change in self.options.failing for row in self.found(change)]

    @property
    def open(self) -> list[Row]:
        """The rows that no gate may pass with: not compared, or with too wide an interval."""
        worse, settled = self.options.failing, self.options.settled
        found = ((row, row.finding) for row in self.rows)
        return [row for row, one in found if one.change not in worse and not settled(one)]

    @property
    def cells(self) -> set[Key]:
        """The cells that BASE has."""
        return {row.cell for row in self.rows if row.cell and row.finding.change is not Change.NEW}

    @property
    def compared(self) -> set[Key]:
        """The cells that were compared, whatever came out."""
        return self.cells - {row.cell for row in self.open if row.cell}

    @property
    def empty(self) -> bool:
        """Whether no answer compares both sides, as that BASE failed does not; no gate may pass."""
        return all(
            row.finding.change in (Change.NONE, Change.NEW)
            or (row.finding.change is Change.BETTER and math.isnan(row.finding.ratio))
            for row in self.rows if row.cell
        )  # fmt: skip

    @property
    def exit_code(self) -> int:
        """0 if all cells were compared and none is worse, 1 if one is worse, 2 otherwise."""
        if self.regressions:
            return 1
        return 2 if self.empty or self.open else 0

    def verdict(self) -> str:
        """Return the outcome in one sentence, with the number of cells that were compared.

        ``no regression (6 of 6 cells compared)``, ``3 regressions: 1 of result, 2 of time``.
        """
        if self.reason:
            return "not compared"
        if self.empty:
            return "nothing was compared"
        mixed, regressions = self.found(Change.MIXED), self.regressions
        worse = [row for row in regressions if row.finding.change is not Change.MIXED]
        told = [f"{word}: {', '.join(f'{n} of {asked.value}' for asked, n in _counted(rows))}"
                for word, rows in ((plural(len(worse), "regression"), worse),
                                   (f"{len(mixed)} mixed", mixed)) if rows]  # fmt: skip
        sentence = "; ".join(told) or ("no verdict" if self.open else "no regression")
        unsure = (Change.PROBABLE, Change.UNDECIDED, Change.NONE)
        missing = [f"{len(rows):,} {kind.value}" for kind in unsure if (rows := self.found(kind))]
        counts = f"{len(self.compared):,} of {plural(len(self.cells), 'cell')} compared"
        return f"{sentence} ({', '.join([counts, *missing])})"

    def next_step(self) -> str:
        """Return what to do next, in one sentence."""
        worse = self.regressions[::-1]
        exact = [row for row in worse if row.question in (Question.RESULT, Question.WORK)]
        search = "" if "environment" in (self.base.kind, self.head.kind) or not exact or math.isnan(
            exact[-1].finding.ratio) else ", and git bisect finds the commit"  # fmt: skip
        steps = {
            self.reason: self.reason,
            "name a suite, or solvers, that both sides can run": self.empty,
            f"look at {exact and exact[-1].label}: it is so on every machine{search}; "
            "--tolerance accepts what is intended": exact,
            f"look at {worse and worse[-1].label}; --tolerance "
            f"{worse and worse[-1].question.value}=PART accepts what is intended": worse,
            "mend what could not be compared: each has its reason beside it":
                any(row.finding.change is Change.NONE for row in self.open),
            "give it a larger --budget or a quieter machine: some times could be "
            f"{percent(1 + self.options.undecided)} and more": self.open,
            "name a --suite that runs what you changed, if this one should have":
                all(math.isnan(row.finding.ratio) for row in self.rows),
        }  # fmt: skip
        return next((step for step, holds in steps.items() if holds), "nothing: it can be merged")
