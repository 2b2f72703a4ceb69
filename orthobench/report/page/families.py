"""The section of a page about one family: conclusions, ranking, and a matrix of factors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orthobench.report.answers import Answer
from orthobench.report.families import Family
from orthobench.report.formatting import clean, number
from orthobench.report.ranking import Ranked
from orthobench.report.sentences import FAR
from orthobench.report.standings import Standing
from orthobench.results.tuning import SolverResult

TINTS = (1.1, 2.0, 10.0)
"""The largest factors of cells with tint 0, 1 and 2; those above have tint 3."""


@dataclass(frozen=True)
class RankingRow:
    """A row of the ranking of a family: one solver.

    Attributes
    ----------
    solver : str
    best : str
        The number of problems on which it is best.
    close : str
        The number of problems on which it may be the best as well.
    rank : str
        Its mean rank.
    failed : str
        Failed runs of those that were run.
    fails : bool
        Whether any run failed.
    leads : bool
        Whether it is best on some problem, and no other solver on more.
    """

    solver: str
    best: str
    close: str
    rank: str
    failed: str
    fails: bool
    leads: bool


@dataclass(frozen=True)
class MatrixCell:
    """A cell of the matrix: one solver on one problem.

    Attributes
    ----------
    kind : str
        ``"best"``, ``"equal"``, ``"close"``, ``"undecided"``, ``"other"``, ``"failed"`` or
        ``"absent"``.
    text : str
        Its factor to the best solver, or its median where there is no factor.
    failed : str
        Failed runs of those planned; empty if none failed.
    is_median : bool
        Whether the text is the median itself.
    is_lower : bool
        Whether the factor is below 1.
    tint : int
        0 for the smallest factors, to 3.
    tooltip : str
        Median and runs, or why it takes no part.
    """

    kind: str
    text: str
    failed: str = ""
    is_median: bool = False
    is_lower: bool = False
    tint: int = 3
    tooltip: str = ""


@dataclass(frozen=True)
class MatrixRow:
    """A row of the matrix: one problem.

    Attributes
    ----------
    id : str
        The anchor of the section about the problem.
    problem : str
    cells : tuple of MatrixCell
    """

    id: str
    problem: str
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True)
class FamilySection:
    """The section of a page about one family.

    Attributes
    ----------
    name : str
    sentences : tuple of str
        The conclusions.
    ranking : tuple of RankingRow
    solvers : tuple of str
        The columns of the matrix.
    matrix : tuple of MatrixRow
    absent : tuple of str
        Solvers that take part in none of the problems.
    answers : tuple of Answer
        Which solver is best in each regime.
    plot : int, optional
        The index of the plot of quality against cost.
    """

    name: str
    sentences: tuple[str, ...]
    ranking: tuple[RankingRow, ...]
    solvers: tuple[str, ...]
    matrix: tuple[MatrixRow, ...]
    absent: tuple[str, ...]
    answers: tuple[Answer, ...] = ()
    plot: int | None = None

    @property
    def has_medians(self) -> bool:
        """Whether any cell of the matrix shows a median instead of a factor."""
        return any(cell.is_median for row in self.matrix for cell in row.cells)

    @property
    def has_lower(self) -> bool:
        """Whether any cell of the matrix shows a factor below 1."""
        return any(cell.is_lower for row in self.matrix for cell in row.cells)


def family_section(
    family: Family,
    entries: Sequence[SolverResult],
    ranked: Sequence[Ranked],
    ids: Mapping[str, str],
    answers: Sequence[Answer] = (),
    plot: int | None = None,
) -> FamilySection:
    """Return the section about a family.

    Parameters
    ----------
    family : Family
    entries : sequence of SolverResult
        The entries of all problems, including those that take no part.
    ranked : sequence of Ranked
        The ranked entries of all problems, those that take part.
    ids : mapping
        The anchors of the sections about the problems.
    answers : sequence of Answer
    plot : int, optional
        The index of the plot of quality against cost.
    """
    by_name = {(r.entry.problem, r.entry.solver): r for r in ranked}
    reasons = {
        (e.problem, e.solver): f"takes no part: {clean(e.refusal)}" if e.refused else "not run yet"
        for e in entries
        if (e.refused or not e.finished) and e.problem in set(family.problems)
    }
    solvers = tuple(standing.solver for standing in family.standings)
    matrix = tuple(
        MatrixRow(
            ids[problem],
            problem,
            tuple(_cell(s, problem, by_name, reasons) for s in family.standings),
        )
        for problem in family.problems
    )
    out = dict.fromkeys(e.solver for e in entries if (e.problem, e.solver) in reasons and e.refused)
    absent = [solver for solver in out if solver not in solvers]
    most = max((standing.wins for standing in family.standings), default=0)
    ranking = tuple(_ranking_row(standing, most) for standing in family.standings)
    return FamilySection(
        family.name, family.sentences, ranking, solvers, matrix, tuple(absent), tuple(answers), plot
    )


def _ranking_row(standing: Standing, most: int) -> RankingRow:
    of_problems = f"of {standing.problems}"
    return RankingRow(
        standing.solver,
        f"{standing.wins} {of_problems}",
        f"{standing.close} {of_problems}",
        f"{standing.rank:.2f}" if math.isfinite(standing.rank) else number(standing.rank),
        f"{standing.failed} of {standing.planned - standing.missing}",
        standing.failed > 0,
        standing.wins == most > 0,
    )


def _cell(
    standing: Standing,
    problem: str,
    ranked: Mapping[tuple[str, str], Ranked],
    reasons: Mapping[tuple[str, str], str],
) -> MatrixCell:
    own = ranked.get((problem, standing.solver))
    if own is None:
        reason = reasons.get((problem, standing.solver), "it was not planned on this problem")
        return MatrixCell("absent", "", tooltip=reason)
    factor, summary = standing.factors.get(problem, math.nan), own.summary
    failed = f"{summary.n_failed}/{len(own.entry.seeds)}" if summary.n_failed else ""
    tooltip = f"median {number(summary.median)}, {own.ok} runs ok"
    if math.isinf(summary.median):
        return MatrixCell("failed", "", failed, tooltip=tooltip)
    kind = "other" if own.mark in ("", "failed") else own.mark
    if not math.isfinite(factor):
        tint = 0 if own.best else 3
        return MatrixCell(kind, own.median, failed, True, tint=tint, tooltip=tooltip)
    text, tint = _factor_text(factor), sum(factor > most for most in TINTS)
    return MatrixCell(kind, text, failed, is_lower=round(factor, 2) < 1, tint=tint, tooltip=tooltip)


def _factor_text(factor: float) -> str:
    if factor > FAR:
        return f"> {number(FAR)}"
    return f"{factor:.2f}" if factor < 9.995 else number(factor)
