"""Numbers that steps depend on: Python's with NumPy, arrays of shape () with other libraries.

A step can go on with an array that is not computed yet, so that nothing waits for the device. What
is written with these functions takes either; with NumPy they cost what Python's own do.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any

import numpy as np

from orthobench.tools.arrays import namespace


def inner(A: Any, B: Any) -> Any:
    """Return the sum of the products of the entries of two arrays."""
    if isinstance(A, np.ndarray):
        return float(np.vdot(A, B))
    return namespace(A).sum(A * B)


def length(A: Any) -> Any:
    """Return the root of the sum of the squared entries of an array."""
    if isinstance(A, np.ndarray):
        return float(np.linalg.norm(A))
    return namespace(A).linalg.vector_norm(A)


def root(x: Any) -> Any:
    """Return the square root of a number."""
    return sqrt(x) if isinstance(x, float) else namespace(x).sqrt(x)


def not_finite(x: Any) -> Any:
    """Return whether a number is NaN or infinite."""
    return not isfinite(x) if isinstance(x, float) else ~namespace(x).isfinite(x)


def ratio(over: Any, under: Any, otherwise: float) -> Any:
    """Return the ratio of two numbers, or another number where the second is not positive."""
    if isinstance(under, float):
        return over / under if under > 0 else otherwise
    positive = under > 0
    return chosen(positive, over / chosen(positive, under, 1.0), otherwise)


def numbers(*values: Any) -> list[float]:
    """Return numbers as those of Python; elsewhere than in NumPy this waits for the device."""
    if isinstance(values[0], (float, np.floating)):
        return [float(value) for value in values]
    stacked = namespace(values[0]).stack(values)
    if hasattr(stacked, "tolist"):  # one transfer
        return [float(value) for value in stacked.tolist()]
    return [float(stacked[i]) for i in range(len(values))]


def chosen(condition: Any, yes: Any, no: Any) -> Any:
    """Return one number where a condition holds, and another where not."""
    if isinstance(condition, (bool, np.bool_)):
        return yes if condition else no
    xp = namespace(condition)
    if not hasattr(yes, "shape") and not hasattr(no, "shape"):  # of Python, and so counts
        no = xp.full_like(condition, no, dtype=xp.int64)
    if not hasattr(yes, "shape"):
        yes = xp.full_like(no, yes)
    if not hasattr(no, "shape"):
        no = xp.full_like(yes, no)
    return xp.where(condition, yes, no)


def least(a: Any, b: Any) -> Any:
    """Return the smaller of two numbers."""
    below = b < a
    if below is True or below is False:
        return b if below else a
    return chosen(below, b, a)


def greatest(a: Any, b: Any) -> Any:
    """Return the larger of two numbers."""
    above = b > a
    if above is True or above is False:
        return b if above else a
    return chosen(above, b, a)
