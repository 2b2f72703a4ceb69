"""The picture of a map: each problem at its sizes, on axes with a true scale.

If one size determines the others, the second axis is the cost of the cheapest call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from orthobench.atlas.losses import SIZES, Losses, members
from orthobench.decide.answer import MISS
from orthobench.decide.wording import factor_text
from orthobench.report.style import Style, solver_styles
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean, count, duration

AXES = {"rows": "rows (samples)", "d": "columns", "k": "columns sought"}
"""The titles of sizes."""

CHEAPEST = {"seconds": "time of the cheapest call", "samples": "samples of the cheapest call"}
"""The titles of costs."""

WIDE, CARD = (900, 420), (410, 250)
"""Width and height of the picture of a family, and of its one on the first page, in pixels."""

LEFT, RIGHT, TOP, BOTTOM = 58, 14, 14, 40
"""Margins, in pixels; ticks and titles stand in them."""

SIDE, GAP = 15, 1
"""Side of the square of a problem and distance of those at one place, in pixels."""

IN_ROW = 3
"""Number of problems at one place that stand side by side."""

FEW = 2
"""Number of powers of ten on an axis up to which 2 and 5 times each have ticks, too."""

LETTER = 7.0
"""Width of a letter below an axis, in pixels."""

CLOSE = 1.1
"""Two solvers are close if their costs differ by less than this factor."""

RANKED = 5
"""Maximum number of solvers in the ranking of a problem."""


def drawn(found: Losses, single: str, cost: str) -> dict[str, Any]:
    """Return the map of the problems of a kind for the templates.

    Keys: ``legend``, the cheapest solvers with their styles, ``places``, the problems with their
    rankings (`_place`), ``solvers`` (`members`), and ``chart`` and ``card``, drawings of two sizes
    (`chart`).

    Parameters
    ----------
    found : Losses
    single : str
        The label of the best single solver.
    cost : str
        A key of `CHEAPEST`.
    """
    best = [found.solver_names[i] for i in found.logs.argmin(axis=1)]
    styles = solver_styles(best)
    order = sorted(styles, key=lambda name: (-best.count(name), name))
    legend = {name: styles[name] for name in order}
    places = [_place(found, i, legend, single) for i in range(len(best))]
    return {
        "legend": legend,
        "places": places,
        "solvers": list(members(found)),
        "chart": chart(found, places, cost, *WIDE),
        "card": chart(found, places, cost, *CARD),
    }


def _place(found: Losses, i: int, legend: dict[str, Style], single: str) -> dict[str, Any]:
    """Return a problem on the map.

    ``close``: another solver is within `CLOSE` of the cheapest. ``lost``: the factor of the best
    single solver at its best call. ``strength``: percent of colour, which grows with that.
    """
    logs = found.logs[i]
    least: dict[str, float] = {}
    for j in np.argsort(logs, kind="stable"):
        if np.isfinite(found.costs[i, j]):
            least.setdefault(found.solver_names[j], math.exp(logs[j]))
    own = [logs[j] for j, solver in enumerate(found.solvers) if solver == single]
    ranked, lost = list(least.items()), math.exp(min(own, default=math.log(MISS)))
    cheapest = ranked[0][0]
    return {
        "problem": found.problems[i].problem,
        "number": [*legend].index(cheapest) + 1,
        "colour": legend[cheapest].colour,
        "close": len(ranked) > 1 and ranked[1][1] < CLOSE,
        "lost": lost,
        "strength": strength(lost),
        "ranking": ", ".join(f"{clean(name)} {factor_text(f)}" for name, f in ranked[:RANKED]),
    }


def strength(lost: float) -> int:
    """Return the percent of colour of a problem on which the best single solver loses a factor."""
    return round(12 + 33 * math.log(min(lost, MISS)) / math.log(MISS))


def chart(
    found: Losses, places: Sequence[dict[str, Any]], cost: str, width: float, height: float
) -> dict[str, Any]:
    """Return the drawing of a map, in pixels.

    Keys: ``width``, ``height``, ``left``, ``right``, ``top``, ``bottom`` (ends of the axes), ``x``
    and ``y`` (titles), ``columns`` and ``rows`` (ticks), ``side``, and ``marks``, the places with
    the corner ``x`` and ``y`` of their square.
    """
    right, bottom = width - RIGHT, height - BOTTOM
    (x_title, x_values), (y_title, y_values) = _axes(found, CHEAPEST[cost])
    across, columns = axis(x_values, right - LEFT, letter=LETTER)
    up, rows = axis(y_values, bottom - TOP, duration if y_title == CHEAPEST["seconds"] else count)
    marks = []
    together = grouped(range(len(places)), lambda i: (across[i] // SIDE, up[i] // SIDE))
    for own in together.values():
        for n, i in enumerate(own):
            x, y = _beside(n, len(own))
            corner = LEFT + across[i] + x - SIDE / 2, bottom - up[i] + y - SIDE / 2
            marks.append({**places[i], "x": round(corner[0], 1), "y": round(corner[1], 1)})
    return {
        "width": width, "height": height, "marks": marks, "side": SIDE,
        "left": LEFT, "right": right, "top": TOP, "bottom": bottom,
        "x": x_title, "y": y_title,
        "columns": [(round(LEFT + at, 1), text) for at, text in columns],
        "rows": [(round(bottom - at, 1), text) for at, text in rows],
    }  # fmt: skip


def axis(
    values: Sequence[float],
    length: float,
    text: Callable[[float], str] = count,
    letter: float = 0.0,
) -> tuple[list[float], list[tuple[float, str]]]:
    """Return the places of values on a logarithmic axis, and its ticks with their texts.

    Ticks are powers of ten, and if they are few, 2 and 5 times each, unless texts with letters of
    this width would touch. The size 0 is that of an endless stream, beyond all others. Places are
    in pixels from the beginning.
    """
    known = [math.log10(value) for value in values if value > 0] or [0.0]
    low, high = min(known), max(known)
    endless = min(values) <= 0
    beyond = high + max(0.3, 0.15 * (high - low)) if endless else high
    margin = max(0.1, 0.05 * (beyond - low))

    def place(logarithm: float) -> float:
        return length * (logarithm - low + margin) / (beyond - low + 2 * margin)

    first, last = low - margin, high if endless else high + margin
    powers = np.arange(math.floor(first), math.ceil(last) + 1)
    ticks = powers[(first <= powers) & (powers <= last)]
    if len(ticks) <= FEW:
        every = np.add.outer(powers, np.log10([1, 2, 5])).ravel()
        every = every[(first <= every) & (every <= last)]
        widest = letter * max((len(text(10.0**tick)) for tick in every.tolist()), default=0)
        if len(ticks) < FEW or place(low + math.log10(2)) - place(low) > widest:
            ticks = every
    found = [(place(tick), text(10.0**tick)) for tick in ticks.tolist()]
    if endless:
        end, word = place(beyond), "endless"
        found = [(at, own) for at, own in found if end - at > letter * len(own + word) / 2]
        found.append((end, word))
    return [place(math.log10(value) if value > 0 else beyond) for value in values], found


def _axes(found: Losses, cost: str) -> list[tuple[str, list[float]]]:
    """Return titles and values: two sizes, those with several values first, or one and ``cost``."""
    sizes = {name: [float(getattr(one, name)) for one in found.problems] for name in SIZES}
    order = sorted(SIZES, key=lambda name: (-len(set(sizes[name])), SIZES.index(name)))
    x, y = sorted(order[:2], key=SIZES.index)
    if len(set(zip(sizes[x], sizes[y], strict=True))) > len(set(sizes[order[0]])):
        return [(AXES[x], sizes[x]), (AXES[y], sizes[y])]
    return [(AXES[order[0]], sizes[order[0]]), (cost, np.nanmin(found.costs, axis=1).tolist())]


def _beside(n: int, count: int) -> tuple[float, float]:
    """Return the offset of one of several problems at one place, in pixels."""
    row, column = divmod(n, IN_ROW)
    in_row = min(IN_ROW, count - row * IN_ROW)
    rows = math.ceil(count / IN_ROW)
    step = SIDE + GAP
    return step * (column - (in_row - 1) / 2), step * (row - (rows - 1) / 2)
