"""Break-even: where one place to compute overtakes another, as problems grow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.harness.placement import TRANSFER
from orthobench.harness.trace import Checkpoint
from orthobench.report.formatting import clean, listed, number
from orthobench.report.plots.labels import about, axis_label
from orthobench.report.plots.sweeps import DECADE, Sweep, sweeps
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import spread, spread_name
from orthobench.stats.crossings import crossings
from orthobench.stats.values import COSTS, final

CLOCK, MOVED = TIMES = ("clock", "clock + moving data")
"""The times that can be compared: without and with what moving arrays took."""

FEWEST = 2
"""The fewest sizes between which a ratio can cross one."""

GROWS = 2.0
"""From this ratio of the largest size to the smallest on, problems grow."""

NONE = "–"
"""Stands for a size at which two places take the same time, where there is none."""


@dataclass(frozen=True)
class Pair:
    """A solver at two places, on problems that differ in one number.

    Attributes
    ----------
    solver : str
        Its label without the place.
    base, other : str
        The places.
    entries : mapping
        For each value of the number, ascending, the entries at both places.
    """

    solver: str
    base: str
    other: str
    entries: Mapping[float, tuple[SolverResult, SolverResult]]

    @property
    def label(self) -> str:
        """The pair, for people."""
        return clean(f"{self.solver}: {self.other} against {self.base}")

    def ratios(self, time: str) -> list[tuple[float, float, float, float]]:
        """Return size, and median, low and high of the ratio of times over seeds: base to other.

        NaN where a run failed.

        Parameters
        ----------
        time : str
            One of `TIMES`.
        """
        return [(size, *_ratio(*both, time)) for size, both in self.entries.items()]

    def crossings(self, time: str) -> list[float]:
        """Return the sizes at which both places take the same time."""
        found = self.ratios(time)
        return crossings([one[0] for one in found], [one[1] for one in found])

    def even(self, time: str) -> str:
        """Return these sizes for people; empty where there is none."""
        found = self.crossings(time)
        return listed([number(at) for at in found], len(found)) if found else ""


@dataclass(frozen=True)
class Row:
    """A row of the table of break-evens, by the clock.

    Attributes
    ----------
    sweep, solver, base, other : str
    smallest, largest : str
        How many times as fast the other place is at the smallest and the largest size.
    even : str
        The size at which both take the same time, or `NONE`.
    """

    sweep: str
    solver: str
    base: str
    other: str
    smallest: str
    largest: str
    even: str


def break_evens(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return a plot for each sweep in which solvers run at several places.

    Parameters
    ----------
    entries : sequence of SolverResult
        Runs that measured something beside time are left out.
    """
    return [break_even(swept, found) for swept, found in _compared(entries)]


def break_even_rows(entries: Sequence[SolverResult]) -> list[Row]:
    """Return the table of the break-evens of these entries."""
    return [_row(swept, pair) for swept, found in _compared(entries) for pair in found]


def _compared(entries: Sequence[SolverResult]) -> list[tuple[Sweep, list[Pair]]]:
    timed = [entry for entry in entries if not any(r.measure for r in entry.records)]
    found = [(swept, pairs(swept)) for swept in sweeps(timed, FEWEST) if _grows(swept)]
    return [(swept, pairs) for swept, pairs in found if pairs]


def _grows(swept: Sweep) -> bool:
    least, *_, most = swept.entries
    return 0 < GROWS * least <= most


def _row(swept: Sweep, pair: Pair) -> Row:
    ratios = [number(ratio) for _, ratio, _, _ in pair.ratios(CLOCK)]
    even = f"{swept.parameter} = {pair.even(CLOCK)}" if pair.even(CLOCK) else NONE
    return Row(swept.name, pair.solver, pair.base, pair.other, ratios[0], ratios[-1], even)


def pairs(swept: Sweep) -> list[Pair]:
    """Return each solver of a sweep at its first place and at each other one."""
    by_solver: dict[str, dict[str, dict[float, SolverResult]]] = {}
    for size, group in swept.entries.items():
        for entry in group:
            on = str(entry.records[0].solver.parameters.get("on", ""))
            solver = entry.solver.replace(f" on={on}", "")
            if on:
                by_solver.setdefault(solver, {}).setdefault(on, {})[size] = entry
    found = []
    for solver, places in by_solver.items():
        (base, ours), *others = places.items()
        for other, theirs in others:
            both = {size: (ours[size], theirs[size]) for size in ours if size in theirs}
            found += [Pair(solver, base, other, both)] if len(both) >= FEWEST else []
    return found


def break_even(swept: Sweep, found: Sequence[Pair]) -> Plot:
    """Return the plot of the ratios of times against the size, with the sizes where they are one.

    Parameters
    ----------
    swept : Sweep
    found : sequence of Pair
        Its pairs, at least one.
    """

    def draw(key: Key) -> Panel:
        return break_even_panel(swept, found, key[0])

    return Plot(
        name=f"{swept.name}: places",
        kind="break-even",
        choices={"time": TIMES},
        draw=draw,
        sheet=[(CLOCK,)],
        about=about(swept.all, *_sentences(swept, found), crossed=False),
    )


def break_even_panel(swept: Sweep, found: Sequence[Pair], time: str) -> Panel:
    """Return a panel: how many times as fast the other place is, with rules at the break-even.

    Parameters
    ----------
    swept : Sweep
    found : sequence of Pair
    time : str
        One of `TIMES`.
    """
    values = np.array(list(swept.entries), dtype=np.float64)
    log = bool(values[0] > 0 and values[-1] >= DECADE * values[0])
    seeds = max(len(entry.seeds) for entry in swept.all)
    even = Series("equally fast", values[[0, -1]], np.ones(2))
    return Panel(
        Axis(swept.parameter, axis_label(swept.parameter), log, ticks=tuple(values.tolist())),
        Axis("ratio", f"time of the first place / of the other, {time}"),
        (*(_series(pair, time) for pair in found), even),
        rules=tuple(sorted({at for pair in found for at in pair.crossings(time)})),
        band=spread_name(seeds) if seeds > 1 else "",
    )


def _series(pair: Pair, time: str) -> Series:
    size, ratio, low, high = np.array(pair.ratios(time)).T
    _, entry = next(iter(pair.entries.values()))
    even = pair.even(time)
    label = f"{pair.label} (even at {even})" if even else pair.label
    return Series(label, size, ratio, low, high, solver=entry.solver)


def _sentences(swept: Sweep, found: Sequence[Pair]) -> list[str]:
    """Return which pairs break even, by the clock."""
    even = [(pair.label, pair.even(CLOCK)) for pair in found if pair.even(CLOCK)]
    said = [f"{label}: even at {swept.parameter} = {at}" for label, at in even]
    return said or ["between these sizes no place overtakes another"]


def _ratio(base: SolverResult, other: SolverResult, time: str) -> tuple[float, float, float]:
    """Return median, low and high over the seeds that both have; NaN where a run failed."""
    theirs = {record.seed: record for record in other.finished}
    both = [(record, theirs[record.seed]) for record in base.finished if record.seed in theirs]
    read = _seconds(time)
    times = [(final(ours, read), final(his, read)) for ours, his in both]
    if not times or not np.isfinite(times).all():
        return math.nan, math.nan, math.nan
    median, low, high = spread([ours / his for ours, his in times])
    return float(median), float(low), float(high)


def _seconds(time: str) -> Callable[[Checkpoint], float]:
    def seconds(mark: Checkpoint) -> float:
        moved = mark.metrics.get(TRANSFER, 0.0) if time == MOVED else 0.0
        return COSTS["seconds"](mark) + moved

    return seconds
