"""The types of a comparison: its options, and the answers that it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from orthobench.compare.sides import Side
from orthobench.results.runs import run_label
from orthobench.stats.run_pairs import Change, Finding


class Question(Enum):
    """The questions that are asked about every cell."""

    RESULT = "result"
    """Is the solution worse at the same budget? Deterministic."""
    WORK = "work"
    """Does a target take more steps, samples or flops? Deterministic."""
    TIME = "time"
    """Does a unit of work take more seconds? Statistical."""


@dataclass(frozen=True)
class Compared:
    """A cell of both sides: problem, solver and seed, and the answers to the questions."""

    problem: str
    solver: str
    seed: int
    answers: Mapping[Question, Finding]

    @property
    def label(self) -> str:
        """The cell, for people."""
        return run_label(self.solver, self.problem, self.seed)

    def worse(self) -> list[Question]:
        """Return the questions to which the answer is a regression."""
        return [asked for asked, answer in self.answers.items() if answer.change is Change.WORSE]


@dataclass(frozen=True)
class Tolerance:
    """The part of BASE, as 0.03, by which a cell may be worse without being a regression.

    Result and work are compared exactly, so that their tolerance is zero unless users accept more.
    """

    result: float = 0.0
    work: float = 0.0
    time: float = 0.03


@dataclass(frozen=True)
class Options:
    """What to compare, and for how long.

    Attributes
    ----------
    suite : str or Path, optional
        Name or file; without one `orthobench.compare.cells.SUITE`, or the latest of a store.
    tolerance : Tolerance
    budget : float
        Wall seconds for timing, which comes last.
    solvers, problems : tuple of str
        Names; only these, where any are given.
    seeds : int, optional
        Instead of the suite's.
    clock : {"cpu", "wall"}
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
    tolerance: Tolerance
    compared: tuple[Compared, ...]
    rounds: int = 0
    seconds: float = 0.0
    machine: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def regressions(self) -> list[tuple[Compared, Question]]:
        """Return each cell and question for which HEAD is worse beyond the tolerance."""
        return [(cell, asked) for cell in self.compared for asked in cell.worse()]
