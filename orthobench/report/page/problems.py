"""The section of a page about one problem: ranking, comparisons, and how parameters were chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orthobench.report import caveats
from orthobench.report.families import Family
from orthobench.report.formatting import (
    assignments,
    budget_text,
    clean,
    count,
    duration,
    number,
    plural,
    probability,
    si,
)
from orthobench.report.page.heat_maps import HeatMap, heat_maps
from orthobench.report.plots.labels import axis_label
from orthobench.report.ranking import Ranked
from orthobench.report.sentences import factor_text, interval_text, sentence
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import spread_name
from orthobench.stats.paired import Comparison, Decision
from orthobench.stats.values import COSTS

WORDS = {
    Decision.BEHIND: "not the best", Decision.AHEAD: "lower, but failing",
    Decision.OPEN: "no difference shown", Decision.EQUAL: "equal",
    Decision.UNDECIDABLE: "undecidable",
}  # fmt: skip
"""The decisions as the page names them."""


@dataclass(frozen=True)
class Row:
    """A row of the ranking: one solver.

    Attributes
    ----------
    mark : str
        One of `orthobench.report.ranking.MARKS` or nothing.
    solver, chosen : str
    median, spread, interval, seconds, flops, effort, ok : str
    fails : bool
        Whether any run failed.
    """

    mark: str
    solver: str
    chosen: str
    median: str
    spread: str
    interval: str
    seconds: str
    flops: str
    effort: str
    ok: str
    fails: bool


@dataclass(frozen=True)
class AgainstBest:
    """A comparison with the best solver, as a row.

    Attributes
    ----------
    other : str
    seeds : str
        The numbers of seeds on which the best ends lower, equal and higher.
    effect, interval : str
        The median over the seeds of the ratio to the best, or of the difference from it.
    p : str
        The adjusted p-value.
    decision : str
    """

    other: str
    seeds: str
    effect: str
    interval: str
    p: str
    decision: str


@dataclass(frozen=True)
class ProblemSection:
    """The section of a page about one problem.

    Attributes
    ----------
    id : str
        The anchor of the section.
    label, name : str
        The label of the problem, and the same as the page shows it.
    facts : tuple of str
        Family, metric, seeds and budget.
    spread : str
        The heading of the column with the spread: ``"25 to 75 %"``.
    effort : str
        The unit of effort: ``"samples"`` or ``"steps"``.
    rows : tuple of Row
    verdict : str
        Which solver is best, by how much and how sure that is.
    sentences : tuple of str
        The comparisons of the best with each of the others.
    against_best : tuple of AgainstBest
        The same as rows; none if the page would have too many.
    best : str
        The solver that the others are compared with.
    effect : str
        What is compared: ``"times the best"`` or ``"minus the best"``.
    compared : str
        The number of comparisons.
    notes : tuple of str
        The caveats of the ranking.
    absent : tuple of str
        The solvers that take no part.
    plots : tuple of int
        Indices into the plots of the page.
    heat_maps : tuple of HeatMap
        The scores of solvers with two tuned parameters.
    """

    id: str
    label: str
    name: str
    facts: tuple[str, ...]
    spread: str
    effort: str
    rows: tuple[Row, ...]
    verdict: str
    sentences: tuple[str, ...]
    against_best: tuple[AgainstBest, ...]
    best: str
    effect: str
    compared: str
    notes: tuple[str, ...]
    absent: tuple[str, ...]
    plots: tuple[int, ...]
    heat_maps: tuple[HeatMap, ...]


def problem_section(
    index: int,
    entries: Sequence[SolverResult],
    ranked: Sequence[Ranked],
    family: Family | None,
    plots: Iterable[int],
    paired: bool = True,
) -> ProblemSection:
    """Return the section about one problem.

    Parameters
    ----------
    index : int
        The place of the problem among all of the page.
    entries : sequence of SolverResult
        All of its entries.
    ranked : sequence of Ranked
        Those that take part, best first.
    family : Family, optional
        The conclusions about its family, if there are any.
    plots : iterable of int
    paired : bool
        Whether all comparisons have a row.
    """
    first = entries[0].records[0]
    metric = axis_label(first.problem.primary)
    seeds = len(entries[0].seeds)
    effort = "steps" if any(_median_cost(r, "samples") == 0 for r in ranked) else "samples"
    label = entries[0].problem
    found = family.comparisons.get(label, ()) if family else ()
    return ProblemSection(
        id=f"problem-{index}",
        label=label,
        name=clean(label),
        facts=_facts(first, metric, seeds),
        spread=spread_name(seeds),
        effort=effort,
        rows=tuple(_row(r, effort) for r in ranked),
        verdict=clean(family.verdicts.get(label, "")) if family else "",
        sentences=tuple(clean(sentence(c, metric)) for c in found),
        against_best=tuple(map(_against_best, found)) if paired else (),
        best=clean(found[0].best) if found else "",
        effect="times the best" if found and found[0].ratio else "minus the best",
        compared=plural(len(found), "comparison"),
        notes=(
            *caveats.tuning([r.entry for r in ranked]),
            *caveats.reruns([r.entry for r in ranked]),
            *caveats.stationarity([r.entry for r in ranked]),
            *caveats.missing(entries),
            *caveats.busy(entries),
            *caveats.measured(entries),
        ),
        absent=tuple(clean(entry.solver) for entry in entries if entry.refused),
        plots=tuple(plots),
        heat_maps=tuple(heat_maps(entries)),
    )  # fmt: skip


def _facts(record: Run, metric: str, seeds: int) -> tuple[str, ...]:
    goal = f"final {metric}, smaller is better"
    facts = (clean(record.problem.family), goal, plural(seeds, "seed"), budget_text(record.budget))
    return tuple(fact for fact in facts if fact)


def _row(ranked: Ranked, effort: str) -> Row:
    summary = ranked.summary
    low, high = map(ranked.text, summary.interval)
    return Row(
        mark=ranked.mark,
        solver=ranked.entry.solver,
        chosen=_chosen(ranked.entry),
        median=ranked.median,
        spread=f"{ranked.text(summary.low)} to {ranked.text(summary.high)}",
        interval=f"{low} to {high}",
        seconds=duration(_median_cost(ranked, "seconds")),
        flops=si(_median_cost(ranked, "flops")),
        effort=count(_median_cost(ranked, effort)),
        ok=ranked.ok,
        fails=ranked.summary.n_failed > 0,
    )


def _chosen(entry: SolverResult) -> str:
    """Return the chosen parameters, and from how many trials."""
    trials = len(entry.trials)
    return assignments(entry.best_parameters) + f" of {plural(trials, 'trial')}" * (trials > 1)


def _median_cost(ranked: Ranked, cost: str) -> float:
    return ranked.median_of(COSTS[cost])


def _against_best(c: Comparison) -> AgainstBest:
    seeds = f"{c.lower} / {c.equal} / {c.higher}"
    effect = factor_text(c.effect) if c.ratio else number(c.effect)
    return AgainstBest(c.other, seeds, effect, interval_text(c), _p(c.adjusted), WORDS[c.decision])


def _p(adjusted: float) -> str:
    return "1" if adjusted >= 1 else probability(adjusted).removeprefix("p ").removeprefix("= ")
