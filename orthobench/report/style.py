"""Styles of solvers: the colour, line and marker that each has in every figure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

COLOURS = (
    "#BB3197", "#7B008F", "#A149F9", "#325462", "#FF39C4", "#931913",
    "#6F12DC", "#828F7C", "#2E7D4F", "#D8172A", "#D07D25", "#0899D2",
)  # fmt: skip
"""Twelve hues on white, with a contrast above 3.

Any two differ by at least 0.08 in OKLab, also under protanopia, deuteranopia and tritanopia
(simulated as in Machado, Oliveira and Fernandes 2009).
"""

DASHES: tuple[tuple[float, ...], ...] = ((), (6, 2), (1.2, 1.4), (6, 1.6, 1.2, 1.6))
"""The dashes of lines in line widths, the first one solid."""

SHAPES = {
    "o": "M4 0A4 4 0 1 1-4 0A4 4 0 1 1 4 0Z",
    "s": "M-3.6-3.6H3.6V3.6H-3.6Z",
    "^": "M0-4.6L4.4 3.4H-4.4Z",
    "D": "M0-5L5 0L0 5L-5 0Z",
    "v": "M0 4.6L4.4-3.4H-4.4Z",
    "P": "M-1.6-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z",
    "*": "M0-5.6L1.3-1.8L5.3-1.7L2.1.7L3.3 4.5L0 2.2L-3.3 4.5L-2.1.7L-5.3-1.7L-1.3-1.8Z",
    "<": "M-4.6 0L3.4-4.4V4.4Z",
    ">": "M4.6 0L-3.4-4.4V4.4Z",
}
"""Markers of matplotlib as SVG paths; crosses mark failures."""

MARKERS = tuple(SHAPES)

REFERENCES = ((4, 3), (1.5, 2.5), (9, 3, 2, 3))
"""The dashes of references, in turn."""

WIDTH = 1.8
"""The width of lines on a page, in pixels."""


@dataclass(frozen=True)
class Style:
    """The style of a solver's curve; no two solvers share all three.

    `number` is its place among the solvers of a report, `colour` is hexadecimal, on white, `dashes`
    are those of its line, and `marker` is one of matplotlib.
    """

    number: int
    colour: str
    dashes: tuple[float, ...]
    marker: str

    @property
    def dash(self) -> str:
        """The dashes in pixels; empty for a solid line."""
        return ",".join(f"{WIDTH * part:g}" for part in self.dashes)

    @property
    def shape(self) -> str:
        """The marker as an SVG path around the origin."""
        return SHAPES[self.marker]


def solver_styles(names: Iterable[str]) -> dict[str, Style]:
    """Return a style for each solver: its name decides the hue, or the next free one."""
    styles: dict[str, Style] = {}
    rounds, used = 0, set[int]()
    for number, name in enumerate(sorted(set(names))):
        if len(used) == len(COLOURS):
            rounds, used = rounds + 1, set()
        hue = hashlib.sha256(name.encode()).digest()[0] % len(COLOURS)
        while hue in used:
            hue = (hue + 1) % len(COLOURS)
        used.add(hue)
        at = hue + rounds
        dashes, marker = DASHES[at % len(DASHES)], MARKERS[at % len(MARKERS)]
        styles[name] = Style(number, COLOURS[hue], dashes, marker)
    return styles
