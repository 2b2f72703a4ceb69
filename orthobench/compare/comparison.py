"""What comparing two sides gives; everything that tells of a comparison speaks of this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import nan
from pathlib import Path
from typing import Any


class Question(Enum):
    """What is asked of every cell."""

    RESULT = "result"
    """Is the solution worse at the same budget? Deterministic."""
    WORK = "work"
    """Does a target take more steps, samples or flops? Deterministic."""
    TIME = "time"
    """Does a unit of work take more seconds? Statistical."""


class Change(Enum):
    """The answer to a question."""

    WORSE = "worse"
    """A regression beyond the tolerance."""
    BETTER = "better"
    """An improvement beyond the tolerance."""
    SAME = "same"
    """No change beyond the tolerance."""
    UNDECIDED = "undecided"
    """The budget was spent before the test could tell."""
    NONE = "not compared"
    """There is nothing to compare, for the reason that is given."""


@dataclass(frozen=True)
class Answer:
    """What was found for one question of one cell.

    Attributes
    ----------
    change : Change
    ratio : float
        HEAD / BASE, above 1 where HEAD is worse; NaN where there is none.
    low, high : float
        Of time, bounds of the ratio that hold at 95 % whenever the measuring stops; else the
        ratio itself.
    said : str
        What was compared, for people: ``"suboptimality 0.012 -> 0.014 after 2000 samples"``.
    """

    change: Change
    ratio: float = nan
    low: float = nan
    high: float = nan
    said: str = ""


@dataclass(frozen=True)
class Compared:
    """A cell of both sides: who, on what, with which seed, and the three answers."""

    problem: str
    solver: str
    seed: int
    answers: Mapping[Question, Answer]

    @property
    def label(self) -> str:
        """The cell, for people."""
        return f"{self.solver} on {self.problem}, seed {self.seed}"

    def worse(self) -> list[Question]:
        """Return the questions that are answered with a regression."""
        return [asked for asked, answer in self.answers.items() if answer.change is Change.WORSE]


@dataclass(frozen=True)
class Side:
    """One side: what the user called it, and what it turned out to be.

    Attributes
    ----------
    name : str
        As the user wrote it.
    kind : str
        ``"revision"``, ``"folder"`` (a project as it is there, uncommitted changes included),
        ``"wheel"``, ``"environment"`` or ``"store"``.
    detail : str
        The commit in full, or the path.
    python : Path, optional
        Interpreter of a live side.
    store : Path, optional
        Of a recorded side.
    """

    name: str
    kind: str
    detail: str
    python: Path | None = None
    store: Path | None = None

    def __str__(self) -> str:
        return self.name if self.name == self.detail else f"{self.name} ({self.detail})"


@dataclass(frozen=True)
class Tolerance:
    """By how much a cell may be worse and be no regression: parts of BASE, as 0.03.

    Result and work are exact, so that nothing has to be tolerated but what their users accept.
    """

    result: float = 0.0
    work: float = 0.0
    time: float = 0.03


@dataclass(frozen=True)
class Comparison:
    """BASE against HEAD on all cells.

    Attributes
    ----------
    base, head : Side
    suite : str
        Name of the suite.
    tolerance : Tolerance
    compared : tuple of Compared
        In the suite's order; also those that only one side has, or that failed on either.
    rounds : int
        In which both sides were timed side by side; 0 where there were none.
    seconds : float
        Wall time that all of it took.
    machine : mapping
        `orthobench.tools.environment.snapshot`.
    notes : tuple of str
        What a reader has to know beside: who could not be timed, and why.
    """

    base: Side
    head: Side
    suite: str
    tolerance: Tolerance
    compared: tuple[Compared, ...]
    rounds: int = 0
    seconds: float = 0.0
    machine: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def regressions(self) -> list[tuple[Compared, Question]]:
        """Return every cell and question for which HEAD is worse beyond the tolerance."""
        return [(cell, asked) for cell in self.compared for asked in cell.worse()]
