"""Exhibits: what a solution looks like, for people who would rather look than read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from orthobench.arrays import Array


@dataclass(frozen=True, eq=False)
class Image:
    """A picture, one number a pixel.

    Attributes
    ----------
    values : ndarray, shape (height, width)
    signed : bool
        Whether zero is special: diverging colours around it.
    reference : bool
        Whether it is the same for every solver.
    """

    values: Array
    signed: bool = False
    reference: bool = False


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve; those with the same labels share an axis.

    Attributes
    ----------
    x, y : ndarray, shape (m,)
    x_label, y_label : str
    reference : bool
        Whether it is the same for every solver.
    """

    x: Array
    y: Array
    x_label: str
    y_label: str
    reference: bool = False


Exhibit: TypeAlias = Image | Curve
