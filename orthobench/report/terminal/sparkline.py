"""Sparklines: small curves made of characters, which show a metric along the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from orthobench.contract.panel import Panel
from orthobench.report.plots.convergence import first_panel
from orthobench.report.plots.geometry import Floor, floor_of
from orthobench.results.tuning import SolverResult

BLOCKS, FAILED = "▁▂▃▄▅▆▇█", "✗"

ASCII_BLOCKS, ASCII_FAILED = ".:-=+*#@", "x"
"""The same for consoles without block characters: larger values are darker."""

NARROW, WIDE = 8, 24
"""The fewest and the most characters of a curve."""


@dataclass(frozen=True)
class Sparklines:
    """The curves of one problem, all on the same two scales.

    Attributes
    ----------
    panel : Panel
        The medians over seeds.
    floor : Floor
        The values that count as zero, and where they are drawn; heights are linear without any.
    x, y : (float, float)
        The ends of the scales; that of x is logarithmic.
    """

    panel: Panel
    floor: Floor
    x: tuple[float, float]
    y: tuple[float, float]

    def line(self, solver: str, width: int, ascii_only: bool = False) -> str:
        """Return the curve of a solver, in `width` characters.

        Each character shows the median at the end of its part of the run. It is blank before the
        curve begins and after it ends. A cross marks where the median run failed.

        Parameters
        ----------
        solver : str
            Its label.
        width : int
        ascii_only : bool
            Whether the console has no block characters.
        """
        blocks = ASCII_BLOCKS if ascii_only else BLOCKS
        series = next(one for one in self.panel.series if one.solver == solver)
        if not len(series.x):
            return " " * width
        edges = np.geomspace(*self.x, width + 1)
        edges[[0, -1]] = self.x
        text = ""
        for begin, end in pairwise(edges):
            i = int(np.searchsorted(series.x, end, side="right")) - 1
            if i < 0 or begin > series.x[-1]:
                text += " "
            elif math.isfinite(series.y[i]):
                height = self._height(series.y[i])
                text += blocks[min(int(height * len(blocks)), len(blocks) - 1)]
            else:
                return (text + (ASCII_FAILED if ascii_only else FAILED)).ljust(width)
        return text

    def _height(self, value: float) -> float:
        """Return the place of a value between both ends of the scale, from 0 to 1."""
        low, high = self.y
        if low == high or value <= self.floor.zero:
            return 0.0
        if self.floor.log:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)


def sparklines(entries: Sequence[SolverResult]) -> Sparklines | None:
    """Return the curves of one problem, or None if no solver has any.

    They are those of `orthobench.report.plots.convergence.first_panel`.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of one problem, at least one that takes part.
    """
    panel = first_panel([entry for entry in entries if not entry.refused])
    drawn = [series for series in panel.series if np.isfinite(series.y).any()]
    if not any(len(series.x) > 1 for series in drawn):
        return None
    floor = floor_of([series.y for series in drawn])
    x, y = (np.concatenate(parts) for parts in (
        [series.x for series in drawn], [floor.raised(series.y) for series in drawn]
    ))  # fmt: skip
    ends = [(float(v[np.isfinite(v)].min()), float(v[np.isfinite(v)].max())) for v in (x, y)]
    return Sparklines(panel, floor, *ends)
