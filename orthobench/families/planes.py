"""A function along the rotations in one plane, and its global minimizer over the period."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from orthobench.arrays import Array


@dataclass(frozen=True)
class Trigonometric:
    """A trigonometric polynomial, sum_h cosines[h] cos(h angle) + sines[h] sin(h angle).

    Attributes
    ----------
    cosines, sines : ndarray, shape (h,)
        Coefficients of the harmonics 0, 1, ..., h - 1.
    """

    cosines: Array
    sines: Array

    def __call__(self, angle: float) -> float:
        """Return the value at an angle."""
        at = angle * np.arange(len(self.cosines))
        return float(self.cosines @ np.cos(at) + self.sines @ np.sin(at))


Restriction: TypeAlias = Trigonometric | Callable[[float], float]
