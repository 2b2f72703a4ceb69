"""The data of all plots of a page, as its script reads them: JSON values, arrays in one pool."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.plots.geometry import floor_of
from orthobench.report.style import REFERENCES, Style
from orthobench.tools.arrays import Array
from orthobench.tools.formatting import clean

MOST_POINTS = 80
"""Maximum number of points of a curve or of a single run."""

FEWEST_POINTS = 24
"""The number of points down to which curves are thinned; after that, panels are left out."""

NUMBERS = 400_000
"""Maximum number of numbers in one page."""

RUNS = 200_000
"""The number of numbers from which on panels have no single runs."""

DIGITS = 5
"""Significant digits of drawn numbers: a pixel is about a thousandth of an axis."""


def plot_data(
    plots: Sequence[Plot],
    styles: Mapping[str, Style],
    runs: Mapping[int, Mapping[str, Any]] | None = None,
    families: Sequence[Mapping[str, Any]] = (),
) -> tuple[str, str]:
    """Return the data of all plots of a page, the most important panels until it is full.

    The panel of each plot that is shown first is the most important one, followed by those that
    differ from it in one choice, and so on.

    Parameters
    ----------
    plots : sequence of Plot
    styles : mapping
        The style of each solver.
    runs : mapping, optional
        The runs of each solver, by the index of the plot that draws them.
    families : sequence of mapping
        The answers of each family, as JSON values.

    Returns
    -------
    data : str
        Compressed JSON in base64.
    note : str
        Sentences about what is thinned and left out.
    """
    pool, solvers = Pool(), {name: number for number, name in enumerate(styles)}
    first = [plot.panel() for plot in plots]
    points = _points(plots, first)
    panels = list(_by_importance(plots))
    of_plots = [_plot(plot) for plot in plots]
    drawn, with_runs = 0, 0
    for number, places in panels:
        if any(places) and pool.size > NUMBERS:
            break
        options = zip(plots[number].choices.values(), places, strict=True)
        key = tuple(names[place] for names, place in options)
        panel = plots[number].draw(key) if any(places) else first[number]
        if pool.size > RUNS:
            panel = replace(panel, series=tuple(replace(s, runs=()) for s in panel.series))
        else:
            with_runs += 1
        drawn += 1
        of_plots[number]["panels"][",".join(map(str, places))] = _panel(
            panel, pool, solvers, points
        )
    for number, facts in (runs or {}).items():
        of_plots[number]["runs"] = {solvers[name]: own for name, own in facts.items()}
    head = {
        "references": REFERENCES,
        "solvers": [
            {"name": clean(name), "dash": style.dash, "shape": style.shape}
            for name, style in styles.items()
        ],
        "plots": of_plots,
        "families": list(families),
    }
    text = json.dumps(head, separators=(",", ":"), allow_nan=False)
    whole = f'{{"pool":{pool.as_json()},{text[1:]}'
    # the highest level would take four times as long, for 1 % less
    data = base64.b64encode(gzip.compress(whole.encode(), 7, mtime=0)).decode()
    note = f"Curves have at most {points} points, evenly along the run."
    if with_runs < len(panels):
        note += (
            f" Of {len(panels)} combinations of axes and metrics {drawn} are drawn and {with_runs}"
            " have single runs, to keep this page small."
        )
    return data, note


def _points(plots: Sequence[Plot], first: Sequence[Panel]) -> int:
    """Return the maximum number of points of a curve such that the curves of all panels may fit."""
    panels = (math.prod(map(len, plot.choices.values())) for plot in plots)
    curves = sum(count * len(panel.series) for count, panel in zip(panels, first, strict=True))
    return int(np.clip(NUMBERS // (3 * max(curves, 1)), FEWEST_POINTS, MOST_POINTS))


def _by_importance(plots: Sequence[Plot]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the panels of all plots by importance: the plot, and the places of its options."""
    panels = [
        (sum(place > 0 for place in places), sum(places), number, places)
        for number, plot in enumerate(plots)
        for places in itertools.product(*(range(len(names)) for names in plot.choices.values()))
    ]
    yield from ((number, places) for *_, number, places in sorted(panels))


def _plot(plot: Plot) -> dict[str, Any]:
    choices = [
        {"name": clean(name), "options": [clean(option.replace("_", " ")) for option in options]}
        for name, options in plot.choices.items()
    ]
    return {"name": clean(plot.name), "kind": plot.kind, "choices": choices, "panels": {}}


def _panel(panel: Panel, pool: Pool, solvers: Mapping[str, int], points: int) -> dict[str, Any]:
    lows = [part for s in panel.series for part in (s.y, s.low) if part is not None]
    floor = floor_of(lows)
    references = itertools.cycle(range(-1, -1 - len(REFERENCES), -1))
    return {
        "x": _axis(panel.x),
        "y": {**_axis(panel.y), "log": panel.y.log and floor.log},
        "series": [
            {
                "solver": solvers[series.solver] if series.solver in solvers else next(references),
                **_series(series, pool, len(series.x) if panel.x.categories else points),
            }
            for series in panel.series
        ],
        "stepped": panel.stepped,
        "rules": list(panel.rules),
        "band": panel.band,
        "zero": floor.zero if floor.log else None,
        "floor": floor.at if floor.log else None,
    }


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "key": axis.key, "label": clean(axis.label), "log": axis.log,
        "categories": [*map(clean, axis.categories)] or None, "ticks": axis.ticks or None,
    }  # fmt: skip


def _series(series: Series, pool: Pool, points: int) -> dict[str, Any]:
    """Return a series, thinned unless its points have notes."""
    marked = series.notes or series.chosen is not None
    at = thinned(len(series.x), len(series.x) if marked else points)
    arrays = {"x": series.x, "y": series.y, "low": series.low, "high": series.high}
    found: dict[str, Any] = {
        name: pool.index(values[at]) for name, values in arrays.items() if values is not None
    }
    found["label"] = clean(series.label)
    if series.runs:
        found["runs"] = [
            [pool.index(part[thinned(len(x), points)]) for part in (x, y)] for x, y in series.runs
        ]
    if series.crosses:
        found["crosses"] = [
            pool.index(np.array(part)) for part in zip(*series.crosses, strict=True)
        ]
    if series.chosen is not None:
        found["chosen"] = series.chosen
    if series.ended:
        found["ended"] = clean(series.ended)
    if series.notes:
        found["notes"] = [clean(note) for note in series.notes]
    return found


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


def thinned(count: int, most: int) -> slice | Array:
    """Return the indices of the points that are drawn: evenly spaced, with both ends."""
    if count <= most:
        return slice(None)
    return np.unique(np.linspace(0, count - 1, most).round().astype(np.intp))
