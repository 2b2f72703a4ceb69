"""The picture of a map: each problem at its sizes, on axes with a true scale.

If one size determines the others, the second axis is the cost of the cheapest call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.atlas.losses import SIZES, Losses
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import count, duration

AXES = {"rows": "rows (samples)", "d": "columns", "k": "columns sought"}
"""The titles of sizes."""

CHEAPEST = {"seconds": "time of the cheapest call", "samples": "samples of the cheapest call"}
"""The titles of costs."""

LEFT, RIGHT, TOP, BOTTOM = 58, 14, 14, 40
"""Margins, in pixels; ticks and titles stand in them."""

SIDE, GAP = 15, 1
"""Side of the square of a problem and distance of those at one place, in pixels."""

IN_ROW = 3
"""Number of problems at one place that stand side by side."""

FEW = 2
"""Number of powers of ten on an axis below which 2 and 5 times each have ticks, too."""


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis; the size 0 is that of an endless stream, beyond all others.

    Attributes
    ----------
    title : str
    values : sequence of float
    length : float
        In pixels.
    """

    title: str
    values: Sequence[float]
    length: float

    @property
    def _known(self) -> list[float]:
        return [value for value in self.values if value > 0] or [1.0]

    @property
    def _ends(self) -> tuple[float, float]:
        """The logarithms at both ends, with a margin of 5 %."""
        low, high = math.log10(min(self._known)), math.log10(max(self._known))
        if min(self.values) <= 0:
            high += max(0.3, 0.15 * (high - low))
        margin = max(0.1, 0.05 * (high - low))
        return low - margin, high + margin

    def place(self, value: float) -> float:
        """Return the distance of a value from the beginning, in pixels."""
        low, high = self._ends
        if value <= 0:
            return self.length * (1 - 0.05)
        return self.length * (math.log10(value) - low) / (high - low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places and texts: powers of ten, and if they are few, 2 and 5 times each."""
        low, high = self._ends
        powers = range(math.floor(low), math.ceil(high) + 1)
        inside = [10.0**p for p in powers if low <= p <= high]
        if len(inside) <= FEW:
            every = [m * 10.0**p for p in powers for m in (1, 2, 5)]
            inside = [value for value in every if low <= math.log10(value) <= high]
        most = math.log10(max(self._known))
        endless = min(self.values) <= 0
        shown = [v for v in inside if not endless or math.log10(v) <= most]
        found = [(self.place(value), self._text(value)) for value in shown]
        return [*found, (self.place(0.0), "endless")] if endless else found

    def _text(self, value: float) -> str:
        return duration(value) if self.title == CHEAPEST["seconds"] else count(value)


def chart(
    found: Losses,
    picture: dict[str, Any],
    cost: str = "seconds",
    width: float = 900,
    height: float = 420,
) -> dict[str, Any]:
    """Return the drawing of a map for the templates, in pixels.

    Keys: ``width``, ``height``, ``left``, ``right``, ``top``, ``bottom`` (ends of the axes), ``x``
    and ``y`` (titles), ``columns`` and ``rows`` (ticks), and ``marks``, squares with their problem.

    Parameters
    ----------
    found : Losses
    picture : dict
        Its places, by `orthobench.atlas.site.drawn`.
    cost : str
        A key of `CHEAPEST`.
    width, height : float
        In pixels.
    """
    across, up = _axes(found, CHEAPEST[cost], width - LEFT - RIGHT, height - TOP - BOTTOM)
    numbers = {name: i + 1 for i, (name, _) in enumerate(picture["legend"])}
    bottom = height - BOTTOM
    known = {p["problem"]: p for _, cells in picture["rows"] for cell in cells for p in cell}
    marks = []
    together = grouped(
        range(len(found.problems)),
        lambda i: (across.place(across.values[i]) // SIDE, up.place(up.values[i]) // SIDE),
    )
    for own in together.values():
        for n, i in enumerate(own):
            place = known[found.problems[i]]
            x, y = _beside(n, len(own))
            marks.append(
                {
                    "x": round(LEFT + across.place(across.values[i]) + x - SIDE / 2, 1),
                    "y": round(bottom - up.place(up.values[i]) + y - SIDE / 2, 1),
                    "side": SIDE,
                    "number": numbers[place["solver"]],
                    "place": place,
                }
            )
    return {
        "width": width, "height": height, "marks": marks,
        "left": LEFT, "right": width - RIGHT, "top": TOP, "bottom": bottom,
        "x": across.title, "y": up.title,
        "columns": [(round(LEFT + at, 1), text) for at, text in across.ticks],
        "rows": [(round(bottom - at, 1), text) for at, text in up.ticks],
    }  # fmt: skip


def _axes(found: Losses, cost: str, width: float, height: float) -> tuple[Axis, Axis]:
    """Return the axes: two sizes, those with several values first, or one and the least cost."""
    sizes = {name: [float(getattr(one, name)) for one in found.features] for name in SIZES}
    order = sorted(SIZES, key=lambda name: (-len(set(sizes[name])), SIZES.index(name)))
    x, y = sorted(order[:2], key=SIZES.index)
    if len(set(zip(sizes[x], sizes[y], strict=True))) > len(set(sizes[order[0]])):
        return Axis(AXES[x], sizes[x], width), Axis(AXES[y], sizes[y], height)
    least = [float(own) for own in np.nanmin(found.costs, axis=1)]
    return Axis(AXES[order[0]], sizes[order[0]], width), Axis(cost, least, height)


def _beside(n: int, count: int) -> tuple[float, float]:
    """Return the offset of one of several problems at one place, in pixels."""
    row, column = divmod(n, IN_ROW)
    in_row = min(IN_ROW, count - row * IN_ROW)
    rows = math.ceil(count / IN_ROW)
    step = SIDE + GAP
    return step * (column - (in_row - 1) / 2), step * (row - (rows - 1) / 2)
