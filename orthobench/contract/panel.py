"""Plots as plain data: a `Plot` has `Panel`s, a panel has axes and series of points.

A browser and matplotlib show the same numbers from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from orthobench.tools.arrays import Array

Key: TypeAlias = tuple[str, ...]
"""One option for each choice of a plot, in order: ``("seconds", "suboptimality")``."""


@dataclass(frozen=True)
class Axis:
    """One axis of a panel.

    Attributes
    ----------
    key, label : str
        The name of the quantity, and its label, with the unit.
    log : bool
        Whether the axis is logarithmic at first.
    categories : tuple of str
        The names of positions 0, 1, ... on an axis without numbers.
    ticks : tuple of float
        The positions of tick labels; by default the renderer's.
    """

    key: str
    label: str
    log: bool = True
    categories: tuple[str, ...] = ()
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Series:
    """A line of a panel: points, with a band around them.

    Attributes
    ----------
    label : str
        Its name in the legend.
    x, y : ndarray, shape (m,)
        The points, with a gap at a y that is not finite.
    low, high : ndarray, shape (m,), optional
        The band around y; error bars on an axis with categories.
    solver : str
        The solver that determines colour and marker; grey without one.
    crosses : tuple of (float, float)
        The ends of failed runs.
    chosen : int, optional
        The index of the point that tuning chose.
    notes : tuple of str
        A note on each point: ``"step=2"``.
    """

    label: str
    x: Array
    y: Array
    low: Array | None = None
    high: Array | None = None
    solver: str = ""
    crosses: tuple[tuple[float, float], ...] = ()
    chosen: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    """The contents of one pair of axes.

    Attributes
    ----------
    x, y : Axis
    series : tuple of Series
    stepped : bool
        Whether y keeps its value up to the next point.
    rules : tuple of float
        x of vertical lines.
    band : str
        The meaning of the bands: ``"25 to 75 %"``.
    title : str
    """

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    stepped: bool = False
    rules: tuple[float, ...] = ()
    band: str = ""
    title: str = ""


@dataclass(frozen=True)
class Plot:
    """A plot whose reader can choose among panels.

    Attributes
    ----------
    name, kind : str
        The title and stem of file names, as ``"digits k=4"``; ``"convergence"``.
    choices : mapping
        The options of each choice, the default first: ``{"x": ("samples", "seconds")}``.
    draw : callable
        ``draw(key)`` returns the panel for one option of each choice.
    sheet : sequence of Key
        The panels of a figure on paper.
    about : tuple of str
        Notes for readers.
    """

    name: str
    kind: str
    choices: Mapping[str, Sequence[str]]
    draw: Callable[[Key], Panel] = field(repr=False)
    sheet: Sequence[Key] = ()
    about: tuple[str, ...] = ()

    def panel(self, *options: str) -> Panel:
        """Return the panel for these options, by default for the first of each choice."""
        return self.draw(options or next(self.keys()))

    def keys(self) -> Iterator[Key]:
        """Yield every combination of options."""
        yield from product(*self.choices.values())
