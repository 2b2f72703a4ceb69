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
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean, listed

Load: TypeAlias = Callable[[Iterable[Run]], Mapping[str, Mapping[str, Exhibit]]]
"""A function that returns exhibits by keys of runs: `Results.exhibits`."""

E = TypeVar("E", Image, Curve)


@dataclass(frozen=True)
class Exhibition:
    """The exhibits of all solvers of a problem at one seed, with a caption.

    `shown` are entries with their exhibits by name; the caption names the others.
    """

    problem: str
    about: tuple[str, ...]
    shown: tuple[tuple[SolverResult, Mapping[str, Exhibit]], ...]

    def of_kind(
        self, kind: type[E]
    ) -> tuple[dict[str, E], list[tuple[SolverResult, dict[str, E]]]]:
        """Return the references of a kind by name, and those of each solver's own."""
        references: dict[str, E] = {}
        every: list[tuple[SolverResult, dict[str, E]]] = []
        for entry, exhibits in self.shown:
            found = {clean(name): e for name, e in exhibits.items() if isinstance(e, kind)}
            own = {name: one for name, one in found.items() if not one.reference}
            references = {name: found[name] for name in found if name not in own} | references
            every.append((entry, own))
        return references, every


def exhibitions(entries: Sequence[SolverResult], load: Load) -> list[Exhibition]:
    """Return the exhibition of each problem on which any solver has exhibits."""
    taking_part = [entry for entry in entries if not entry.refused]
    groups = grouped(taking_part, lambda entry: entry.problem).values()
    found = (_exhibition(group, load) for group in groups)
    return [exhibition for exhibition in found if exhibition.shown]


def _exhibition(entries: Sequence[SolverResult], load: Load) -> Exhibition:
    """Return the exhibits at the first seed with the maximum number of sound runs."""
    seeds = sorted(run.seed for entry in entries for run in entry.records if run.ok)
    seed = max(seeds, key=seeds.count, default=entries[0].seeds[0])
    runs = [(entry, run) for entry in entries for run in entry.records if run.seed == seed]
    exhibits = load(run for _, run in runs if run.ok)
    shown = [(entry, exhibits[run.key]) for entry, run in runs if exhibits.get(run.key)]
    absent = [clean(entry.solver) for entry, run in runs if not exhibits.get(run.key)]
    without = f"without exhibits: {listed(absent)}" if absent else ""
    return Exhibition(entries[0].problem, about(entries, f"seed {seed}", without), tuple(shown))


def curves(exhibition: Exhibition) -> list[Plot]:
    """Return the plot of the curves that solutions exhibit, if there are any."""
    references, every = exhibition.of_kind(Curve)
    names = [*dict.fromkeys(name for _, own in every for name in own)]
    lacking = [clean(entry.solver) for entry, own in every if not own]

    def draw(key: Sequence[str]) -> Panel:
        """Return the panel of a curve, with the references that have its labels."""
        (name,) = key
        drawn = [(entry, own[name]) for entry, own in every if name in own]
        x, y = drawn[0][1].x_label, drawn[0][1].y_label
        series = [_line(n, r) for n, r in references.items() if (r.x_label, r.y_label) == (x, y)]
        series += [_line(legend_label(entry), curve, entry.solver) for entry, curve in drawn]
        right, up = (Axis(label, label, log=False) for label in (clean(x), clean(y)))
        return Panel(right, up, tuple(series), title=name)

    plot = Plot(
        name=f"{exhibition.problem}: curves",
        kind="curves",
        choices={"curve": names},
        draw=draw,
        sheet=[(name,) for name in names],
        about=(*exhibition.about, *([f"without curves: {listed(lacking)}"] if lacking else [])),
    )
    return [plot] if names else []


def _line(label: str, curve: Curve, solver: str = "") -> Series:
    return Series(label, curve.x.astype(np.float64), curve.y.astype(np.float64), solver=solver)
