"""The map as a picture: over two sizes, which solver is the cheapest that is good enough."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.atlas.losses import SIZES, Losses
from orthobench.decide.answer import MISS
from orthobench.decide.wording import factor_text
from orthobench.report.style import Style, solver_styles
from orthobench.tools.formatting import clean, count

CLOSE = 1.1
"""Two solvers are close whose costs differ by less than this factor."""

RANKED = 5
"""So many solvers are named of each place."""

WORDS = {"rows": "rows", "d": "columns", "k": "sought"}
"""What the sizes are called."""


@dataclass(frozen=True)
class Place:
    """A problem on the map.

    Attributes
    ----------
    problem : str
        Its label.
    solver : str
        The name of the cheapest that is good enough.
    style : Style
        Its colour.
    close : bool
        Whether another is within `CLOSE` of it.
    lost : float
        The factor that the best single solver of the family costs more here; a miss is ten.
    ranking : str
        The cheapest solvers, with the factors of their cost.
    """

    problem: str
    solver: str
    style: Style
    close: bool
    lost: float
    ranking: str

    @property
    def strength(self) -> int:
        """How strong its colour is, in percent: the stronger, the more the single best loses."""
        return round(12 + 33 * math.log(min(self.lost, MISS)) / math.log(MISS))


@dataclass(frozen=True)
class Map:
    """Places over two sizes.

    Attributes
    ----------
    x, y : str
        What the columns and the rows are.
    columns : tuple of str
    rows : tuple of (str, tuple of tuple of Place)
        From the largest to the smallest size; of each column its places.
    legend : tuple of (str, Style)
        The solvers that are the cheapest somewhere, the most frequent first.
    """

    x: str
    y: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[Place, ...], ...]], ...]
    legend: tuple[tuple[str, Style], ...]


def drawn(found: Losses, single: str) -> Map:
    """Return the map of the problems of a kind, where a solver is the best single one.

    Its axes are the two sizes with the most values; where one tells the other, problems stand
    beside their names.
    """
    sizes = {name: [getattr(one, name) for one in found.features] for name in SIZES}
    order = sorted(SIZES, key=lambda name: (-len(set(sizes[name])), SIZES.index(name)))
    x, y = sorted(order[:2], key=SIZES.index)
    if len(set(zip(sizes[x], sizes[y], strict=True))) == len(set(sizes[order[0]])):
        x, y = order[0], "problem"  # one size tells the other
    across, up = sizes[x], sizes.get(y, list(found.names))
    best = [found.solvers[i].split()[0] for i in found.logs.argmin(axis=1)]
    legend = sorted(set(best), key=lambda name: (-best.count(name), name))
    styles = solver_styles(legend)
    places = [_place(found, i, styles, single) for i in range(len(found.problems))]
    columns, heights = sorted(set(across)), sorted(set(up), reverse=True)
    return Map(
        WORDS[x],
        WORDS.get(y, y),
        tuple(map(_size, columns)),
        tuple(
            (_size(h), tuple(tuple(_at(places, across, up, c, h)) for c in columns))
            for h in heights
        ),
        tuple((name, styles[name]) for name in legend),
    )


def _at(
    places: Sequence[Place], across: Sequence[object], up: Sequence[object], c: object, h: object
) -> Iterator[Place]:
    for place, own_c, own_h in zip(places, across, up, strict=True):
        if (own_c, own_h) == (c, h):
            yield place


def _size(value: object) -> str:
    return count(value or math.nan) if isinstance(value, int) else clean(str(value))


def _place(found: Losses, i: int, styles: dict[str, Style], single: str) -> Place:
    logs = found.logs[i]
    least: dict[str, float] = {}
    for j in np.argsort(logs, kind="stable"):
        if np.isfinite(found.costs[i, j]):
            least.setdefault(found.solvers[j].split()[0], math.exp(logs[j]))
    ranked = list(least.items())
    ranking = ", ".join(f"{clean(name)} {factor_text(f)}" for name, f in ranked[:RANKED])
    solver = ranked[0][0]
    return Place(
        found.problems[i], solver, styles[solver],
        len(ranked) > 1 and ranked[1][1] < CLOSE,
        math.exp(logs[found.solvers.index(single)]),
        ranking,
    )  # fmt: skip
