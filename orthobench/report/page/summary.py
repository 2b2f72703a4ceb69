"""The verdict on each family: who wins where, and by how much, as rows of text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orthobench.report.findings import Family, Standing
from orthobench.report.ranking import Ranked
from orthobench.report.verdicts import FAR
from orthobench.report.words import clean, number
from orthobench.results.tuning import Entry

TINTS = (1.1, 2.0, 10.0)
"""Factors up to which a cell of the matrix is tinted, each less than the one before."""


@dataclass(frozen=True)
class Place:
    """A row of the ranking of a family: one solver.

    Attributes
    ----------
    solver : str
    best, close, rank, failed : str
        Problems on which it is best, on which it cannot be told from the best, its mean rank,
        and its failed runs of those planned.
    fails, leads : bool
        Whether any run failed; whether no solver is best on more problems, and it on any.
    """

    solver: str
    best: str
    close: str
    rank: str
    failed: str
    fails: bool
    leads: bool


@dataclass(frozen=True)
class Cell:
    """One solver on one problem, in the matrix.

    Attributes
    ----------
    kind : str
        ``"best"``, ``"close"``, ``"other"``, ``"failed"`` or ``"absent"``.
    text : str
        Its median over the best one; the median itself where that is no number.
    failed : str
        Failed runs of those planned; empty where none failed.
    plain : bool
        Whether the text is the median itself.
    tint : int
        0 for the smallest factors, to 3.
    told : str
        All of it in words.
    """

    kind: str
    text: str
    failed: str = ""
    plain: bool = False
    tint: int = 3
    told: str = ""


@dataclass(frozen=True)
class Line:
    """A line of the matrix: one problem.

    Attributes
    ----------
    id, problem : str
        Where the page tells more of it, and its name.
    cells : tuple of Cell
    """

    id: str
    problem: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Verdict:
    """What a page says of a family.

    Attributes
    ----------
    name : str
    sentences : tuple of str
    places : tuple of Place
    solvers : tuple of str
        The columns of the matrix.
    matrix : tuple of Line
    absent : tuple of str
        Solvers that take part in none of its problems.
    """

    name: str
    sentences: tuple[str, ...]
    places: tuple[Place, ...]
    solvers: tuple[str, ...]
    matrix: tuple[Line, ...]
    absent: tuple[str, ...]

    @property
    def undivided(self) -> bool:
        """Whether any cell shows a median instead of a factor."""
        return any(cell.plain for line in self.matrix for cell in line.cells)


def verdict(
    family: Family,
    entries: Sequence[Entry],
    ranked: Sequence[Ranked],
    ids: Mapping[str, str],
) -> Verdict:
    """Return what a page says of a family.

    Parameters
    ----------
    family : Family
    entries : sequence of Entry
        Of all problems, with those that take no part.
    ranked : sequence of Ranked
        Of all problems, without them.
    ids : mapping
        Where the page tells more of each problem.
    """
    found = {(r.entry.problem, r.entry.solver): r for r in ranked}
    reasons = {
        (e.problem, e.solver): clean(e.refusal)
        for e in entries
        if e.refused and e.problem in set(family.problems)
    }
    solvers = tuple(standing.solver for standing in family.standings)
    matrix = tuple(
        Line(
            ids[problem],
            problem,
            tuple(_cell(s, problem, found, reasons) for s in family.standings),
        )
        for problem in family.problems
    )
    absent = dict.fromkeys(solver for _, solver in reasons if solver not in solvers)
    most = max((standing.wins for standing in family.standings), default=0)
    places = tuple(_place(standing, most) for standing in family.standings)
    return Verdict(family.name, family.sentences, places, solvers, matrix, tuple(absent))


def _place(standing: Standing, most: int) -> Place:
    of_problems = f"of {standing.problems}"
    return Place(
        standing.solver,
        f"{standing.wins} {of_problems}",
        f"{standing.close} {of_problems}",
        f"{standing.rank:.2f}" if math.isfinite(standing.rank) else number(standing.rank),
        f"{standing.failed} of {standing.planned}",
        standing.failed > 0,
        standing.wins == most > 0,
    )


def _cell(
    standing: Standing,
    problem: str,
    found: Mapping[tuple[str, str], Ranked],
    reasons: Mapping[tuple[str, str], str],
) -> Cell:
    ranked = found.get((problem, standing.solver))
    if ranked is None:
        reason = reasons.get((problem, standing.solver), "it was not planned on this problem")
        return Cell("absent", "", told=f"takes no part: {reason}")
    factor, summary = standing.factors.get(problem, math.nan), ranked.summary
    failed = f"{summary.n_failed}/{len(ranked.entry.seeds)}" if summary.n_failed else ""
    told = f"median {number(summary.median)}, {ranked.ok} runs ok"
    if math.isinf(summary.median):
        return Cell("failed", "", failed, told=told)
    kind = "best" if ranked.best else "close" if ranked.close else "other"
    if not math.isfinite(factor):
        tint = 0 if ranked.best else 3
        return Cell(kind, number(summary.median), failed, plain=True, tint=tint, told=told)
    tint = sum(factor > most for most in TINTS)
    return Cell(kind, _times(factor), failed, tint=tint, told=told)


def _times(factor: float) -> str:
    if factor > FAR:
        return f"> {number(FAR)}"
    return f"{factor:.2f}" if factor < 9.995 else number(factor)
