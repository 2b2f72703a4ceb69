"""Scaling: how much of more workers a run over blocks makes use of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.harness.reducing.costs import WORKERS, efficiency
from orthobench.harness.trace import Checkpoint
from orthobench.report.formatting import clean, number
from orthobench.report.plots.labels import about, axis_label
from orthobench.report.plots.sweeps import sweeps
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import spread, spread_name
from orthobench.tools.collections import grouped

EFFICIENCY, SECONDS = VALUES = ("efficiency", "seconds")
"""What can be drawn against the number of workers."""

SAME = 0.02
"""The part by which samples of a worker may differ in weak scaling: blocks are whole."""


@dataclass(frozen=True)
class Scaling:
    """The runs of a solver over blocks, by the number of workers; one of them has one worker.

    Attributes
    ----------
    solver : str
        Its label without the place.
    entries : mapping
        Ascending.
    """

    solver: str
    entries: Mapping[int, SolverResult]

    def points(self, value: str) -> list[tuple[float, float, float, float]]:
        """Return workers, and median, low and high of a value over seeds.

        Parameters
        ----------
        value : str
            One of `VALUES`.
        """
        alone = {r.seed: r.trace[-1] for r in self.entries[1].finished if r.ok}
        return [(n, *_spread(entry, alone, value)) for n, entry in self.entries.items()]


def scalings(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return the plots of strong scaling of each problem, and of weak scaling of each sweep.

    Strong: the same samples on more workers. Weak: as many more samples as there are more workers.

    Parameters
    ----------
    entries : sequence of SolverResult
    """
    own = [entry for entry in entries if workers_of(entry)]
    problems = grouped(own, lambda entry: entry.problem).items()
    plots = [scaling(f"{name}: strong scaling", strong(group)) for name, group in problems]
    plots += [scaling(f"{s.name}: weak scaling", weak(s.all)) for s in sweeps(own, 2)]
    return [plot for plot in plots if plot is not None]


def workers_of(entry: SolverResult) -> int:
    """Return the number of workers of the runs of an entry; 0 where they are not over blocks."""
    found = (record.trace[-1].metrics.get(WORKERS, 0) for record in entry.finished if record.trace)
    return int(max(found, default=0))


def strong(entries: Iterable[SolverResult]) -> list[Scaling]:
    """Return the solvers of a problem that ran on one worker, and on more."""
    return _scalings(entries, lambda alone, entry: _samples(alone) == _samples(entry))


def weak(entries: Iterable[SolverResult]) -> list[Scaling]:
    """Return the solvers of a sweep that ran on more workers with as many more samples."""

    def alike(alone: SolverResult, entry: SolverResult) -> bool:
        each = _samples(entry) / workers_of(entry)
        return abs(each - _samples(alone)) <= SAME * _samples(alone)

    return _scalings(entries, alike)


def scaling(name: str, found: Sequence[Scaling]) -> Plot | None:
    """Return the plot of efficiency and time against the number of workers; None of no solver.

    Parameters
    ----------
    name : str
    found : sequence of Scaling
    """
    if not found:
        return None

    def draw(key: Key) -> Panel:
        return scaling_panel(found, key[0])

    return Plot(
        name=name,
        kind="scaling",
        choices={"y": VALUES},
        draw=draw,
        sheet=[(EFFICIENCY,), (SECONDS,)],
        about=about([e for one in found for e in one.entries.values()], crossed=False),
    )


def scaling_panel(found: Sequence[Scaling], y: str) -> Panel:
    """Return a panel: a line a solver, and for the efficiency what is ideal.

    Parameters
    ----------
    found : sequence of Scaling
    y : str
        One of `VALUES`.
    """
    counts = sorted({float(count) for one in found for count in one.entries})
    seeds = max(len(entry.seeds) for one in found for entry in one.entries.values())
    ideal = Series("ideal", np.array(counts), np.ones(len(counts)))
    label = "efficiency against one worker" if y == EFFICIENCY else "time (s), clock"
    return Panel(
        Axis(WORKERS, axis_label(WORKERS), ticks=tuple(counts)),
        Axis(y, label, log=y == SECONDS),
        (*(_series(one, y) for one in found), *([ideal] if y == EFFICIENCY else [])),
        band=spread_name(seeds) if seeds > 1 else "",
    )


def _scalings(
    entries: Iterable[SolverResult], belongs: Callable[[SolverResult, SolverResult], bool]
) -> list[Scaling]:
    found = []
    for solver, group in grouped(entries, _solver).items():
        ordered = sorted(group, key=lambda e: (workers_of(e), _samples(e), -_on_dask(e)))
        if not ordered or workers_of(ordered[0]) != 1:
            continue
        own: dict[int, SolverResult] = {}
        for entry in ordered:
            if belongs(ordered[0], entry):
                own.setdefault(workers_of(entry), entry)
        found += [Scaling(solver, own)] if len(own) > 1 else []
    return found


def _solver(entry: SolverResult) -> str:
    return entry.solver.replace(f" on={_place(entry)}", "")


def _place(entry: SolverResult) -> str:
    return str(entry.records[0].solver.parameters.get("on", ""))


def _on_dask(entry: SolverResult) -> bool:
    return _place(entry).startswith("dask")


def _samples(entry: SolverResult) -> int:
    return max((r.trace[-1].work.samples for r in entry.finished if r.trace), default=0)


def _series(one: Scaling, y: str) -> Series:
    workers, median, low, high = np.array(one.points(y), dtype=np.float64).T
    at = f" ({number(median[-1])} at {workers[-1]:g})" if y == EFFICIENCY else ""
    colour = next(iter(one.entries.values())).solver
    return Series(clean(one.solver + at), workers, median, low, high, solver=colour)


def _spread(
    entry: SolverResult, alone: Mapping[int, Checkpoint], value: str
) -> tuple[float, float, float]:
    """Return median, low and high over the seeds that also ran alone; NaN where a run failed."""
    lasts = [(alone.get(r.seed), r.trace[-1] if r.ok else None) for r in entry.finished]
    both = [(one, last) for one, last in lasts if one and last]
    if not both or len(both) < len(lasts):
        return math.nan, math.nan, math.nan
    found = [last.seconds if value == SECONDS else _efficiency(one, last) for one, last in both]
    median, low, high = spread(found)
    return float(median), float(low), float(high)


def _efficiency(alone: Checkpoint, last: Checkpoint) -> float:
    more = last.work.samples / alone.work.samples
    return more * efficiency(alone.metrics, last.metrics, last.seconds)
