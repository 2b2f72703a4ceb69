"""Styles of solvers as browsers draw them: dashes in pixels, markers by plotly's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orthobench.report.style import Style

WIDTH = 1.8
"""Of lines, in pixels; dashes are given in line widths."""

REFERENCES = ("4px,3px", "1.5px,2.5px", "9px,3px,2px,3px")
"""Dashes of references, which are of no solver, one after the other."""

SYMBOLS = {
    "o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down",
    "P": "cross", "*": "star", "<": "triangle-left", ">": "triangle-right",
}  # fmt: skip
"""Markers of matplotlib, as plotly calls them."""

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
"""The same as SVG paths around the origin, for legends."""


@dataclass(frozen=True)
class Look:
    """How a browser draws a solver.

    Attributes
    ----------
    number : int
        Its place among the solvers of the page.
    colour, dash, symbol, shape : str
        Hexadecimal; lengths in pixels, empty where solid; plotly's name; an SVG path.
    """

    number: int
    colour: str
    dash: str
    symbol: str
    shape: str


def looks_of(styles: Mapping[str, Style]) -> dict[str, Look]:
    """Return how each solver looks in a browser."""
    return {
        name: Look(
            number,
            style.colour,
            ",".join(f"{WIDTH * part:g}px" for part in style.line[1]),
            SYMBOLS[style.marker],
            SHAPES[style.marker],
        )
        for number, (name, style) in enumerate(styles.items())
    }
