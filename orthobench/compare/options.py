"""What is asked of a comparison: six questions, their tolerances, and how long it may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path

from orthobench.stats.run_pairs import Change, Finding


class Question(StrEnum):
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

SHORTEST_LIMIT = 60.0
"""Seconds that a run may take in any case."""


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
