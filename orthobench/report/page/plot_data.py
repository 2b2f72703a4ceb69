"""The data of all plots of a page, as its script reads them: JSON values, arrays in one pool."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.plots.geometry import floor_of
from orthobench.report.style import REFERENCES, Style
from orthobench.tools.arrays import Array
from orthobench.tools.formatting import clean

MOST_POINTS = 80
"""The most points of a curve or of a single run."""

FEWEST_POINTS = 24
"""The fewest points to which curves are thinned; after that, whole panels are left out."""

CURVES = 12_000
"""The most curves in one page; each takes about half a millisecond to compute."""

NUMBERS = 330_000
"""The most numbers in one page for curves."""

RUNS = 150_000
"""The most numbers in one page for single runs, in addition to those for curves."""


DIGITS = 5
"""Significant digits of drawn numbers: a pixel is about a thousandth of an axis."""


def plot_data(
    plots: Sequence[Plot],
    styles: Mapping[str, Style],
    runs: Mapping[int, Mapping[str, Mapping[str, Any]]] | None = None,
    families: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the data of all plots of a page, the most important panels until it is full.

    The panel of each plot that is shown first is the most important one, followed by those that
    differ from it in one choice, and so on. Single runs come last.

    Parameters
    ----------
    plots : sequence of Plot
    styles : mapping
        The style of each solver.
    runs : mapping, optional
        The runs of each solver, by the index of the plot that draws them. They are left out where
        its single runs are.
    families : sequence of mapping
        The answers of each family, as JSON values.

    Returns
    -------
    dict
        ``data``, compressed JSON in base64; how many ``panels`` all plots have, and how many are
        without data (``panels_left_out``) and without their single runs (``runs_left_out``);
        ``most_points`` that a curve was thinned to, 0 where all have all of theirs.
    """
    solvers = {name: number for number, name in enumerate(styles)}
    first = [plot.panel() for plot in plots]
    packer = _Packer(solvers, _points(plots, first))
    by_plot: list[dict[str, Any]] = [{} for _ in plots]
    packed_panels: list[tuple[Panel, dict[str, Any]]] = []
    left_out = 0
    for number, options, key in _by_importance(plots):
        if packer.full:
            left_out += 1
            continue
        panel = plots[number].draw(key) if any(options) else first[number]
        values = by_plot[number][",".join(map(str, options))] = packer.panel(panel)
        packed_panels.append((panel, values))
    without_runs = _add_runs(packer, packed_panels)
    endings: dict[str, int] = {}
    of_plots = [_plot(*pair) for pair in zip(plots, by_plot, strict=True)]
    for number, of_plot in (runs or {}).items():
        drawn = any("runs" in s for p in by_plot[number].values() for s in p["series"])
        of_plots[number]["runs"] = _runs(of_plot, solvers, endings) if drawn else {}
    head = {
        "references": REFERENCES,
        "solvers": [
            {"name": clean(name), "dash": style.dash, "shape": style.shape}
            for name, style in styles.items()
        ],
        "plots": of_plots,
        "endings": list(endings),
        "families": list(families),
    }
    text = json.dumps(head, separators=(",", ":"), allow_nan=False)
    return {
        "data": packed(f'{{"pool":{packer.pool.as_json()},{text[1:]}'),
        "panels": left_out + len(packed_panels),
        "panels_left_out": left_out,
        "runs_left_out": without_runs,
        "most_points": packer.most_points,
    }


class _Packer:
    """Converts panels to JSON values whose arrays are in a pool."""

    def __init__(self, solvers: Mapping[str, int], points: int) -> None:
        self.pool, self.solvers, self.points = Pool(), solvers, points
        self.curves = 0
        self.most_points = 0

    @property
    def full(self) -> bool:
        return self.pool.size > NUMBERS or self.curves >= CURVES

    def panel(self, panel: Panel) -> dict[str, Any]:
        lows = [part for s in panel.series for part in (s.y, s.low) if part is not None]
        floor = floor_of(lows)
        self.curves += len(panel.series)
        references = itertools.cycle(range(-1, -1 - len(REFERENCES), -1))
        solvers = [
            self.solvers[series.solver] if series.solver in self.solvers else next(references)
            for series in panel.series
        ]
        return {
            "x": _axis(panel.x),
            "y": _axis(panel.y) | {"log": panel.y.log and floor.log},
            "series": [
                self.series(series, panel) | {"solver": solver}
                for series, solver in zip(panel.series, solvers, strict=True)
            ],
            "stepped": panel.stepped,
            "rules": list(panel.rules),
            "band": panel.band,
            "zero": floor.zero if floor.log else None,
            "floor": floor.at if floor.log else None,
        }

    def series(self, series: Series, panel: Panel) -> dict[str, Any]:
        most = len(series.x) if panel.x.categories or series.notes else self.points
        at = self.thinned(len(series.x), most, series.chosen)
        kept = np.arange(len(series.x))[at]
        found: dict[str, Any] = {
            "label": clean(series.label),
            "x": self.pool.index(series.x[at]),
            "y": self.pool.index(series.y[at]),
        }
        if series.low is not None and series.high is not None:
            found["low"] = self.pool.index(series.low[at])
            found["high"] = self.pool.index(series.high[at])
        if series.crosses:
            x, y = np.array(series.crosses, dtype=np.float64).T
            found["crosses"] = [self.pool.index(x), self.pool.index(y)]
        if series.chosen is not None:
            found["chosen"] = int(np.searchsorted(kept, series.chosen))
        if series.ended:
            found["ended"] = clean(series.ended)
        if series.notes:
            found["notes"] = [clean(note) for note in series.notes]
        return found

    def thinned(self, count: int, most: int, keep: int | None = None) -> slice | Array:
        if count > most:
            self.most_points = max(self.most_points, most)
        return thinned(count, most, keep)

    def run(self, x: Array, y: Array) -> list[int]:
        at = self.thinned(len(x), MOST_POINTS)
        return [self.pool.index(x[at]), self.pool.index(y[at])]


def _points(plots: Sequence[Plot], first: Sequence[Panel]) -> int:
    """Return the most points of a curve such that the curves of all panels may fit."""
    panels = (math.prod(map(len, plot.choices.values())) for plot in plots)
    curves = sum(n * len(panel.series) for n, panel in zip(panels, first, strict=True))
    curves = min(curves, CURVES)
    return int(np.clip(NUMBERS // (3 * max(curves, 1)), FEWEST_POINTS, MOST_POINTS))


def _by_importance(
    plots: Sequence[Plot],
) -> Iterator[tuple[int, tuple[int, ...], tuple[str, ...]]]:
    """Yield the panels of all plots by importance: plot, indices of the options, and key."""
    panels = [
        (sum(at > 0 for at in indices), sum(indices), number, indices)
        for number, plot in enumerate(plots)
        for indices in itertools.product(*(range(len(o)) for o in plot.choices.values()))
    ]
    for _, _, number, indices in sorted(panels):
        options = list(plots[number].choices.values())
        key = tuple(options[choice][at] for choice, at in enumerate(indices))
        yield number, indices, key


def _add_runs(packer: _Packer, panels: Sequence[tuple[Panel, dict[str, Any]]]) -> int:
    """Add single runs to panels until there is no more room; return how many panels lack them."""
    most, left_out = packer.pool.size + RUNS, 0
    for panel, values in panels:
        if not any(series.runs for series in panel.series):
            continue
        if packer.pool.size > most:
            left_out += 1
            continue
        for series, target in zip(panel.series, values["series"], strict=True):
            target["runs"] = [packer.run(x, y) for x, y in series.runs]
    return left_out


def _plot(plot: Plot, panels: Mapping[str, Any]) -> dict[str, Any]:
    choices = [
        {
            "name": clean(name),
            "keys": [clean(option) for option in options],
            "options": [clean(option.replace("_", " ")) for option in options],
        }
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


def _runs(
    of_plot: Mapping[str, Mapping[str, Any]], solvers: Mapping[str, int], endings: dict[str, int]
) -> dict[int, Any]:
    """Return the facts about the runs of each solver of a plot, by its number."""
    return {
        solvers[solver]: {
            "about": own["about"],
            "command": own["command"],
            "load": any(load for *_, load in own["runs"]),
            "runs": [
                [seed, endings.setdefault(ending, len(endings)), *([load] if load else [])]
                for seed, ending, load in own["runs"]
            ],
        }
        for solver, own in of_plot.items()
    }


class Pool:
    """Arrays by index; arrays that are equal to `DIGITS` digits have the same index.

    Attributes
    ----------
    size : int
        The number of values in all arrays.
    """

    def __init__(self) -> None:
        self._by_text: dict[str, int] = {}
        self._by_bits: dict[bytes, int] = {}
        self.size = 0

    def index(self, values: Array) -> int:
        """Return the index of an array, which is added if it is new."""
        bits = values.tobytes()
        if bits not in self._by_bits:  # formatting numbers is slow
            text = ",".join(map(json_number, values.tolist()))
            if text not in self._by_text:
                self.size += len(values)
            self._by_bits[bits] = self._by_text.setdefault(text, len(self._by_text))
        return self._by_bits[bits]

    def as_json(self) -> str:
        """Return all arrays as JSON, in the order of their indices."""
        return "[" + ",".join(f"[{text}]" for text in self._by_text) + "]"


def json_number(value: float) -> str:
    """Return a number as JSON: null for NaN, and 1e999 for infinity, which browsers parse as it."""
    if math.isfinite(value):
        return f"{value:.{DIGITS}g}"
    return "null" if math.isnan(value) else "1e999" if value > 0 else "-1e999"


def thinned(count: int, most: int, keep: int | None = None) -> slice | Array:
    """Return the indices of the drawn points: evenly spaced, with both ends and `keep`.

    Parameters
    ----------
    count, most : int
        The number of points, and the most that may be drawn.
    keep : int, optional
        A point that must be drawn.
    """
    if count <= most:
        return slice(None)
    chosen = np.linspace(0, count - 1, most).round().astype(np.intp)
    return np.unique(chosen if keep is None else np.append(chosen, keep))


def packed(text: str) -> str:
    """Return a text compressed by gzip, in base64; equal texts give equal results."""
    # the highest level would take four times as long, for 1 % less
    return base64.b64encode(gzip.compress(text.encode(), 7, mtime=0)).decode()
