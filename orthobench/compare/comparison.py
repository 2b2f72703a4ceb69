"""A comparison: a table of findings, its verdict and its exit code."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orthobench.compare.changes import Changes
from orthobench.compare.options import FAILING, Options, Question
from orthobench.compare.sides import Side
from orthobench.results.runs import run_label
from orthobench.stats.run_pairs import Change, Finding, Key
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import percent, plural

UNTOUCHED = Finding(Change.SAME, explanation="neither run nor timed: nothing of it differs")
"""The answer about a cell that is the same on both sides."""


@dataclass(frozen=True)
class Row:
    """The answer to a question about a cell; for an import, `solver` is the project."""

    question: Question
    problem: str
    solver: str
    seed: int
    finding: Finding

    @property
    def cell(self) -> Key | None:
        """Problem, solver and seed; None for an import."""
        return (self.problem, self.solver, self.seed) if self.problem else None

    @property
    def label(self) -> str:
        """The cell or project as text."""
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
        """Ratio and values: ``+17.0 %; gap 0.12 -> 0.14``."""
        return "; ".join(filter(None, (self.ratio, self.finding.explanation)))


@dataclass(frozen=True)
class Comparison:
    """BASE against HEAD on all cells.

    Attributes
    ----------
    base, head : Side
    suite : str
    options : Options
    rows : tuple of Row
        In the suite's order, with cells that failed or that only one side has.
    rounds : int
        Rounds of the timing.
    seconds : float
        Wall-clock time.
    machine : mapping
        `orthobench.tools.environment.snapshot` with the packages of both sides.
    notes : tuple of str
    changes : Changes
    reason : str
        Why no comparison was possible; then there are no rows.
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

    def answers(self, question: Question | None = None) -> dict[Change, list[Row]]:
        """Return the rows of each answer to one question or to all, the largest change first.

        Rows without a ratio, for instance about failed runs, come before all.
        """
        rows = (row for row in self.rows if question in (None, row.question))
        found = grouped(rows, lambda row: row.finding.change)
        for change, own in found.items():
            sign = 1 if change is Change.BETTER else -1
            own.sort(key=lambda row: (not math.isnan(row.finding.ratio), sign * row.finding.ratio))
        return {change: found[change] for change in Change if change in found}

    def found(self, change: Change, question: Question | None = None) -> list[Row]:
        """Return the rows with an answer, as in `answers`."""
        return self.answers(question).get(change, [])

    @property
    def asked(self) -> list[Question]:
        """The questions with an answer."""
        return [asked for asked in Question if any(row.question is asked for row in self.rows)]

    @property
    def regressions(self) -> list[Row]:
        """The rows that a gate fails on, worst first of each kind."""
        return [row for change in FAILING for row in self.found(change)]

    @property
    def open(self) -> list[Row]:
        """The rows with which no gate may pass: not compared, or too uncertain."""
        return [row for row in self.rows if row.finding.change not in FAILING
                and not self.options.settled(row.finding)]  # fmt: skip

    @property
    def cells(self) -> set[Key]:
        """The cells of BASE."""
        return {row.cell for row in self.rows if row.cell and row.finding.change is not Change.NEW}

    @property
    def compared(self) -> set[Key]:
        """The cells that were compared."""
        return self.cells - {row.cell for row in self.open if row.cell}

    @property
    def empty(self) -> bool:
        """Whether no answer compares both sides, as if all cells of BASE fail."""
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
        """Return the outcome in a sentence, with the number of cells compared."""
        if self.reason:
            return "not compared"
        if self.empty:
            return "nothing was compared"
        sentence = "no verdict" if self.open else "no regression"
        if worse := self.regressions:
            counts = Counter(row.question for row in worse)
            by_question = (f"{counts[asked]} of {asked}" for asked in Question if counts[asked])
            sentence = f"{plural(len(worse), 'regression')}: {', '.join(by_question)}"
        compared = f"{len(self.compared):,} of {plural(len(self.cells), 'cell')} compared"
        named = (Change.MIXED, Change.PROBABLE, Change.UNDECIDED, Change.NONE)
        others = [f"{len(rows):,} {kind}" for kind in named if (rows := self.found(kind))]
        return f"{sentence} ({', '.join([compared, *others])})"

    def next_step(self) -> str:
        """Return the user's next step, a sentence."""
        if self.reason:
            return self.reason
        if worse := self.regressions:
            accept = f"--tolerance {worse[0].question}=PART accepts what is intended"
            return f"look at {worse[0].label}; {accept}"
        if any(row.finding.change is Change.NONE for row in self.open):
            return "mend what could not be compared: each has its reason beside it"
        if self.open:
            return ("give it a larger --budget or a quieter machine: some times could be "
                    f"{percent(1 + self.options.undecided)} and more")  # fmt: skip
        if all(math.isnan(row.finding.ratio) for row in self.rows):
            return "name a --suite that runs what you changed, if this one should have"
        return "nothing: it can be merged"
