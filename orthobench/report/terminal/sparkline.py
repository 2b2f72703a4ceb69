"""Sparklines: small curves made of characters, which show a metric along the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.contract.panel import Panel
from orthobench.report.plots.convergence import first_panel
from orthobench.report.plots.geometry import Floor, floor_of
from orthobench.results.tuning import SolverResult
from orthobench.tools.arrays import Array

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
        """Return the curve of a solver.

        Each character shows the median at the end of its part of the run. It is blank before the
        curve begins and after it ends. A cross marks where the median run failed.

        Parameters
        ----------
        solver : str
            Its label.
        width : int
            In characters.
        ascii_only : bool
            Whether the console has no block characters.

        Returns
        -------
        str
            With `width` characters.
        """
        blocks = ASCII_BLOCKS if ascii_only else BLOCKS
        failed = ASCII_FAILED if ascii_only else FAILED
        series = next(one for one in self.panel.series if one.solver == solver)
        if not len(series.x):
            return " " * width
        edges = np.geomspace(*self.x, width + 1)
        edges[[0, -1]] = self.x
        last = np.searchsorted(series.x, edges[1:], side="right") - 1
        shown = [
            self._block(series.y[i], blocks, failed) if i >= 0 and begin <= series.x[-1] else " "
            for i, begin in zip(last.tolist(), edges, strict=False)
        ]
        text = "".join(shown)
        cut = text.find(failed)
        return text if cut < 0 else text[: cut + 1].ljust(width)

    def _block(self, value: float, blocks: str, failed: str) -> str:
        if not math.isfinite(value):
            return failed
        low, high = self.y
        if low == high or value <= self.floor.zero:
            return blocks[0]
        if self.floor.log:
            height = math.log(value / low) / math.log(high / low)
        else:
            height = (value - low) / (high - low)
        return blocks[min(int(height * len(blocks)), len(blocks) - 1)]


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
    y = [floor.raised(series.y) for series in drawn]
    return Sparklines(panel, floor, _ends([series.x for series in drawn]), _ends(y))


def _ends(parts: Sequence[Array]) -> tuple[float, float]:
    values = np.concatenate(parts)
    values = values[np.isfinite(values)]
    return float(values.min()), float(values.max())
