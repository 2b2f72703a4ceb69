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


def curves(exhibition: Exhibition) -> list[Plot]:
    """Return the plot of the curves that solutions exhibit, if there are any."""
    names, own = exhibition.names(Curve), exhibition.own(Curve)
    lacking = [f"{clean(entry.solver)} has no curve" for entry, curves in own if not curves]
    plot = Plot(
        name=f"{exhibition.problem}: curves",
        kind="curves",
        choices={"curve": names},
        draw=lambda key: _curve_panel(exhibition, *key),
        sheet=[(name,) for name in names],
        about=(*exhibition.about(), *exhibition.absent, *lacking),
    )
    return [plot] if names else []


def _curve_panel(exhibition: Exhibition, name: str) -> Panel:
    """Return the panel of a curve, with the references that have its labels."""
    own = [(entry, curves[name]) for entry, curves in exhibition.own(Curve) if name in curves]
    x, y = own[0][1].x_label, own[0][1].y_label
    references = [
        Series(label, *_points(curve))
        for label, curve in exhibition.references(Curve).items()
        if (curve.x_label, curve.y_label) == (x, y)
    ]
    series = [Series(legend_label(e), *_points(curve), solver=e.solver) for e, curve in own]
    axes = (Axis(label, label, log=False) for label in (clean(x), clean(y)))
    return Panel(*axes, (*references, *series), title=name)


def _points(curve: Curve) -> tuple[Array, Array]:
    return curve.x.astype(np.float64), curve.y.astype(np.float64)
