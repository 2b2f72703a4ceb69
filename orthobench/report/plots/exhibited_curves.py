"""Curves that solutions exhibit, overlaid: those of all solvers in one panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from orthobench.contract.exhibits import Curve, Values
from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.report.formatting import clean
from orthobench.report.plots.arc_length import points_at
from orthobench.report.plots.exhibits import Exhibition
from orthobench.report.plots.labels import legend_label
from orthobench.results.tuning import SolverResult

POINTS = 2000
"""The most points of a curve that are drawn."""


@dataclass(frozen=True)
class Overlay:
    """The curves of one panel: those of one name, and the references on the same axes.

    Attributes
    ----------
    name : str
        Empty where there are references only.
    labels : (str, str)
        Of the x and the y axis.
    curves : tuple of (SolverResult, Curve)
    references : mapping
        Curves that are the same for all solvers, by name.
    """

    name: str
    labels: tuple[str, str]
    curves: tuple[tuple[SolverResult, Curve], ...]
    references: Mapping[str, Curve]


def curves(exhibition: Exhibition) -> Plot | None:
    """Return the plot of all curves that the solutions of a problem exhibit; None without any.

    The first series of a panel are the references, which belong to no solver.

    Parameters
    ----------
    exhibition : Exhibition
    """
    by_name = _named(overlays(exhibition))
    if not by_name:
        return None
    lacking = [f"{clean(e.solver)} has no curve" for e, own in exhibition.own(Curve) if not own]

    def draw(key: Key) -> Panel:
        return overlay_panel(by_name[key[0]])

    return Plot(
        name=f"{exhibition.problem}: curves",
        kind="curves",
        choices={"curve": tuple(by_name)},
        draw=draw,
        sheet=[(name,) for name in by_name],
        about=(*exhibition.about(), *exhibition.absent, *lacking),
    )


def overlay_panel(overlay: Overlay) -> Panel:
    """Return the panel of an overlay, on linear axes.

    Parameters
    ----------
    overlay : Overlay
    """
    x, y = overlay.labels
    lines = [("", name, curve) for name, curve in overlay.references.items()]
    lines += [(entry.solver, legend_label(entry), curve) for entry, curve in overlay.curves]
    return Panel(
        Axis("x", x, log=False),
        Axis("y", y, log=False),
        tuple(_series(solver, label, curve) for solver, label, curve in lines),
        title=overlay.name,
    )


def overlays(exhibition: Exhibition) -> list[Overlay]:
    """Return the overlays of a problem's curves: one for each name and pair of axis labels.

    Parameters
    ----------
    exhibition : Exhibition
    """
    references: dict[tuple[str, str], dict[str, Curve]] = {}
    for name, curve in exhibition.references(Curve).items():
        references.setdefault(_labels(curve), {})[name] = curve
    groups: dict[tuple[str, tuple[str, str]], list[tuple[SolverResult, Curve]]] = {}
    for entry, own in exhibition.own(Curve):
        for name, curve in own.items():
            groups.setdefault((name, _labels(curve)), []).append((entry, curve))
    with_curves = {labels for _, labels in groups}
    groups |= {("", labels): [] for labels in references if labels not in with_curves}
    return [
        Overlay(name, labels, tuple(curves), references.get(labels, {}))
        for (name, labels), curves in groups.items()
    ]


def thinned(curve: Curve) -> tuple[Values, Values]:
    """Return the points of a curve, or about `POINTS` of them, evenly spaced by arc length.

    The first and the last point are among them, and the first of each gap.

    Parameters
    ----------
    curve : Curve
    """
    x, y = curve.x, curve.y
    if len(x) <= POINTS:
        return x, y
    kept = points_at(x, y, np.linspace(0, 1, POINTS))
    missing = np.isnan(y)
    gaps = np.flatnonzero(missing & ~np.roll(missing, 1))
    chosen = np.unique([0, *kept, *gaps, len(x) - 1])
    return x[chosen], y[chosen]


def _named(found: list[Overlay]) -> dict[str, Overlay]:
    """Return overlays by unique names, with their labels where two have the same name."""
    by_name: dict[str, Overlay] = {}
    for overlay in found:
        name = overlay.name or "references"
        if name in by_name:
            name = f"{name} ({' / '.join(overlay.labels)})"
        while name in by_name:
            name += "'"
        by_name[name] = overlay
    return by_name


def _series(solver: str, label: str, curve: Curve) -> Series:
    x, y = (part.astype(np.float64) for part in thinned(curve))
    return Series(label, x, y, solver=solver)


def _labels(curve: Curve) -> tuple[str, str]:
    return clean(curve.x_label), clean(curve.y_label)
