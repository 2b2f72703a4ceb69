"""Overlays: the curves that solutions exhibit, those of all solvers in one panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from orthobench.contract.exhibits import Curve, Values
from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.report.plots.exhibits import Exhibition
from orthobench.report.plots.labels import legend_label
from orthobench.report.plots.spacing import along
from orthobench.report.words import clean
from orthobench.results.tuning import Entry

POINTS = 2000
"""Points of a curve that are drawn, where it has more."""


@dataclass(frozen=True)
class Overlay:
    """One panel: the curves of one name, with the references that have the same labels.

    Attributes
    ----------
    name : str
        Empty where there are references only.
    labels : (str, str)
    curves : tuple of (Entry, Curve)
    references : mapping
    """

    name: str
    labels: tuple[str, str]
    curves: tuple[tuple[Entry, Curve], ...]
    references: Mapping[str, Curve]


def curves(shown: Exhibition) -> Plot | None:
    """Return the plot of all curves that the solutions of a problem exhibit; None without any.

    References are the first series of a panel, those that are of no solver.

    Parameters
    ----------
    shown : Exhibition
    """
    found = _named(overlays(shown))
    if not found:
        return None
    lacking = [f"{clean(e.solver)} has no curve" for e, mine in shown.own(Curve) if not mine]

    def draw(key: Key) -> Panel:
        return overlay_panel(found[key[0]])

    return Plot(
        name=f"{shown.problem}: curves",
        kind="curves",
        choices={"curve": tuple(found)},
        draw=draw,
        sheet=[(name,) for name in found],
        about=(*shown.about(), *shown.absent, *lacking),
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


def overlays(shown: Exhibition) -> list[Overlay]:
    """Return the panels that the curves of a problem make: one for each name and pair of labels.

    Parameters
    ----------
    shown : Exhibition
    """
    references: dict[tuple[str, str], dict[str, Curve]] = {}
    for name, curve in shown.references(Curve).items():
        references.setdefault(_labels(curve), {})[name] = curve
    groups: dict[tuple[str, tuple[str, str]], list[tuple[Entry, Curve]]] = {}
    for entry, own in shown.own(Curve):
        for name, curve in own.items():
            groups.setdefault((name, _labels(curve)), []).append((entry, curve))
    drawn = {labels for _, labels in groups}
    groups |= {("", labels): [] for labels in references if labels not in drawn}
    return [
        Overlay(name, labels, tuple(curves), references.get(labels, {}))
        for (name, labels), curves in groups.items()
    ]


def thinned(curve: Curve) -> tuple[Values, Values]:
    """Return a curve's points, or about `POINTS` of them, evenly spaced along the curve as drawn.

    The first and the last are among them, and where a gap begins.

    Parameters
    ----------
    curve : Curve
    """
    x, y = curve.x, curve.y
    if len(x) <= POINTS:
        return x, y
    kept = along(x, y, np.linspace(0, 1, POINTS))
    missing = np.isnan(y)
    gaps = np.flatnonzero(missing & ~np.roll(missing, 1))
    chosen = np.unique([0, *kept, *gaps, len(x) - 1])
    return x[chosen], y[chosen]


def _named(found: list[Overlay]) -> dict[str, Overlay]:
    """Return overlays by different names: with their labels where two have the same."""
    names: dict[str, Overlay] = {}
    for overlay in found:
        name = overlay.name or "references"
        if name in names:
            name = f"{name} ({' / '.join(overlay.labels)})"
        while name in names:
            name += "'"
        names[name] = overlay
    return names


def _series(solver: str, label: str, curve: Curve) -> Series:
    x, y = (part.astype(np.float64) for part in thinned(curve))
    return Series(label, x, y, solver=solver)


def _labels(curve: Curve) -> tuple[str, str]:
    return clean(curve.x_label), clean(curve.y_label)
