"""Sweeps: solvers against a parameter of the problem, and where one place overtakes another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.harness.identity import canonical
from orthobench.harness.placement import TRANSFER
from orthobench.harness.trace import Checkpoint
from orthobench.report.plots.labels import about, axis_label, band_of, medians, with_failures
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import spread
from orthobench.stats.costs import COMMON_COSTS, COSTS
from orthobench.stats.values import cost_or_metric, final, final_spread
from orthobench.tools.formatting import clean, listed, number

FEWEST = 3
"""The fewest values of a parameter that make a sweep."""

DECADE = 10.0
"""From this ratio of the largest value to the smallest on, the parameter's axis is logarithmic."""

CLOCK, MOVED = TIMES = ("clock", "clock + moving data")
"""The times in which places can be compared: without and with what moving arrays took."""

FEWEST_SIZES = 2
"""The fewest sizes between which a ratio of times can cross one."""

GROWTH = 2.0
"""From this ratio of the largest size to the smallest on, problems grow."""


@dataclass(frozen=True)
class Sweep:
    """Problems that differ in one number only, all at the same level if there are any.

    Attributes
    ----------
    name : str
        For people: the problem, the parameter, and those of the others that vary in the suite.
    parameter : str
    entries : mapping
        The entries of each value of the parameter, ascending.
    """

    name: str
    parameter: str
    entries: Mapping[float, Sequence[SolverResult]]

    @property
    def all(self) -> list[SolverResult]:
        """The entries of all values."""
        return [entry for group in self.entries.values() for entry in group]

    @property
    def axis(self) -> Axis:
        """The axis of the parameter."""
        values = tuple(float(value) for value in self.entries)
        log = values[0] > 0 and values[-1] >= DECADE * values[0]
        return Axis(self.parameter, axis_label(self.parameter), log, ticks=values)

    def points(self, solver: str, value: str) -> list[tuple[float, float, float, float]]:
        """Return parameter, median, low and high of a final value; infinite where runs failed.

        Parameters
        ----------
        solver : str
        value : str
            A metric, or one of `orthobench.stats.costs.COSTS`.
        """
        read = cost_or_metric(value)
        return [
            (at, *final_spread(entry.finished, read, len(entry.finished)))
            for at, group in self.entries.items()
            for entry in group
            if entry.solver == solver and entry.finished
        ]


def sweeps(entries: Sequence[SolverResult], fewest: int = FEWEST) -> list[Sweep]:
    """Return all sweeps that the problems of a suite contain.

    Parameters
    ----------
    entries : sequence of SolverResult
        Solvers that take no part are left out.
    fewest : int
        The fewest values of a parameter.
    """
    groups: dict[tuple[str, str, str, str], dict[float, list[SolverResult]]] = {}
    for entry in entries:
        settings = entry.problem_info.parameters
        for name, value in settings.items() if entry.takes_part else ():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            rest = canonical({k: v for k, v in settings.items() if k != name})
            level = "" if entry.level is None else f", {entry.level}"
            key = (entry.problem_info.name, name, rest, level)
            groups.setdefault(key, {}).setdefault(value, []).append(entry)
    return [
        Sweep(_name(key, members, entries), key[1], dict(sorted(members.items())))
        for key, members in groups.items()
        if len(members) >= fewest
    ]


def _name(
    key: tuple[str, str, str, str],
    members: Mapping[float, Sequence[SolverResult]],
    entries: Sequence[SolverResult],
) -> str:
    """Return the name of a sweep; see `Sweep`."""
    recipe, parameter, _, level = key
    own = next(iter(members.values()))[0].problem_info.parameters
    alike = [e.problem_info.parameters for e in entries if e.problem_info.name == recipe]
    differing = (
        f" {name}={value}"
        for name, value in own.items()
        if name != parameter and any(other.get(name) != value for other in alike)
    )
    return f"{recipe}{''.join(differing)} against {parameter}{level}"


def sweep(swept: Sweep) -> Plot:
    """Return the plot of final metrics and costs against a parameter."""
    records = [record for entry in swept.all for record in entry.records]
    primary = records[0].problem.primary
    metrics = (name for r in records for mark in r.trace[-1:] for name in mark.metrics)
    return Plot(
        name=swept.name,
        kind="sweep",
        choices={"y": tuple(dict.fromkeys((primary, *COMMON_COSTS, *metrics)))},
        draw=lambda key: sweep_panel(swept, *key),
        sheet=[(option,) for option in (primary, *COMMON_COSTS)],
        about=about(swept.all, *medians(swept.all, crossed=False)),
    )


def sweep_panel(swept: Sweep, y: str) -> Panel:
    """Return a panel: the medians of all solvers, with bands over their seeds.

    Parameters
    ----------
    swept : Sweep
    y : str
        A metric, ``"flops"``, ``"seconds"``, ``"samples"`` or ``"steps"``.
    """
    series = []
    for solver in dict.fromkeys(entry.solver for entry in swept.all):
        runs = [r for e in swept.all if e.solver == solver for r in e.finished]
        failed = sum(not record.ok for record in runs)
        label = with_failures(solver, failed, str(len(runs)))
        x, median, low, high = np.array(swept.points(solver, y), dtype=np.float64).T
        series.append(Series(label, x, median, low, high, solver=solver))
    return Panel(swept.axis, Axis(y, axis_label(y)), tuple(series), band=band_of(swept.all))


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

    def ratios(self, time: str = CLOCK) -> list[tuple[float, float, float, float]]:
        """Return size, and median, low and high of the ratio of times over seeds: base to other.

        NaN where a run failed.

        Parameters
        ----------
        time : str
            One of `TIMES`.
        """
        return [(size, *_ratio(*both, time)) for size, both in self.entries.items()]

    def crossings(self, time: str = CLOCK) -> list[float]:
        """Return the sizes at which both places take the same time."""
        ratios = self.ratios(time)
        return crossings([one[0] for one in ratios], [one[1] for one in ratios])

    def even(self, time: str = CLOCK) -> str:
        """Return these sizes for people; empty where there is none."""
        sizes = self.crossings(time)
        return listed([number(at) for at in sizes], len(sizes)) if sizes else ""


def crossings(sizes: Sequence[float], ratios: Sequence[float]) -> list[float]:
    """Return the sizes at which a ratio is one, between two sizes or at one of them.

    Between two sizes the logarithm of the ratio is taken to be linear in that of the size, as it is
    where both costs are powers of the size.

    Parameters
    ----------
    sizes : sequence of float
        Positive, ascending.
    ratios : sequence of float
        Positive; those that are not finite are left out, with their sizes.

    Examples
    --------
    >>> crossings([10, 1000], [0.1, 10])
    [100.0]
    """
    known = [
        (math.log(size), math.log(ratio))
        for size, ratio in zip(sizes, ratios, strict=True)
        if math.isfinite(ratio)
    ]
    at = [x for x, y in known if y == 0]
    at += [x - y * (x_after - x) / (y_after - y)
           for (x, y), (x_after, y_after) in pairwise(known) if y * y_after < 0]  # fmt: skip
    return [float(f"{math.exp(x):.12g}") for x in sorted(at)]


def break_evens(entries: Sequence[SolverResult]) -> list[tuple[Sweep, list[Pair]]]:
    """Return the sweeps in which solvers run at several places, with these solvers.

    Parameters
    ----------
    entries : sequence of SolverResult
        Runs that measured something beside time are left out.
    """
    timed = [entry for entry in entries if not any(r.measure for r in entry.records)]
    compared = []
    for swept in sweeps(timed, FEWEST_SIZES):
        least, *_, most = swept.entries
        if 0 < GROWTH * least <= most and (of_sweep := pairs(swept)):
            compared.append((swept, of_sweep))
    return compared


def pairs(swept: Sweep) -> list[Pair]:
    """Return each solver of a sweep at its first place and at each other one."""
    by_solver: dict[tuple[str, str], dict[str, dict[float, SolverResult]]] = {}
    for size, group in swept.entries.items():
        for entry in group:
            about = entry.records[0].solver
            left = {k: v for k, v in about.parameters.items() if k not in {"on", *about.tuned}}
            if on := str(about.parameters.get("on", "")):
                solver = about.name, canonical(left)
                by_solver.setdefault(solver, {}).setdefault(on, {})[size] = entry
    compared = []
    for places in by_solver.values():
        (base, ours), *others = places.items()
        called = next(iter(ours.values())).solver.replace(f" on={base}", "")
        for other, theirs in others:
            both = {size: (ours[size], theirs[size]) for size in ours if size in theirs}
            compared += [Pair(called, base, other, both)] if len(both) >= FEWEST_SIZES else []
    return compared


def break_even(swept: Sweep, compared: Sequence[Pair]) -> Plot:
    """Return the plot of the ratios of times against the size, with the sizes where they are one.

    Parameters
    ----------
    swept : Sweep
    compared : sequence of Pair
        Its pairs, at least one.
    """
    even = [(pair.label, pair.even()) for pair in compared if pair.even()]
    sentences = [f"{label}: even at {swept.parameter} = {at}" for label, at in even]
    nowhere = "between these sizes no place overtakes another"
    return Plot(
        name=f"{swept.name}: places",
        kind="break-even",
        choices={"time": TIMES},
        draw=lambda key: break_even_panel(swept, compared, *key),
        sheet=[(CLOCK,)],
        about=about(swept.all, *medians(swept.all, crossed=False), *(sentences or [nowhere])),
    )


def break_even_panel(swept: Sweep, compared: Sequence[Pair], time: str) -> Panel:
    """Return a panel: how many times as fast the other place is, with rules at the break-even.

    Parameters
    ----------
    swept : Sweep
    compared : sequence of Pair
    time : str
        One of `TIMES`.
    """
    ends = np.array(swept.axis.ticks)[[0, -1]]
    return Panel(
        swept.axis,
        Axis("ratio", f"time of the first place / of the other, {time}"),
        (*(_ratio_series(p, time) for p in compared), Series("equally fast", ends, np.ones(2))),
        rules=tuple(sorted({at for pair in compared for at in pair.crossings(time)})),
        band=band_of(swept.all),
    )


def _ratio_series(pair: Pair, time: str) -> Series:
    _, other = next(iter(pair.entries.values()))
    even = pair.even(time)
    label = f"{pair.label} (even at {even})" if even else pair.label
    size, ratio, low, high = np.array(pair.ratios(time)).T
    return Series(label, size, ratio, low, high, solver=other.solver)


def _ratio(base: SolverResult, other: SolverResult, time: str) -> tuple[float, float, float]:
    """Return median, low and high over the seeds that both have; NaN where a run failed."""

    def seconds(mark: Checkpoint) -> float:
        return COSTS["seconds"](mark) + (mark.metrics.get(TRANSFER, 0.0) if time == MOVED else 0.0)

    theirs = {record.seed: final(record, seconds) for record in other.finished}
    ours = {record.seed: final(record, seconds) for record in base.finished}
    times = [(ours[seed], theirs[seed]) for seed in ours if seed in theirs]
    if not times or not np.isfinite(times).all():
        return math.nan, math.nan, math.nan
    return spread([first / second for first, second in times])
