"""Pictures of methods on the map: what a call costs beside the cheapest one, by problem."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from orthobench.atlas.answers import compare, opened
from orthobench.atlas.losses import losses

FEWEST = 3
"""Minimum number of problems that a method solves on its picture."""

SIZE, LEFT, TOP, BOTTOM = 260, 64, 10, 44
"""Width and height of the panel, and the space around it, in pixels."""

SECONDS = {-4: "100 µs", -3: "1 ms", -2: "10 ms", -1: "0.1 s", 0: "1 s", 1: "10 s"}
"""Labels of the axes, by the decade."""

INK, LINE, COLOUR = "#30363d", "#c8ced6", "#0b61a4"


class Cost(NamedTuple):
    """Seconds of the cheapest call on a problem, and of one method; infinite if it misses."""

    problem: str
    least: float
    own: float


@cache
def costs() -> dict[str, list[Cost]]:
    """Return the costs of each solver on the problems of the installed map."""
    found: dict[str, list[Cost]] = {}
    for rows in opened(None).kinds.values():
        lost = losses(rows, compare(rows))
        names = np.array(lost.solver_names)
        named = np.nanmin(lost.costs, axis=1) if names.size else ()
        for name in dict.fromkeys(lost.solver_names):
            own = np.where(np.isnan(lost.costs), np.inf, lost.costs)[:, names == name].min(axis=1)
            found.setdefault(name, []).extend(
                Cost(row.problem, *pair)
                for row, *pair in zip(lost.problems, named, own, strict=True)
            )
    return found


def shown(name: str) -> bool:
    """Whether a solver has a picture."""
    return sum(one.own < math.inf for one in costs().get(name, ())) >= FEWEST


def svg(name: str) -> str:
    """Return the picture of a solver: a dot is a problem, a cross one on which it misses.

    The line is the cost of the cheapest call.
    """
    points = costs()[name]
    missed = any(math.isinf(one.own) for one in points)
    legend = f'<text x="{LEFT + SIZE}" y="{TOP + SIZE - 8}" text-anchor="end">× misses</text>'
    width, height = LEFT + SIZE + 14, TOP + SIZE + BOTTOM
    box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = f'font-family="sans-serif" font-size="11" fill="{INK}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} {font}>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *_axes(),
        *(_mark(one) for one in points),
        *([legend] if missed else ()),
    ]
    return "\n".join([*parts, "</svg>", ""])


def _axes() -> Iterator[str]:
    """Yield the lines of the decades, their labels, the diagonal, and the names of the axes."""
    for decade, label in SECONDS.items():
        x, y = _x(10.0**decade), _y(10.0**decade)
        yield f'<path d="M{x} {TOP}v{SIZE}M{LEFT} {y}h{SIZE}" stroke="{LINE}" stroke-width=".6"/>'
        yield f'<text x="{x}" y="{TOP + SIZE + 15}" text-anchor="middle">{label}</text>'
        yield f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{label}</text>'
    yield f'<path d="M{LEFT} {TOP + SIZE}l{SIZE} {-SIZE}" stroke="{INK}"/>'
    middle = TOP + SIZE / 2
    yield (
        f'<text x="{LEFT + SIZE / 2}" y="{TOP + SIZE + 34}" text-anchor="middle">'
        "cheapest call on the problem</text>"
    )
    yield (
        f'<text transform="translate(12 {middle}) rotate(-90)" text-anchor="middle">'
        "a call of this method</text>"
    )


def _mark(one: Cost) -> str:
    """Return a dot, or a cross at the upper edge, with the problem's name under the pointer."""
    x = _x(one.least)
    title = f"<title>{one.problem.replace('&', '&amp;').replace('<', '&lt;')}</title>"
    if math.isinf(one.own):
        return (
            f'<path d="M{x - 3} {TOP}l6 6m0 -6l-6 6" stroke="{INK}" stroke-opacity=".6">'
            f"{title}</path>"
        )
    return (
        f'<circle cx="{x}" cy="{_y(one.own)}" r="3.5" fill="{COLOUR}" fill-opacity=".65">'
        f"{title}</circle>"
    )


def _part(seconds: float) -> float:
    """Return the place of a time on a logarithmic axis, from 0 to 1."""
    low, high = min(SECONDS) - 0.3, max(SECONDS) + 0.7
    return (min(max(math.log10(seconds), low), high) - low) / (high - low)


def _x(seconds: float) -> float:
    return round(LEFT + SIZE * _part(seconds), 1)


def _y(seconds: float) -> float:
    return round(TOP + SIZE * (1 - _part(seconds)), 1)
