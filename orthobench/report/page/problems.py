"""What a page says of one problem: the ranking, how sure it is, how parameters were chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orthobench.report import remarks
from orthobench.report.findings import Family, sentence
from orthobench.report.plots.labels import axis_label
from orthobench.report.ranking import Ranked
from orthobench.report.words import (
    assigned,
    clean,
    count,
    duration,
    limits,
    number,
    plural,
    probability,
    si,
)
from orthobench.results.record import Record
from orthobench.results.tuning import Entry
from orthobench.stats.curves import AXES
from orthobench.stats.paired import Comparison
from orthobench.stats.seeds import spread_name


@dataclass(frozen=True)
class Row:
    """A solver on a problem, as its ranking shows it.

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
    seeds, difference, interval, p : str
        On how many seeds a ends lower, equal and higher; the median difference b - a with its
        interval; the adjusted p-value.
    lead : str
        The solver that is shown to end lower; empty where none is.
    """

    a: str
    b: str
    seeds: str
    difference: str
    interval: str
    p: str
    lead: str


@dataclass(frozen=True)
class Problem:
    """What a page says of one problem.

    Attributes
    ----------
    id, label, name : str
        Its anchor, its label as entries have it, and what is shown of it.
    facts : tuple of str
        Family, metric, seeds and budget.
    spread, effort : str
        What the spread spans, and what effort is counted in.
    rows : tuple of Row
    verdict : str
        Who wins, by how much and how sure that is.
    sentences : tuple of str
        The best against each of the others.
    pairs : tuple of Pair
        All comparisons; none where a page would have too many.
    compared : str
        How many comparisons were made.
    notes : tuple of str
        How parameters were chosen, and whose traces are made of runs from the start.
    absent : tuple of str
        Who takes no part.
    plots : tuple of int
        Their places among all plots of the page.
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


def problem(
    number_of: int,
    entries: Sequence[Entry],
    ranked: Sequence[Ranked],
    family: Family | None,
    plots: Iterable[int],
    paired: bool = True,
) -> Problem:
    """Return what a page says of one problem.

    Parameters
    ----------
    number_of : int
        Its place among the problems.
    entries : sequence of Entry
        All of its entries.
    ranked : sequence of Ranked
        Those that take part, best first.
    family : Family, optional
        What was found; None where nobody takes part in any problem of the family.
    plots : iterable of int
    paired : bool
        Whether all comparisons have a row.
    """
    first = entries[0].records[0]
    metric = axis_label(first.problem.primary)
    seeds = len(entries[0].seeds)
    effort = "steps" if any(_typical(r, "samples") == 0 for r in ranked) else "samples"
    label = entries[0].problem
    found = family.comparisons.get(label, ()) if family else ()
    return Problem(
        id=f"problem-{number_of}",
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
        notes=(*remarks.tuning(ranked), *remarks.reruns(ranked)),
        absent=_absent(entries),
        plots=tuple(plots),
    )


def _facts(record: Record, metric: str, seeds: int) -> tuple[str, ...]:
    goal = f"final {metric}, smaller is better"
    facts = (clean(record.problem.family), goal, plural(seeds, "seed"), limits(record.budget))
    return tuple(fact for fact in facts if fact)


def _row(ranked: Ranked, effort: str) -> Row:
    summary = ranked.summary
    low, high = map(number, summary.interval)
    return Row(
        mark=ranked.mark,
        solver=ranked.entry.solver,
        chosen=assigned(ranked.entry.chosen),
        median=number(summary.median),
        spread=f"{number(summary.low)} to {number(summary.high)}",
        interval=f"{low} to {high}",
        seconds=duration(_typical(ranked, "seconds")),
        flops=si(_typical(ranked, "flops")),
        effort=count(_typical(ranked, effort)),
        ok=ranked.ok,
        fails=ranked.summary.n_failed > 0,
    )


def _typical(ranked: Ranked, axis: str) -> float:
    return ranked.typical(AXES[axis])


def _against_best(
    found: Sequence[Comparison], ranked: Sequence[Ranked], metric: str
) -> tuple[str, ...]:
    """Return the comparisons of the best solver in words, in the order of the ranking."""
    best = next((r.entry.solver for r in ranked if r.best), None)
    others = {r.entry.solver: place for place, r in enumerate(ranked)}
    of_best = [c for c in found if best in (c.a, c.b)]
    of_best.sort(key=lambda c: others[c.b if c.a == best else c.a])
    return tuple(clean(sentence(c, metric)) for c in of_best)


def _pair(found: Comparison) -> Pair:
    low, high = map(number, found.interval)
    return Pair(
        found.a,
        found.b,
        f"{found.lower} / {found.equal} / {found.higher}",
        number(found.difference),
        f"{low} to {high}",
        _p(found.adjusted),
        found.lead or "",
    )


def _p(adjusted: float) -> str:
    return "1" if adjusted >= 1 else probability(adjusted).removeprefix("p ").removeprefix("= ")


def _absent(entries: Sequence[Entry]) -> tuple[str, ...]:
    return tuple(clean(entry.solver) for entry in entries if entry.refused)
