"""Scaling: how much of more workers a run over blocks makes use of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.harness.reducing.parts import WORKERS, efficiency
from orthobench.harness.trace import Checkpoint
from orthobench.report.plots.labels import about, axis_label, band_of
from orthobench.report.plots.sweeps import sweeps
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import spread
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean, number

EFFICIENCY, SECONDS = VALUES = ("efficiency", "seconds")
"""What can be drawn against the number of workers."""

SAME = 0.02
"""The part by which samples of a worker may differ in weak scaling: blocks are whole."""


Solvers: TypeAlias = Mapping[str, Mapping[int, SolverResult]]
"""The runs of solvers over blocks, by solver and number of workers; one of them has one worker."""


def scalings(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return the plots of strong scaling of each problem, and of weak scaling of each sweep.

    Strong: the same samples on more workers. Weak: as many more samples as there are more workers.

    Parameters
    ----------
    entries : sequence of SolverResult
    """
    own = [entry for entry in entries if workers_of(entry)]
    problems = grouped(own, lambda entry: entry.problem).items()
    by_name = [(f"{name}: strong scaling", strong(group)) for name, group in problems]
    by_name += [(f"{s.name}: weak scaling", weak(s.all)) for s in sweeps(own, 2)]
    return [_plot(name, solvers) for name, solvers in by_name if solvers]


def workers_of(entry: SolverResult) -> int:
    """Return the number of workers of the runs of an entry; 0 where they are not over blocks."""
    counts = (record.trace[-1].metrics.get(WORKERS, 0) for record in entry.finished if record.trace)
    return int(max(counts, default=0))


def strong(entries: Iterable[SolverResult]) -> dict[str, dict[int, SolverResult]]:
    """Return the solvers of a problem that ran on one worker, and on more."""
    return _scalings(entries, lambda alone, entry: _samples(alone) == _samples(entry))


def weak(entries: Iterable[SolverResult]) -> dict[str, dict[int, SolverResult]]:
    """Return the solvers of a sweep that ran on more workers with as many more samples."""

    def alike(alone: SolverResult, entry: SolverResult) -> bool:
        each = _samples(entry) / workers_of(entry)
        return abs(each - _samples(alone)) <= SAME * _samples(alone)

    return _scalings(entries, alike)


def _scalings(
    entries: Iterable[SolverResult], belongs: Callable[[SolverResult, SolverResult], bool]
) -> dict[str, dict[int, SolverResult]]:
    def place(entry: SolverResult) -> str:
        return str(entry.records[0].solver.parameters.get("on", ""))

    def order(entry: SolverResult) -> tuple[int, int, bool]:
        return workers_of(entry), _samples(entry), not place(entry).startswith("dask")

    solvers: dict[str, dict[int, SolverResult]] = {}
    groups = grouped(entries, lambda entry: entry.solver.replace(f" on={place(entry)}", ""))
    for solver, group in groups.items():
        alone, *others = sorted(group, key=order)
        if workers_of(alone) != 1:
            continue
        own: dict[int, SolverResult] = {}
        for entry in (alone, *others):
            if belongs(alone, entry):
                own.setdefault(workers_of(entry), entry)
        if len(own) > 1:
            solvers[solver] = own
    return solvers


def _samples(entry: SolverResult) -> int:
    return max((r.trace[-1].work.samples for r in entry.finished if r.trace), default=0)


def _plot(name: str, solvers: Solvers) -> Plot:
    """Return the plot of efficiency and time against the number of workers."""
    return Plot(
        name=name,
        kind="scaling",
        choices={"y": VALUES},
        draw=lambda key: scaling_panel(solvers, *key),
        sheet=[(EFFICIENCY,), (SECONDS,)],
        about=about([e for own in solvers.values() for e in own.values()], crossed=False),
    )


def scaling_panel(solvers: Solvers, y: str) -> Panel:
    """Return a panel: a line a solver, and for the efficiency what is ideal.

    Parameters
    ----------
    solvers : mapping
    y : str
        One of `VALUES`.
    """
    counts = sorted({float(count) for own in solvers.values() for count in own})
    ideal = Series("ideal", np.array(counts), np.ones(len(counts)))
    label = "efficiency against one worker" if y == EFFICIENCY else "time (s), clock"
    return Panel(
        Axis(WORKERS, axis_label(WORKERS), ticks=tuple(counts)),
        Axis(y, label, log=y == SECONDS),
        (
            *(_series(name, own, y) for name, own in solvers.items()),
            *([ideal] if y == EFFICIENCY else []),
        ),
        band=band_of([entry for own in solvers.values() for entry in own.values()]),
    )


def _series(name: str, entries: Mapping[int, SolverResult], y: str) -> Series:
    workers, median, low, high = np.array(points(entries, y), dtype=np.float64).T
    at = f" ({number(median[-1])} at {workers[-1]:g})" if y == EFFICIENCY else ""
    colour = next(iter(entries.values())).solver
    return Series(clean(name + at), workers, median, low, high, solver=colour)


def points(
    entries: Mapping[int, SolverResult], value: str
) -> list[tuple[float, float, float, float]]:
    """Return workers, and median, low and high of a value over seeds.

    Parameters
    ----------
    entries : mapping
        A solver by the number of workers.
    value : str
        One of `VALUES`.
    """
    alone = {r.seed: r.trace[-1] for r in entries[1].finished if r.ok}
    return [(n, *_spread(entry, alone, value)) for n, entry in entries.items()]


def _spread(
    entry: SolverResult, alone: Mapping[int, Checkpoint], value: str
) -> tuple[float, float, float]:
    """Return median, low and high over the seeds that also ran alone; NaN where a run failed."""
    lasts = [(alone.get(r.seed), r.trace[-1] if r.ok else None) for r in entry.finished]
    both = [(one, last) for one, last in lasts if one and last]
    if not both or len(both) < len(lasts):
        return math.nan, math.nan, math.nan
    if value == SECONDS:
        return spread([last.seconds for _, last in both])
    return spread([
        last.work.samples / one.work.samples * efficiency(one.metrics, last.metrics, last.seconds)
        for one, last in both
    ])  # fmt: skip
