"""Numbers that count what is done with them, to hold closed formulas against."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike


class Counted:
    """A number that counts the additions, subtractions and multiplications it takes part in.

    Attributes
    ----------
    flops : int
        Of all of them, since it was last set to zero.
    """

    flops: ClassVar[int] = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def _done(self, value: float) -> Counted:
        Counted.flops += 1
        return Counted(value)

    def __add__(self, other: Counted | float) -> Counted:
        return self._done(self.value + _value(other))

    def __sub__(self, other: Counted | float) -> Counted:
        return self._done(self.value - _value(other))

    def __mul__(self, other: Counted | float) -> Counted:
        return self._done(self.value * _value(other))

    __radd__, __rmul__ = __add__, __mul__


def _value(number: Counted | float) -> float:
    return number.value if isinstance(number, Counted) else number


def counted(values: ArrayLike) -> Any:
    """Return an array of objects that count, of the same shape."""
    array = np.asarray(values, dtype=np.float64)
    found = np.empty(array.shape, dtype=object)
    found.flat[:] = [Counted(value) for value in array.flat]
    return found
