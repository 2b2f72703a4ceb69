"""Plots as the page's script takes them: plain JSON values, every array in one pool."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.page.looks import REFERENCES, Look
from orthobench.report.page.pack import Pool, packed, thinned
from orthobench.report.plots.floor import floor_of
from orthobench.report.words import clean
from orthobench.tools.arrays import Array

MOST_POINTS = 80
"""Most points of a curve or of a single run."""

FEWEST_POINTS = 24
"""To this a curve is thinned before whole panels are left out."""

CURVES = 12_000
"""Curves in one page; each takes about half a millisecond to find."""

NUMBERS = 330_000
"""Numbers for curves in one page."""

RUNS = 150_000
"""Numbers for single runs in one page, beyond those for curves."""


@dataclass(frozen=True)
class Drawings:
    """What the script of a page draws from.

    Attributes
    ----------
    data : str
        Compressed JSON, in base64.
    panels_left_out, runs_left_out : int
        Panels without data, and panels whose single runs are not there, of `panels`.
    panels : int
    """

    data: str
    panels_left_out: int
    runs_left_out: int
    panels: int


def drawings(plots: Sequence[Plot], looks: Mapping[str, Look]) -> Drawings:
    """Return the data of all plots of a page, the most important first until it is full.

    Of every plot the panel that is shown first comes first, then those that differ from it in
    one choice, and so on: where not all fit, each plot keeps its best. Single runs come last.

    Parameters
    ----------
    plots : sequence of Plot
    looks : mapping
        The style of each solver.
    """
    solvers = {name: number for number, name in enumerate(looks)}
    first = [plot.panel() for plot in plots]
    packer = _Packer(solvers, _points(plots, first))
    found: list[dict[str, Any]] = [{} for _ in plots]
    drawn: list[tuple[Panel, dict[str, Any]]] = []
    left_out = 0
    for number, place, key in _by_importance(plots):
        if packer.full:
            left_out += 1
            continue
        panel = plots[number].draw(key) if any(place) else first[number]
        as_values = found[number][",".join(map(str, place))] = packer.panel(panel)
        drawn.append((panel, as_values))
    without_runs = _add_runs(packer, drawn)
    head = {
        "references": REFERENCES,
        "solvers": [_look(name, look) for name, look in looks.items()],
        "plots": [_plot(plot, panels) for plot, panels in zip(plots, found, strict=True)],
    }
    text = json.dumps(head, separators=(",", ":"), allow_nan=False)
    data = packed(f'{{"pool":{packer.pool.as_json()},{text[1:]}')
    return Drawings(data, left_out, without_runs, left_out + len(drawn))


class _Packer:
    """Turns panels to plain values whose arrays are in a pool."""

    def __init__(self, solvers: Mapping[str, int], points: int) -> None:
        self.pool, self.solvers, self.points = Pool(), solvers, points
        self.curves = 0

    @property
    def full(self) -> bool:
        return self.pool.size > NUMBERS or self.curves >= CURVES

    def panel(self, panel: Panel) -> dict[str, Any]:
        lows = [part for s in panel.series for part in (s.y, s.low) if part is not None]
        floor = floor_of(lows)
        self.curves += len(panel.series)
        references = itertools.cycle(range(-1, -1 - len(REFERENCES), -1))
        solvers = [
            self.solvers[one.solver] if one.solver in self.solvers else next(references)
            for one in panel.series
        ]
        return {
            "x": _axis(panel.x),
            "y": _axis(panel.y) | {"log": panel.y.log and floor is not None},
            "series": [
                self.series(one, panel) | {"solver": solver}
                for one, solver in zip(panel.series, solvers, strict=True)
            ],
            "stepped": panel.stepped,
            "rules": list(panel.rules),
            "band": panel.band,
            "zero": floor.zero if floor else None,
            "floor": floor.at if floor else None,
        }

    def series(self, one: Series, panel: Panel) -> dict[str, Any]:
        most = len(one.x) if panel.x.categories or one.notes else self.points
        at = thinned(len(one.x), most, one.chosen)
        kept = np.arange(len(one.x))[at]
        found: dict[str, Any] = {
            "label": clean(one.label),
            "x": self.pool.place(one.x[at]),
            "y": self.pool.place(one.y[at]),
        }
        if one.low is not None and one.high is not None:
            found |= {"low": self.pool.place(one.low[at]), "high": self.pool.place(one.high[at])}
        if one.crosses:
            found["crosses"] = self.points_of(np.array(one.crosses, dtype=np.float64))
        if one.chosen is not None:
            found["chosen"] = int(np.searchsorted(kept, one.chosen))
        if one.notes:
            found["notes"] = [clean(note) for note in one.notes]
        return found

    def points_of(self, points: Array) -> list[int]:
        return [self.pool.place(points[:, 0]), self.pool.place(points[:, 1])]

    def run(self, x: Array, y: Array) -> list[int]:
        at = thinned(len(x), MOST_POINTS)
        return [self.pool.place(x[at]), self.pool.place(y[at])]


def _points(plots: Sequence[Plot], first: Sequence[Panel]) -> int:
    """Return how many points a curve may have, so that all curves might fit."""
    panels = (math.prod(map(len, plot.choices.values())) for plot in plots)
    curves = sum(n * len(panel.series) for n, panel in zip(panels, first, strict=True))
    curves = min(curves, CURVES)
    return int(np.clip(NUMBERS // (3 * max(curves, 1)), FEWEST_POINTS, MOST_POINTS))


def _by_importance(
    plots: Sequence[Plot],
) -> Iterator[tuple[int, tuple[int, ...], tuple[str, ...]]]:
    """Yield number of the plot, places of the options, and key, the best of all plots first."""
    found = [
        (sum(at > 0 for at in place), sum(place), number, place)
        for number, plot in enumerate(plots)
        for place in itertools.product(*(range(len(options)) for options in plot.choices.values()))
    ]
    for _, _, number, place in sorted(found):
        options = list(plots[number].choices.values())
        key = tuple(options[choice][at] for choice, at in enumerate(place))
        yield number, place, key


def _add_runs(packer: _Packer, drawn: Sequence[tuple[Panel, dict[str, Any]]]) -> int:
    """Add single runs to the panels until there is no more room; return how many have none."""
    most, left_out = packer.pool.size + RUNS, 0
    for panel, found in drawn:
        if not any(one.runs for one in panel.series):
            continue
        if packer.pool.size > most:
            left_out += 1
            continue
        for one, target in zip(panel.series, found["series"], strict=True):
            target["runs"] = [packer.run(x, y) for x, y in one.runs]
    return left_out


def _plot(plot: Plot, panels: Mapping[str, Any]) -> dict[str, Any]:
    choices = [
        {"name": clean(name), "options": [clean(option.replace("_", " ")) for option in options]}
        for name, options in plot.choices.items()
    ]
    return {"name": clean(plot.name), "kind": plot.kind, "choices": choices, "panels": panels}


def _axis(axis: Axis) -> dict[str, Any]:
    found: dict[str, Any] = {"key": axis.key, "label": clean(axis.label), "log": axis.log}
    if axis.categories:
        found["categories"] = [clean(name) for name in axis.categories]
    if axis.ticks:
        found["ticks"] = list(axis.ticks)
    return found


def _look(name: str, look: Look) -> dict[str, str]:
    return {
        "name": clean(name), "colour": look.colour, "dash": look.dash, "symbol": look.symbol,
    }  # fmt: skip
