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
from orthobench.report.plots.labels import axis_label
from orthobench.report.ranking import Ranked
from orthobench.report.sentences import sentence
from orthobench.results.record import Record
from orthobench.results.tuning import Entry
from orthobench.stats.bootstrap import spread_name
from orthobench.stats.paired import Comparison
from orthobench.stats.values import COSTS


@dataclass(frozen=True)
class Row:
    """A row of the ranking: one solver.

    Attributes
    ----------
    mark : str
        ``"best"``, ``"close"``, ``"failed"`` or nothing.
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
class Pair:
    """A comparison of two solvers, as a row.

    Attributes
    ----------
    a, b : str
    seeds : str
        The numbers of seeds on which a ends lower, equal and higher.
    difference, interval : str
        The median of b - a.
    p : str
        The adjusted p-value.
    lead : str
        The solver that is shown to end lower; empty if none is.
    """

    a: str
    b: str
    seeds: str
    difference: str
    interval: str
    p: str
    lead: str


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
    pairs : tuple of Pair
        All comparisons; none if the page would have too many.
    compared : str
        The number of comparisons.
    notes : tuple of str
        The caveats of the ranking.
    absent : tuple of str
        The solvers that take no part.
    plots : tuple of int
        Indices into the plots of the page.
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
    pairs: tuple[Pair, ...]
    compared: str
    notes: tuple[str, ...]
    absent: tuple[str, ...]
    plots: tuple[int, ...]


def problem_section(
    index: int,
    entries: Sequence[Entry],
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
    entries : sequence of Entry
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
        sentences=_against_best(found, ranked, metric),
        pairs=tuple(map(_pair, found)) if paired else (),
        compared=plural(len(found), "comparison"),
        notes=(*caveats.tuning(ranked), *caveats.reruns(ranked)),
        absent=tuple(clean(entry.solver) for entry in entries if entry.refused),
        plots=tuple(plots),
    )


def _facts(record: Record, metric: str, seeds: int) -> tuple[str, ...]:
    goal = f"final {metric}, smaller is better"
    facts = (clean(record.problem.family), goal, plural(seeds, "seed"), budget_text(record.budget))
    return tuple(fact for fact in facts if fact)


def _row(ranked: Ranked, effort: str) -> Row:
    summary = ranked.summary
    low, high = map(number, summary.interval)
    return Row(
        mark=ranked.mark,
        solver=ranked.entry.solver,
        chosen=assignments(ranked.entry.chosen),
        median=number(summary.median),
        spread=f"{number(summary.low)} to {number(summary.high)}",
        interval=f"{low} to {high}",
        seconds=duration(_median_cost(ranked, "seconds")),
        flops=si(_median_cost(ranked, "flops")),
        effort=count(_median_cost(ranked, effort)),
        ok=ranked.ok,
        fails=ranked.summary.n_failed > 0,
    )


def _median_cost(ranked: Ranked, cost: str) -> float:
    return ranked.median_of(COSTS[cost])


def _against_best(
    comparisons: Sequence[Comparison], ranked: Sequence[Ranked], metric: str
) -> tuple[str, ...]:
    """Return a sentence about each comparison of the best solver, in the order of the ranking."""
    best = next((r.entry.solver for r in ranked if r.best), None)
    places = {r.entry.solver: place for place, r in enumerate(ranked)}
    of_best = [c for c in comparisons if best in (c.a, c.b)]
    of_best.sort(key=lambda c: places[c.b if c.a == best else c.a])
    return tuple(clean(sentence(c, metric)) for c in of_best)


def _pair(comparison: Comparison) -> Pair:
    c = comparison
    low, high = map(number, c.interval)
    seeds = f"{c.lower} / {c.equal} / {c.higher}"
    p = _p(c.adjusted)
    return Pair(c.a, c.b, seeds, number(c.difference), f"{low} to {high}", p, c.lead or "")


def _p(adjusted: float) -> str:
    return "1" if adjusted >= 1 else probability(adjusted).removeprefix("p ").removeprefix("= ")
