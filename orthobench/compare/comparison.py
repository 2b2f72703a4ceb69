"""A comparison: what was asked for, and a table of findings, one for each question and cell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from orthobench.compare.sides import Side
from orthobench.results.runs import run_label
from orthobench.stats.run_pairs import Change, Finding
from orthobench.tools.formatting import plural


class Question(Enum):
    """The questions that are asked about every cell; the last is answered by statistics."""

    RESULT = "result"
    WORK = "work"
    TIME = "time"


ASKED = {
    Question.RESULT: "is the result worse at the same budget?",
    Question.WORK: "does it take more work to a target?",
    Question.TIME: "does a unit of work take longer?",
}


@dataclass(frozen=True)
class Row:
    """The answer to a question about a cell of both sides: problem, solver and seed."""

    question: Question
    problem: str
    solver: str
    seed: int
    finding: Finding

    @property
    def label(self) -> str:
        """The cell, for people."""
        return run_label(self.solver, self.problem, self.seed)

    @property
    def ratio(self) -> str:
        """How much worse HEAD is: ``+5.2 % [+3.9, +6.6]``; empty where it is unknown."""
        low, high = self.finding.low, self.finding.high
        if math.isnan(low) or low == high or (low, high) == (0, math.inf):
            return percent(self.finding.ratio)
        bounds = ", ".join(percent(end).removesuffix(" %") for end in (low, high))
        return f"{percent(self.finding.ratio)} [{bounds}]"

    @property
    def said(self) -> str:
        """The ratio, and what was compared: ``+17.0 %; gap 0.12 -> 0.14``."""
        return "; ".join(filter(None, (self.ratio, self.finding.explanation)))


def percent(ratio: float) -> str:
    """Return a ratio as a change in percent, with its sign; from tenfold on as a factor."""
    if math.isnan(ratio):
        return ""
    if ratio >= 10:
        return "inf" if math.isinf(ratio) else f"x {ratio:.3g}"
    change = 100 * (ratio - 1)
    digits = ".1f" if abs(change) >= 0.05 or change == 0 else ".1g"
    return f"{change:+{digits}} %"


TOLERANCE: Mapping[str, float] = {"result": 0.0, "work": 0.0, "time": 0.03}
"""The part of BASE by which a cell may be worse without being a regression, by question.

Result and work are compared exactly, so that their tolerance is zero unless users accept more.
"""


@dataclass(frozen=True)
class Options:
    """What to compare, and for how long.

    Attributes
    ----------
    suite : str or Path, optional
        Name or file; `orthobench.compare.cells.SUITE` without one.
    tolerance : mapping
        As `TOLERANCE`.
    budget : float
        Wall seconds for timing, which comes last.
    solvers, problems : tuple of str
        Specifications ``NAME key=value ...``, instead of the suite's.
    seeds : int, optional
        Instead of the suite's.
    clock : {"cpu", "wall"}
    patience : float
        Seconds after which a run is killed, and has failed.
    every : bool
        Whether to run and time also the cells that are the same on both sides.
    failing : tuple of Change
        What counts as a regression.
    """

    suite: str | Path | None = None
    tolerance: Mapping[str, float] = field(default_factory=lambda: TOLERANCE)
    budget: float = 90.0
    solvers: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    seeds: int | None = None
    clock: str = "cpu"
    patience: float = 600.0
    every: bool = False
    failing: tuple[Change, ...] = (Change.WORSE,)


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
        How many rounds both sides were timed for; 0 where they were not.
    seconds : float
        Wall time that all of it took.
    machine : mapping
        `orthobench.tools.environment.snapshot`.
    notes : tuple of str
        What a reader should know besides: for instance why seconds are not compared.
    """

    base: Side
    head: Side
    suite: str
    options: Options
    rows: tuple[Row, ...]
    rounds: int = 0
    seconds: float = 0.0
    machine: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

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
    def empty(self) -> bool:
        """Whether no answer compares both sides, as that BASE failed does not; no gate may pass."""
        return all(
            row.finding.change is Change.NONE
            or (row.finding.change is Change.BETTER and math.isnan(row.finding.ratio))
            for row in self.rows
        )

    def verdict(self) -> str:
        """Return the outcome in one sentence, with the number of answers that are missing.

        ``no regression``, ``3 regressions: 1 of result, 2 of time (4 undecided)``.
        """
        if self.empty:
            return "nothing was compared"
        worse = Counter(row.question for row in self.regressions)
        parts = ", ".join(f"{worse[asked]} of {asked.value}" for asked in Question if worse[asked])
        sentence = f"{plural(worse.total(), 'regression')}: {parts}" if worse else "no regression"
        unsure = (Change.PROBABLE, Change.UNDECIDED, Change.NONE)
        missing = [f"{len(rows):,} {kind.value}" for kind in unsure if (rows := self.found(kind))]
        return f"{sentence} ({', '.join(missing)})" if missing else sentence

    def next_step(self) -> str:
        """Return what to do next, in one sentence."""
        worst = {row.question: row.label for row in reversed(self.found(Change.WORSE))}
        exact = worst.get(Question.RESULT) or worst.get(Question.WORK)
        steps = {
            "name a suite, or solvers, that both sides can run": self.empty,
            f"look at {exact}: it is so on every machine, and git bisect finds the commit; "
            "--tolerance accepts what is intended": exact,
            f"profile {worst.get(Question.TIME)}; --tolerance time=PART accepts what is intended":
                worst,
            "give it a larger --budget, which decides what is probably slower or undecided":
                self.found(Change.PROBABLE) or self.found(Change.UNDECIDED),
            "name a --suite that runs what you changed, if this one should have":
                all(math.isnan(row.finding.ratio) for row in self.rows),
        }  # fmt: skip
        return next((step for step, holds in steps.items() if holds), "nothing: it can be merged")
