"""Tables of the pages: solvers on a problem, problems of a solver, and standings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.atlas.regimes import REACHED, Compared
from orthobench.atlas.site.content import Contest, Site
from orthobench.atlas.table import WITHDRAWN, AtlasRow
from orthobench.report.formatting import clean, duration, number, plural, si
from orthobench.report.page.families import TINTS
from orthobench.report.sentences import FAR, effect_text, interval_text
from orthobench.stats.bootstrap import intervals, quantiles
from orthobench.stats.paired import Decision
from orthobench.tools.collections import grouped

MARKS = {
    Decision.BEHIND: "other",
    Decision.AHEAD: "close",
    Decision.OPEN: "close",
    Decision.EQUAL: "equal",
    Decision.UNDECIDABLE: "undecided",
}
"""The marks of decisions, as on the pages of reports."""


@dataclass(frozen=True)
class Cell:
    """A solver on a problem, compared by the final value.

    Attributes
    ----------
    kind : str
        ``"best"``, ``"close"``, ``"equal"``, ``"undecided"``, ``"other"`` or ``"absent"``.
    factor : str
        Its factor to the best, or to the first where nobody is best; empty where it has none.
    failed : int
        Failed runs.
    tint : int
        0 for the smallest factors, to 3.
    """

    kind: str
    factor: str = ""
    failed: int = 0
    tint: int = 3


@dataclass(frozen=True)
class Row:
    """A row of a table about solvers on problems: texts are for people.

    Attributes
    ----------
    solver : str
    contest : (str, str)
    cell : Cell
    median, interval : str
        Of the final values, with its 95 % interval over the seeds.
    time, flops : str
        Medians up to 1 % of the gap; a dash where half of the runs do not get there.
    whole_time, whole_flops : str
        Medians of whole runs.
    ok, tiers, parameters, reasons : str
    """

    solver: str
    contest: Contest
    cell: Cell
    median: str
    interval: str
    time: str
    flops: str
    whole_time: str
    whole_flops: str
    ok: str
    tiers: str
    parameters: tuple[str, ...]
    reasons: str


def cell(one: Compared | None, solver: str) -> Cell:
    """Return a solver on a compared problem."""
    if one is None or solver not in one.values:
        return Cell("absent")
    failed = sum(not math.isfinite(value) for value in one.values[solver] if value == value)
    factor = one.factors[solver]
    text = "" if math.isnan(factor) else "∞" if math.isinf(factor) else _factor(factor)
    tint = sum(not factor <= most for most in TINTS)
    if solver == one.contest.best:
        return Cell("best", text, failed, 0)
    decisions = {c.other: MARKS[c.decision] for c in one.contest.comparisons}
    kind = decisions.get(solver, "other")
    return Cell("other" if failed and kind != "equal" else kind, text, failed, tint)


def _factor(factor: float) -> str:
    return (
        f"> {number(FAR)}"
        if factor > FAR
        else f"{factor:.2f}"
        if factor < 9.995
        else number(factor)
    )


def rows_of(site: Site, rows: Sequence[AtlasRow]) -> list[Row]:
    """Return a row for each solver on each problem, those with the smallest medians first."""
    groups = grouped(rows, lambda row: (row.solver, row.contest))
    found = [(_medians(own), own) for own in groups.values()]
    found.sort(key=lambda pair: (pair[1][0].contest, pair[0]))
    lows, highs = _intervals([own for _, own in found])
    return [
        _row(site, own, median, (low, high))
        for (median, own), low, high in zip(found, lows, highs, strict=True)
    ]


def _medians(rows: Sequence[AtlasRow]) -> float:
    return float(quantiles([row.value for row in rows], 0.5))


def _intervals(groups: Sequence[Sequence[AtlasRow]]) -> tuple[list[float], list[float]]:
    """Return the ends of the intervals of medians, for groups of any sizes."""
    ends = [(math.nan, math.nan)] * len(groups)
    for at in grouped(range(len(groups)), lambda i: len(groups[i])).values():
        values = np.array([[row.value for row in groups[i]] for i in at])
        for i, low, high in zip(at, *(end.tolist() for end in intervals(values)), strict=True):
            ends[i] = (low, high)
    return [low for low, _ in ends], [high for _, high in ends]


def _row(site: Site, own: Sequence[AtlasRow], median: float, ends: tuple[float, float]) -> Row:
    first, ok = own[0], [row for row in own if not row.failed]
    failed = Counter(f"{row.ending}: {clean(row.reason)}" for row in own if row.failed)
    reasons = "; ".join(f"{text} ({plural(count, 'run')})" for text, count in failed.items())
    tiers = Counter(row.tier for row in own)
    withdrawn = dict.fromkeys(clean(row.reason) for row in own if row.tier == WITHDRAWN)
    return Row(
        first.solver, first.contest, cell(site.compared.get(first.contest), first.solver),
        number(median), " to ".join(map(number, ends)) if len(own) > 1 else "",
        _text(own, lambda row: row.seconds_to[REACHED], duration),
        _text(own, lambda row: row.flops_to[REACHED], si),
        _text(ok, lambda row: row.seconds, duration), _text(ok, lambda row: row.flops, si),
        f"{len(ok)}/{len(own)}", _tiers(tiers),
        tuple(dict.fromkeys(row.solver_parameters for row in own)),
        "; ".join([*([reasons] if reasons else []), *withdrawn]),
    )  # fmt: skip


def _tiers(counts: Mapping[str, int]) -> str:
    """Return the tiers of runs, with their numbers where there are several."""
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{tier} {count}" for tier, count in counts.items())


def _text(
    rows: Sequence[AtlasRow], value: Callable[[AtlasRow], float], text: Callable[[float], str]
) -> str:
    values = [value(row) for row in rows]
    median = float(quantiles(values, 0.5)) if values else math.nan
    return text(median) if math.isfinite(median) else "-"


@dataclass(frozen=True)
class Standing:
    """A solver over the problems of a family, compared by the final value."""

    solver: str
    best: int
    close: int
    problems: int
    failed: int
    runs: int


def standings(site: Site, family: str) -> list[Standing]:
    """Return the solvers of a family, those that are best on the most problems first."""
    rows = site.families[family]
    contests = [
        site.compared[c] for c in dict.fromkeys(r.contest for r in rows) if c in site.compared
    ]
    found = []
    for solver, own in grouped(rows, lambda row: row.solver).items():
        kinds = Counter(cell(one, solver).kind for one in contests)
        taking_part = len(contests) - kinds["absent"]
        failed = sum(row.failed for row in own)
        near = kinds["close"] + kinds["equal"]
        found.append(Standing(solver, kinds["best"], near, taking_part, failed, len(own)))
    return sorted(found, key=lambda s: (-s.best, -s.close, s.failed, s.solver))


def factor_sentence(one: Compared) -> str:
    """Return who is best on a problem by the final value, by how much and how sure that is."""
    contest = one.contest
    if contest.best is None:
        return (
            "All solvers end equal, up to rounding."
            if contest.equal
            else "Nobody is best: each has failed runs."
        )
    seeds = plural(contest.seeds, "seed")
    best, near = clean(contest.best), contest.nearest
    if near is None or math.isinf(near.effect):
        return f"{best} ends lowest, over {seeds}."
    shown = "shown" if contest.shown else "not shown for all"
    return (
        f"{best} ends lowest, over {seeds}; the next, {clean(near.other)}, ends "
        f"{effect_text(near)} (95 % interval {interval_text(near)}). That it is ahead of "
        f"every other solver is {shown}."
    )
