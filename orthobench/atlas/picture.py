"""The map as a picture: over two sizes, the cheapest solver that is good enough."""

from __future__ import annotations

import math
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
"""Two solvers are close if their costs differ by less than this factor."""

RANKED = 5
"""Maximum number of solvers in the ranking of a place."""

WORDS = {"rows": "rows", "d": "columns", "k": "sought"}
"""The names of sizes for people."""


def drawn(found: Losses, single: str) -> dict[str, Any]:
    """Return the map of the problems of a kind; ``single`` is the best single solver.

    Its axes are the two sizes with the largest number of values. If one size determines the other,
    problems stand beside their names. Keys: labels ``x`` and ``y``, ``columns``, ``rows`` from the
    largest to the smallest size with the places of each column (`_place`), and ``legend``, the
    cheapest solvers with their styles.
    """
    sizes = {name: [getattr(one, name) for one in found.features] for name in SIZES}
    order = sorted(SIZES, key=lambda name: (-len(set(sizes[name])), SIZES.index(name)))
    x, y = sorted(order[:2], key=SIZES.index)
    if len(set(zip(sizes[x], sizes[y], strict=True))) == len(set(sizes[order[0]])):
        x, y = order[0], "problem"
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
    """Return a problem on the map.

    ``close``: another solver is within `CLOSE` of the cheapest. ``lost``: the factor of the best
    single solver. ``strength``: percent of colour, which grows with that.
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
