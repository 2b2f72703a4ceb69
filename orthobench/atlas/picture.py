"""The map as a picture: over two sizes, which solver is the cheapest that is good enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from orthobench.atlas.losses import SIZES, Losses
from orthobench.decide.answer import MISS
from orthobench.decide.wording import factor_text
from orthobench.registry.plugins import catalogue
from orthobench.report.style import Style, solver_styles
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean, count

CLOSE = 1.1
"""Two solvers are close whose costs differ by less than this factor."""

RANKED = 5
"""So many solvers are named of each place."""

LEADERS = 4
"""So many solvers have a line of cost against size."""

WIDTH, HEIGHT, LEFT, BELOW = 640, 260, 60, 24
"""Of the plot of lines, and its margins, in pixels."""

WORDS = {"rows": "rows", "d": "columns", "k": "sought"}
"""What the sizes are called."""


def drawn(found: Losses, single: str) -> dict[str, Any]:
    """Return the map of the problems of a kind, where a solver is the best single one.

    Its axes are the two sizes with the most values; where one tells the other, problems stand
    beside their names.

    Returns
    -------
    dict
        What is along ``x`` and ``y``, the ``columns``, and ``rows``, from the largest to the
        smallest size, with the places of each column as `_place` returns them. ``legend``: the
        solvers that are the cheapest somewhere with their styles, the most frequent first.
    """
    sizes = {name: [getattr(one, name) for one in found.features] for name in SIZES}
    order = sorted(SIZES, key=lambda name: (-len(set(sizes[name])), SIZES.index(name)))
    x, y = sorted(order[:2], key=SIZES.index)
    if len(set(zip(sizes[x], sizes[y], strict=True))) == len(set(sizes[order[0]])):
        x, y = order[0], "problem"  # one size tells the other
    across, up = sizes[x], sizes.get(y, list(found.names))
    best = [found.solver_names[i] for i in found.logs.argmin(axis=1)]
    legend = sorted(set(best), key=lambda name: (-best.count(name), name))
    styles = solver_styles(legend)
    columns, heights = sorted(set(across)), sorted(set(up), reverse=True)
    places = grouped(range(len(found.problems)), lambda i: (up[i], across[i]))
    return {
        "x": WORDS[x],
        "y": WORDS.get(y, y),
        "columns": [_size(c) for c in columns],
        "rows": [
            (_size(h), [[_place(found, i, styles, single) for i in places.get((h, c), ())]
                        for c in columns])
            for h in heights
        ],
        "legend": [(name, styles[name]) for name in legend],
    }  # fmt: skip


def _size(value: object) -> str:
    return count(value or math.nan) if isinstance(value, int) else clean(str(value))


def _place(found: Losses, i: int, styles: dict[str, Style], single: str) -> dict[str, Any]:
    """Return a problem on the map: the cheapest that is good enough, and its style.

    With it stand the ``name`` of real data, whether it is ``close``, another being within `CLOSE`
    of it, the factor that is ``lost`` by the best single solver of the family (a miss is ten), the
    ``strength`` of the colour in percent, which grows with that, and the ``ranking`` of the
    cheapest with their factors.
    """
    logs = found.logs[i]
    least: dict[str, float] = {}
    for j in np.argsort(logs, kind="stable"):
        if np.isfinite(found.costs[i, j]):
            least.setdefault(found.solver_names[j], math.exp(logs[j]))
    ranked, lost = list(least.items()), math.exp(logs[found.solvers.index(single)])
    known = catalogue().problems.get(found.names[i])
    return {
        "problem": found.problems[i],
        "name": found.names[i] if known and known.item.source else "",
        "solver": ranked[0][0],
        "style": styles[ranked[0][0]],
        "close": len(ranked) > 1 and ranked[1][1] < CLOSE,
        "lost": lost,
        "strength": round(12 + 33 * math.log(min(lost, MISS)) / math.log(MISS)),
        "ranking": ", ".join(f"{clean(name)} {factor_text(f)}" for name, f in ranked[:RANKED]),
    }


def cost_lines(found: Losses, legend: Sequence[tuple[str, Style]]) -> dict[str, Any] | None:
    """Return what the leaders cost against the size of the data, on logarithmic axes.

    The size is the number of entries, rows times columns, or columns times those sought if there
    are no rows. Of each leader ``marks``, a mark a problem at the best of its settings, and the
    ``line`` of the power law of least squares with its ``power``. None if sizes do not vary.

    Parameters
    ----------
    found : Losses
    legend : sequence of (str, Style)
        Solvers, the first of which are the leaders.
    """
    has_rows = all(one.rows for one in found.features)
    sizes = np.array([one.d * (one.rows if has_rows else one.k) for one in found.features], float)
    solvers = found.of_solvers()
    costs = {name: solvers[name][1] for name, _ in legend[:LEADERS]}
    seen = np.concatenate([[math.nan], *costs.values()])
    if len(set(sizes)) < 3 or not np.isfinite(seen).any():
        return None
    ends = np.log10(sizes.min()), np.log10(sizes.max())
    low, high = np.floor(np.log10(np.nanmin(seen))), np.ceil(np.log10(np.nanmax(seen)))

    def across(x: Any) -> Any:
        return LEFT + (WIDTH - LEFT - 10) * (x - ends[0]) / (ends[1] - ends[0])

    def up(y: Any) -> Any:
        return 10 + (HEIGHT - BELOW - 10) * (high - y) / max(high - low, 1)

    leaders = []
    for name, style in legend[:LEADERS]:
        there = np.isfinite(costs[name])
        x, y = np.log10(sizes[there]), np.log10(costs[name][there])
        line, power = None, math.nan
        if len(set(x)) > 2:
            power, offset = np.polyfit(x, y, 1)
            reach = np.array([x.min(), x.max()])
            line = [*across(reach), *up(np.clip(power * reach + offset, low, high))]
        marks = list(zip(across(x), up(y), strict=True))
        leaders.append({"name": name, "style": style, "line": line, "power": power, "marks": marks})
    return {
        "what": "rows x columns" if has_rows else "columns x sought",
        "x": [(across(t), t) for t in range(math.ceil(ends[0]), math.floor(ends[1]) + 1)],
        "y": [(up(t), t) for t in range(int(low), int(high) + 1)],
        "leaders": leaders, "width": WIDTH, "height": HEIGHT, "left": LEFT,
    }  # fmt: skip
