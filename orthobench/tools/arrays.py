"""Arrays of every library, and checks of users' arrays and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from numbers import Integral
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import DataError, UsageError, quoted

Array: TypeAlias = NDArray[np.float64]
"""A NumPy array of float64."""

KEPT = 64
"""Maximum number of rows of cached identity matrices."""

AnyArray = TypeVar("AnyArray", bound=Any)
"""An array of any library."""


def namespace(x: Any) -> Any:
    """Return the functions of the array library of x, as the array API standard names them."""
    if isinstance(x, np.ndarray):
        return np
    from array_api_compat import array_namespace

    return array_namespace(x)


def identity(size: int, x: Any) -> Any:
    """Return a read-only identity matrix of the library, device and precision of x."""
    if isinstance(x, np.ndarray):
        return (_kept_eye if size <= KEPT else _eye)(size, x.dtype)
    from array_api_compat import device

    return namespace(x).eye(size, dtype=x.dtype, device=device(x))


def _eye(size: int, kind: np.dtype[Any]) -> NDArray[Any]:
    matrix = np.eye(size, dtype=kind)
    matrix.flags.writeable = False
    return matrix


_kept_eye = lru_cache(maxsize=64)(_eye)


def is_plain(x: Any) -> bool:
    """Return whether x is a NumPy array of float64, as kernels and LAPACK need it."""
    return isinstance(x, np.ndarray) and x.dtype == np.float64


def copied(x: AnyArray) -> AnyArray:
    """Return a copy of an array of any library, in C order for NumPy."""
    made: AnyArray = x.copy() if isinstance(x, np.ndarray) else namespace(x).asarray(x, copy=True)
    return made


def in_rows(x: AnyArray) -> AnyArray:
    """Return a NumPy array in C order, and an array of another library as it is."""
    made: Any = np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x
    return cast(AnyArray, made)


def is_number(value: Any) -> bool:
    """Return whether a value is a real number that fits a float; booleans are not."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    exact = value if isinstance(value, int) else float(value)  # the bound overflows in float32
    return -(2.0**1023) < exact < 2.0**1023


def whole(value: Any, name: str, low: int = 1, high: float = math.inf, why: str = "") -> int:
    """Return a whole number from `low` to `high`; raise a `UsageError` on True, 2.0 and "2".

    Messages have its `name`, and `why` as the reason for `high`.
    """
    counts = isinstance(value, Integral) and not isinstance(value, bool)
    if counts and low <= value <= high:
        return int(value)
    bounds = f">= {low}" if math.isinf(high) else f"between {low} and {high}"
    raise UsageError(f"{name} must be a whole number {bounds}, not {quoted(value)}{why}")


def matrix(rows: AnyArray, what: str) -> AnyArray:
    """Return an array, or anything with a shape and dtype, if it is a non-empty real matrix.

    Otherwise raise a `DataError` that calls it `what`, in the plural.
    """
    if len(rows.shape) != 2:
        hint = ": pass data[:, None] if they are one feature" if len(rows.shape) == 1 else ""
        raise DataError(
            f"{what} must be a matrix (samples, features), not of shape {tuple(rows.shape)}{hint}"
        )
    if 0 in rows.shape:
        raise DataError(f"{what} are empty: shape {rows.shape}")
    if rows.dtype.kind not in "fiub":
        raise DataError(f"{what} must be real numbers, not of dtype {rows.dtype}")
    return rows


def check_rows(
    block: Array,
    first: int = 0,
    number: Callable[[int], int | str] = int,
    what: str = "sample",
) -> None:
    """Refuse rows with NaN, an infinity, or entries whose squares overflow.

    Parameters
    ----------
    block : ndarray, shape (rows, d)
    first : int
        The index of the first row.
    number : callable
        ``number(index)`` returns the number of a row in messages.

    Raises
    ------
    DataError
        With row, column and value.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", block, block)
    bad = np.flatnonzero(~np.isfinite(squares))
    if bad.size == 0:
        return
    row = block[bad[0]]
    wrong = np.flatnonzero(~np.isfinite(row))
    column = int(wrong[0]) if wrong.size else int(np.argmax(np.abs(row)))
    reason = "is not finite" if wrong.size else "is too large to be squared"
    more = f" ({bad.size} such rows in its block)" if bad.size > 1 else ""
    raise DataError(
        f"{what} {number(first + int(bad[0]))} (counted from 0) {reason}: "
        f"feature {column} is {float(row[column])!r}{more}; clean or rescale the data"
    )
