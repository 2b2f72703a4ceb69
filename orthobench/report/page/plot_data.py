"""The data of all plots of a page, as its script reads them: JSON values, arrays in one pool."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot
from orthobench.report.plots.geometry import panel_floor, positions, x_range, y_range
from orthobench.report.style import REFERENCES, Style
from orthobench.tools.arrays import Array
from orthobench.tools.formatting import clean

MOST_POINTS = 80
"""Maximum number of points of a curve."""

FEWEST_POINTS = 24
"""The same on a page with very many curves."""

NUMBERS = 400_000
"""Number of numbers above which curves are thinned and menus shortened."""

MOST_TICKS = 6
"""Maximum number of ticks of an axis."""

LONGEST = 31
"""Maximum number of letters of a name below an axis: its last ones."""

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

DIGITS = 5
"""Significant digits of drawn numbers."""

Pool: TypeAlias = dict[bytes, int]
"""The index of each array, by its bytes: equal arrays are stored once."""


def plot_data(
    plots: Sequence[Plot],
    styles: Mapping[str, Style],
    runs: Mapping[int, Mapping[str, Any]] | None = None,
) -> str:
    """Return the data of all plots of a page as compressed JSON in base64.

    On a page with very many curves, menus offer fewer options. `runs` has the runs of each solver
    by the index of the plot that draws them.
    """
    pool: Pool = {}
    solvers = {name: number for number, name in enumerate(styles)}
    offered, curves = _offered(plots)
    points = int(np.clip(NUMBERS // (3 * max(curves, 1)), FEWEST_POINTS, MOST_POINTS))
    drawn: list[dict[str, Any]] = [
        {
            "name": clean(plot.name),
            "kind": plot.kind,
            "choices": [
                {"name": clean(name), "options": [clean(one.replace("_", " ")) for one in options]}
                for name, options in choices.items()
                if len(options) > 1
            ],
            "panels": [
                _panel(plot.draw(key), pool, solvers, points) for key in product(*choices.values())
            ],
        }
        for plot, choices in zip(plots, offered, strict=True)
    ]
    for number, facts in (runs or {}).items():
        drawn[number]["runs"] = {solvers[name]: own for name, own in facts.items()}
    data = {
        "pool": [_rounded(np.frombuffer(own)) for own in pool],
        "references": [",".join(map(str, dashes)) for dashes in REFERENCES],
        "solvers": [{"name": clean(name), "dash": style.dash} for name, style in styles.items()],
        "plots": drawn,
    }
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 7, mtime=0)).decode()


def _offered(plots: Sequence[Plot]) -> tuple[list[dict[str, Sequence[str]]], int]:
    """Return the choices of each plot: all, the first, or none on very large pages."""
    lines = [len(plot.panel().series) for plot in plots]
    for free in (9, 1, 0):
        offered: list[dict[str, Sequence[str]]] = [
            {name: own if i < free else own[:1] for i, (name, own) in enumerate(p.choices.items())}
            for p in plots
        ]
        panels = (math.prod(map(len, choices.values())) for choices in offered)
        curves = sum(count * own for count, own in zip(lines, panels, strict=True))
        if curves <= NUMBERS // (3 * FEWEST_POINTS):
            break
    return offered, curves


def _panel(panel: Panel, pool: Pool, solvers: Mapping[str, int], points: int) -> dict[str, Any]:
    floor, ends = panel_floor([panel]), x_range(panel)
    references = itertools.cycle(range(-1, -1 - len(REFERENCES), -1))
    return {
        "x": _axis(panel.x, ends, panel.x.log),
        "y": _axis(panel.y, y_range([panel], floor), floor.log),
        "series": [
            {
                "solver": solvers[series.solver] if series.solver in solvers else next(references),
                **_series(panel, number, pool, points),
                "crosses": [(max(x, ends[0]), y) for x, y in series.crosses],
            }
            for number, series in enumerate(panel.series)
        ],
        "stepped": panel.stepped,
        "rules": panel.rules,
        "band": panel.band,
        "zero": floor.zero if floor.log else None,
        "floor": floor.at if floor.log else None,
        "floored": f"zero, or below {_tick(floor.zero, far=True)}" if floor.zeros else "",
    }


def _axis(axis: Axis, ends: tuple[float, float], log: bool) -> dict[str, Any]:
    names = [clean(name) for name in axis.categories]
    names = [name if len(name) <= LONGEST else f"…{name[-LONGEST:]}" for name in names]
    return {
        "label": clean(axis.label), "log": log, "range": ends,
        "ticks": [*enumerate(names)] or _ticks(axis.ticks or _tick_values(*ends, log)),
        "named": bool(names),
    }  # fmt: skip


def _tick_values(low: float, high: float, log: bool) -> list[float]:
    """Return round numbers from one end to the other: powers of ten on a long log axis."""
    from matplotlib.ticker import Locator, LogLocator, MaxNLocator

    locator: Locator = MaxNLocator(MOST_TICKS, steps=(1, 2, 5, 10))
    if log and high > 5 * low:
        locator = LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,))
    return [float(v) for v in locator.tick_values(low, high) if low <= v <= high]


def _ticks(values: Sequence[float]) -> list[tuple[float, str]]:
    some = values[:: max(1, -(-len(values) // MOST_TICKS))]
    far = any(not 1e-3 <= abs(value) < 1e5 for value in some if value)
    return [(value, _tick(value, far)) for value in some]


def _tick(value: float, far: bool) -> str:
    """Return a tick as text: 0.01, 2,000; on axes that reach far, 10⁻², 1, 2·10³."""
    if not far or value == 0 or 1 <= abs(value) < 1e3:
        return f"{value:,.6g}"
    mantissa, exponent = f"{value:.5e}".split("e")
    raised = f"10{str(int(exponent)).translate(RAISED)}"
    return raised if float(mantissa) == 1 else f"{float(mantissa):g}·{raised}"


def _series(panel: Panel, number: int, pool: Pool, points: int) -> dict[str, Any]:
    """Return a series, thinned unless its points have notes; with the corners of steps."""
    series = panel.series[number]
    x, ys = positions(panel, number), [series.y, series.low, series.high]
    if not (series.notes or series.chosen is not None or panel.x.categories) and len(x) > points:
        at = np.linspace(0, len(x) - 1, points).round().astype(np.intp)
        x, ys = x[at], [None if y is None else y[at] for y in ys]
    if panel.stepped:
        x, ys = x.repeat(2)[1:], [None if y is None else y.repeat(2)[:-1] for y in ys]
    return {
        **{
            name: pool.setdefault(part.astype(np.float64).tobytes(), len(pool))
            for name, part in zip(("x", "y", "low", "high"), (x, *ys), strict=True)
            if part is not None
        },
        "label": clean(series.label),
        "chosen": series.chosen,
        "notes": [*map(clean, series.notes)],
    }


def _rounded(values: Array) -> list[float | None]:
    """Return numbers as JSON can hold them: rounded, and null for NaN and infinity."""
    return [float(f"{v:.{DIGITS}g}") if math.isfinite(v) else None for v in values.tolist()]
