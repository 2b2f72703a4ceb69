"""Layouts of figures: widths, heights and font sizes on screens and in journals."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from orthobench.errors import unknown


@dataclass(frozen=True)
class Layout:
    """The sizes of everything in a figure. Lengths are in inches, font sizes in points.

    Attributes
    ----------
    widths : tuple of float
        The width of a figure with one panel, with two side by side, and so on; there are never more
        panels side by side than widths.
    height : float
        The height of a panel.
    titled : bool
        Whether title and caption are written above the panels; papers write their own.
    title, text, small : float
        Font sizes: of the title, of the labels of axes, of all other text.
    line, marker : float
        Width of lines and size of markers, in points.
    margin, away, gap : float
        The room around everything, between the panels and the text above and below them, and
        between two panels.
    names, cell : float
        The width of the solvers' names in a gallery, and that of its widest image.
    columns : int
        The most images side by side in a gallery.
    dpi : int
        Pixels per inch, in formats that have pixels.
    """

    widths: tuple[float, ...]
    height: float
    titled: bool
    title: float
    text: float
    small: float
    line: float
    marker: float
    margin: float
    away: float
    gap: float
    names: float
    cell: float
    columns: int
    dpi: int

    def columns_for(self, panels: int) -> int:
        """Return how many of so many panels are side by side, so that rows are filled evenly."""
        rows = -(-panels // len(self.widths))
        return -(-panels // rows)

    def settings(self) -> dict[str, Any]:
        """Return the settings of matplotlib, with all fonts embedded in the files."""
        return {
            "font.size": self.small, "font.family": ["DejaVu Sans"],
            "axes.labelsize": self.text, "axes.titlesize": self.small + 1,
            "xtick.labelsize": self.small, "ytick.labelsize": self.small,
            "xtick.major.size": 0.4 * self.small, "ytick.major.size": 0.4 * self.small,
            "xtick.minor.size": 0.2 * self.small, "ytick.minor.size": 0.2 * self.small,
            "axes.linewidth": 0.4 * self.line, "grid.linewidth": 0.45 * self.line,
            "lines.linewidth": self.line, "lines.markersize": self.marker,
            "legend.fontsize": self.small, "savefig.dpi": self.dpi, "figure.dpi": 100,
            "pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "orthobench",
        }  # fmt: skip

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Use this layout for all drawing and saving inside the block, not the user's settings."""
        import matplotlib as mpl

        with mpl.rc_context(), warnings.catch_warnings():
            # characters without a glyph are drawn as boxes
            warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
            mpl.rcdefaults()
            cast("dict[str, Any]", mpl.rcParams).update(self.settings())
            yield


SCREEN = Layout(
    widths=(8.0, 12.0, 15.0), height=3.08, titled=True, title=14, text=10.5, small=9.5, line=1.8,
    marker=6.0, margin=0.15, away=0.15, gap=0.3, names=2.0, cell=2.6, columns=6, dpi=160,
)  # fmt: skip
"""The figures of ``orthobench run``."""

ONE_COLUMN = Layout(
    widths=(3.5,), height=1.8, titled=False, title=8, text=8, small=7, line=1.1,
    marker=3.6, margin=0.03, away=0.06, gap=0.1, names=0.95, cell=0.9, columns=3, dpi=300,
)  # fmt: skip
"""One column of a two-column journal: 3.5 in (88.9 mm), as in those of the IEEE."""

TWO_COLUMN = Layout(
    widths=(7.16, 7.16, 7.16), height=1.9, titled=False, title=8, text=8, small=7, line=1.1,
    marker=3.6, margin=0.03, away=0.06, gap=0.15, names=1.2, cell=1.5, columns=6, dpi=300,
)  # fmt: skip
"""Both columns: 7.16 in (181.9 mm), as in the journals of the IEEE."""

LAYOUTS: Mapping[str, Layout] = MappingProxyType(
    {"screen": SCREEN, "one-column": ONE_COLUMN, "two-column": TWO_COLUMN}
)


def layout_of(style: str) -> Layout:
    """Return the layout of a style.

    Parameters
    ----------
    style : str
        One of `LAYOUTS`.

    Raises
    ------
    UsageError
        On an unknown style.
    """
    if style not in LAYOUTS:
        raise unknown("style", style, LAYOUTS)
    return LAYOUTS[style]
