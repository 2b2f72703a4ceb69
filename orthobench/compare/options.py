"""The options of a comparison: questions, tolerances and limits of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path

from orthobench.stats.run_pairs import Change, Finding


class Question(StrEnum):
    """The questions about every cell; the import is asked once for a project."""

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
"""The part of BASE by which HEAD may be worse without a regression, by question."""

FAILING = (Change.WORSE, Change.MIXED)
"""The answers that are regressions."""


@dataclass(frozen=True)
class Options:
    """The options of a comparison.

    Attributes
    ----------
    suite : str or Path, optional
        Name or file [default: `orthobench.compare.cells.SUITE`].
    tolerance : mapping
        As `TOLERANCE`. A key ``time@digits*`` is for cells whose problem, solver or ``SOLVER on
        PROBLEM`` matches; the last match counts.
    budget : float
        Maximum seconds of the timing; it may be doubled once.
    solvers, problems : tuple of str
        Specifications ``NAME key=value ...``, instead of the suite's.
    seeds : int, optional
        Instead of the suite's.
    clock : {"cpu", "wall"}
    every : bool
        Whether equal cells are compared too.
    undecided : float
        The slow-down that an undecided time has to exclude.
    """

    suite: str | Path | None = None
    tolerance: Mapping[str, float] = field(default_factory=lambda: TOLERANCE)
    budget: float = 90.0
    solvers: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    seeds: int | None = None
    clock: str = "cpu"
    every: bool = False
    undecided: float = 0.25

    @property
    def patience(self) -> float:
        """Maximum time of a run, in seconds: twice the budget, at least 60."""
        return max(60.0, 2 * self.budget)

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
        """Return whether a gate may pass with a finding, unless it is a regression."""
        if finding.change is Change.UNDECIDED:
            return finding.high <= 1 + self.undecided
        return finding.change not in (Change.NONE, Change.PROBABLE)
