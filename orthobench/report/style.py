"""Styles of solvers: the colour, line and marker that each has in every figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito 2008, safe for colour-blind readers; without the yellow, too pale on white."""

LINES: tuple[tuple[int, tuple[float, ...]], ...] = (
    (0, ()),
    (0, (6, 2)),
    (0, (1.2, 1.4)),
    (0, (6, 1.6, 1.2, 1.6)),
)
"""Solid, dashed, dotted, dash-dotted: matplotlib's dash offset and pattern, in line widths."""

MARKERS = ("o", "s", "^", "D", "v", "P", "*", "<", ">")
"""Markers of matplotlib, without crosses, which mark where a run failed."""


@dataclass(frozen=True)
class Style:
    """The style of a solver's curve; no two solvers share all three.

    Attributes
    ----------
    colour : str
        Hexadecimal.
    line : (int, tuple of float)
        Dash offset and pattern.
    marker : str
        A marker of matplotlib.
    """

    colour: str
    line: tuple[int, tuple[float, ...]]
    marker: str


def solver_styles(names: Iterable[str]) -> dict[str, Style]:
    """Return a style for each solver: the n-th by name gets the n-th style.

    Colours, lines and markers are cycled through together. There are 7, 4 and 9 of them, which
    have no common divisor, so that 252 solvers differ.

    Parameters
    ----------
    names : iterable of str
        The solvers of all results of a report, so that each looks the same in all its figures.
    """
    return {
        name: Style(COLOURS[i % len(COLOURS)], LINES[i % len(LINES)], MARKERS[i % len(MARKERS)])
        for i, name in enumerate(sorted(set(names)))
    }
