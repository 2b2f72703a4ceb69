"""Panels and plots: all that a drawing shows, as plain data.

Every plot of a report is made of these, so that what a browser draws, what matplotlib draws and
what a CSV file has are the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

from orthobench.tools.arrays import Array

Key: TypeAlias = tuple[str, ...]
"""One option of each choice of a plot, in their order: ``("seconds", "suboptimality")``."""


@dataclass(frozen=True)
class Axis:
    """One axis of a panel.

    Attributes
    ----------
    key : str
        What it measures; the name of its column in a CSV file.
    label : str
        The same for people, with the unit.
    log : bool
        Whether it is logarithmic as long as the reader chooses nothing else.
    categories : tuple of str
        Names of the positions 0, 1, ... of an axis that has no numbers.
    ticks : tuple of float
        Where it has its labels; wherever they fit, where there are none.
    """

    key: str
    label: str
    log: bool = True
    categories: tuple[str, ...] = ()
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Series:
    """One line of a panel, with its points.

    Attributes
    ----------
    label : str
        As the legend calls it.
    x, y : ndarray, shape (m,)
        A point whose y is not finite is not drawn: failed runs count as infinite.
    low, high : ndarray, shape (m,), optional
        The band around y, or a bar where the x axis has categories.
    solver : str
        In whose style it is drawn; a reference, which is of no solver, is drawn in grey.
    crosses : tuple of (float, float)
        Where failed runs ended.
    chosen : int, optional
        Index of the point that tuning chose.
    notes : tuple of str
        What each point is, where its coordinates do not say so: ``"step=2"``.
    runs : tuple of (ndarray, ndarray)
        The single runs behind it, x and y of each, as measured.
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
    runs: tuple[tuple[Array, Array], ...] = ()


@dataclass(frozen=True)
class Panel:
    """What stands in one pair of axes.

    Attributes
    ----------
    x, y : Axis
    series : tuple of Series
    stepped : bool
        Whether y keeps its value up to the next point.
    rules : tuple of float
        Where vertical lines stand.
    band : str
        What the bands are, in words: ``"25 to 75 %"``; empty where there are none.
    title : str
        What stands above it, where its axes do not say all.
    """

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    stepped: bool = False
    rules: tuple[float, ...] = ()
    band: str = ""
    title: str = ""

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one row for each point, as a CSV file has them."""
        for one in self.series:
            for i, (x, y) in enumerate(zip(one.x.tolist(), one.y.tolist(), strict=True)):
                named = self.x.categories[int(x)] if self.x.categories else x
                row = {"solver": one.solver, "label": one.label, self.x.key: named, self.y.key: y}
                if one.low is not None and one.high is not None:
                    row |= {"low": float(one.low[i]), "high": float(one.high[i])}
                if one.notes:
                    row["note"] = one.notes[i]
                if one.chosen is not None:
                    row["chosen"] = i == one.chosen
                yield row


@dataclass(frozen=True)
class Plot:
    """A named plot: one panel for each combination of what its reader can choose.

    Attributes
    ----------
    name : str
        Its title, and the stem of its files: ``"digits k=4"``.
    kind : str
        What sort of plot it is: ``"convergence"``.
    choices : mapping
        What can be chosen, with the options, the first of which is shown first:
        ``{"x": ("samples", "seconds"), "metric": ("suboptimality",)}``.
    draw : callable
        Returns the panel of one option of each choice; called when it is needed only.
    sheet : sequence of Key
        The panels that stand side by side on paper.
    about : tuple of str
        What a reader must know: budget, seeds, what the bands are.
    """

    name: str
    kind: str
    choices: Mapping[str, Sequence[str]]
    draw: Callable[[Key], Panel] = field(repr=False)
    sheet: Sequence[Key] = ()
    about: tuple[str, ...] = ()

    def panel(self, *options: str) -> Panel:
        """Return the panel of these options; of the first ones where none is given."""
        return self.draw(options or next(self.keys()))

    def keys(self) -> Iterator[Key]:
        """Yield every combination of options."""
        yield from product(*self.choices.values())
