"""Exhibitions: the images and curves of all solvers on one problem, at one common seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from orthobench.contract.exhibits import Curve, Exhibit, Image
from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.plots.labels import about, legend_label
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean

Load: TypeAlias = Callable[[Iterable[Run]], Mapping[str, Mapping[str, Exhibit]]]
"""A function that returns exhibits by keys of runs: `Results.exhibits`."""

E = TypeVar("E", Image, Curve)

POINTS = 2000
"""Maximum number of points of a curve that are drawn."""


@dataclass(frozen=True)
class Exhibition:
    """The exhibits of all solvers of a problem at one seed.

    `shown` are entries with their exhibits by name, `absent` a sentence about each other entry.
    """

    problem: str
    seed: int
    entries: tuple[SolverResult, ...]
    shown: tuple[tuple[SolverResult, Mapping[str, Exhibit]], ...]
    absent: tuple[str, ...]

    def references(self, kind: type[E]) -> dict[str, E]:
        """Return the references of a kind by name."""
        shown = reversed(self._of_kind(kind, True))
        return {name: one for _, exhibits in shown for name, one in exhibits.items()}

    def own(self, kind: type[E]) -> list[tuple[SolverResult, dict[str, E]]]:
        """Return each solver's own exhibits of a kind, by name."""
        return self._of_kind(kind, False)

    def names(self, kind: type[E]) -> list[str]:
        """Return the names of the solvers' own exhibits of a kind."""
        return list(dict.fromkeys(name for _, own in self.own(kind) for name in own))

    def about(self, *more: str) -> tuple[str, ...]:
        """Return the caption."""
        return about(self.entries, f"seed {self.seed}", *more)

    def _of_kind(self, kind: type[E], reference: bool) -> list[tuple[SolverResult, dict[str, E]]]:
        return [
            (entry, {clean(name): one for name, one in exhibits.items()
                     if isinstance(one, kind) and one.reference is reference})
            for entry, exhibits in self.shown
        ]  # fmt: skip


def exhibitions(entries: Sequence[SolverResult], load: Load) -> list[Exhibition]:
    """Return the exhibition of each problem on which any solver has exhibits."""
    taking_part = sorted((e for e in entries if not e.refused), key=lambda e: e.solver)
    groups = grouped(taking_part, lambda entry: entry.problem)
    problems = dict.fromkeys(entry.problem for entry in entries if entry.problem in groups)
    found = (_exhibition(groups[problem], load) for problem in problems)
    return [exhibition for exhibition in found if exhibition.shown]


def common_seed(entries: Sequence[SolverResult]) -> int:
    """Return the first seed with the maximum number of sound runs."""
    seeds = [record.seed for entry in entries for record in entry.records if record.ok]
    seeds.sort()
    return max(seeds, key=seeds.count, default=entries[0].seeds[0])


def _exhibition(entries: Sequence[SolverResult], load: Load) -> Exhibition:
    seed = common_seed(entries)
    runs = {e.solver: run for e in entries for run in e.records if run.seed == seed}
    exhibits = load(run for run in runs.values() if run.ok)
    shown: list[tuple[SolverResult, Mapping[str, Exhibit]]] = []
    absent: list[str] = []
    for entry in entries:
        run = runs.get(entry.solver)
        if own := exhibits.get(run.key) if run else None:
            shown.append((entry, own))
        else:
            status = run.stop.status.value if run else "no finished run"
            why = "no exhibits" if run and run.ok else status
            absent.append(f"{clean(entry.solver)} is not shown ({why})")
    return Exhibition(entries[0].problem, seed, tuple(entries), tuple(shown), tuple(absent))


def curves(exhibition: Exhibition) -> Plot | None:
    """Return the plot of the curves that solutions exhibit; None without any."""
    panels = _curve_panels(exhibition)
    if not panels:
        return None
    lacking = [f"{clean(e.solver)} has no curve" for e, own in exhibition.own(Curve) if not own]
    return Plot(
        name=f"{exhibition.problem}: curves",
        kind="curves",
        choices={"curve": tuple(panels)},
        draw=lambda key: panels[key[0]],
        sheet=[(name,) for name in panels],
        about=(*exhibition.about(), *exhibition.absent, *lacking),
    )


def _curve_panels(exhibition: Exhibition) -> dict[str, Panel]:
    """Return the panels of curves by name, with their labels if two share a name."""
    references: dict[tuple[str, str], list[Series]] = {}
    for name, curve in exhibition.references(Curve).items():
        references.setdefault(_labels(curve), []).append(Series(name, *thinned(curve)))
    series: dict[tuple[str, tuple[str, str]], list[Series]] = {}
    for entry, own in exhibition.own(Curve):
        for name, curve in own.items():
            one = Series(legend_label(entry), *thinned(curve), solver=entry.solver)
            series.setdefault((name, _labels(curve)), []).append(one)
    with_curves = {labels for _, labels in series}
    series |= {("references", labels): [] for labels in references if labels not in with_curves}
    panels: dict[str, Panel] = {}
    for (name, (x, y)), own_series in series.items():
        unique = f"{name} ({x} / {y})" if name in panels else name
        lines = (*references.get((x, y), ()), *own_series)
        panels[unique] = Panel(Axis("x", x, log=False), Axis("y", y, log=False), lines, title=name)
    return panels


def _labels(curve: Curve) -> tuple[str, str]:
    return clean(curve.x_label), clean(curve.y_label)


def thinned(curve: Curve) -> tuple[Array, Array]:
    """Return about `POINTS` of a curve, evenly spaced by arc length, with both ends and gaps."""
    x, y = curve.x.astype(np.float64), curve.y.astype(np.float64)
    if len(x) <= POINTS:
        return x, y
    steps = [np.diff(part) / _span(part) for part in (x, y)]
    lengths = np.nan_to_num(np.hypot(*steps), posinf=0.0)
    travelled = np.concatenate([[0.0], np.cumsum(lengths)])
    even = np.searchsorted(travelled, np.linspace(0, 1, POINTS) * travelled[-1])
    missing = np.isnan(y)
    gaps = np.flatnonzero(missing & ~np.roll(missing, 1))
    last = len(x) - 1
    indices = np.unique([0, *np.minimum(even, last), *gaps, last])
    return x[indices], y[indices]


def _span(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) or 1.0 if finite.size else 1.0
