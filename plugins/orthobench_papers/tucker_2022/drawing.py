"""What the pictures of this paper have in common: panels of medians over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from orthobench.contract import Array, Key, Panel, Plot, Series
from orthobench.reproduce import Record, curve, spread

BAND = "25 to 75 % of the seeds"
ABOUT = (f"Medians over the seeds; bands: {BAND}.",)


def plot(
    name: str, panels: Mapping[str, Callable[[], Panel]], about: tuple[str, ...] = ABOUT
) -> Plot:
    """Return a plot of panels side by side, each drawn when it is needed."""

    def draw(key: Key) -> Panel:
        return panels[key[0]]()

    return Plot(
        name=name,
        kind="claims",
        choices={"panel": tuple(panels)},
        draw=draw,
        sheet=[(title,) for title in panels],
        about=about,
    )


def points(label: str, solver: str, x: ArrayLike, values: Sequence[Array]) -> Series:
    """Return the medians of values over seeds, one array for each x."""
    middle, low, high = np.array([spread(v) for v in values]).T
    return Series(label, np.asarray(x, dtype=np.float64), middle, low, high, solver)


def course(
    label: str, solver: str, records: Sequence[Record], metric: str, x: str, factor: float = 1.0
) -> Series:
    """Return the median course of runs, times a factor."""
    found = curve(records, x, metric)
    middle, low, high = (factor * part for part in (found.median, found.low, found.high))
    return Series(label, found.x, middle, low, high, solver)
