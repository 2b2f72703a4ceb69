"""Arrays and numbers of every library, beyond those of `orthobench.contract`.

The numbers of a step are Python's with NumPy, and arrays of shape () with other libraries, so that
no step waits for a device. `inner`, `norm`, `sqrt`, `ratio`, `where`, `minimum` and `maximum` take
both.
"""

from __future__ import annotations

import math
import mmap
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import namespace

Scalar = TypeVar("Scalar", bound=np.generic)
"""A type of the entries of arrays."""


def like(values: NDArray[np.generic], x: Any) -> Any:
    """Return NumPy values as an array like x; floats get its precision."""
    kind = x.dtype if values.dtype.kind == "f" else None
    if isinstance(x, np.ndarray):
        return values if kind is None else values.astype(kind, copy=False)
    from array_api_compat import device

    return namespace(x).asarray(values, dtype=kind, device=device(x))


def rows_of(A: Any, rows: Any) -> Any:
    """Return a copy of the rows with some numbers, which are an array of the same library."""
    if isinstance(A, np.ndarray):
        return A[rows]
    return namespace(A).take(A, rows, axis=0)


def inner(A: Any, B: Any) -> Any:
    """Return the sum of the products of the entries of two arrays."""
    if isinstance(A, np.ndarray):
        return float(np.vdot(A, B))
    return namespace(A).sum(A * B)


def norm(A: Any) -> Any:
    """Return the root of the sum of the squared entries of an array."""
    if isinstance(A, np.ndarray):
        return float(np.linalg.norm(A))
    return namespace(A).linalg.vector_norm(A)


def sqrt(x: Any) -> Any:
    """Return the square root of a number."""
    return math.sqrt(x) if isinstance(x, float) else namespace(x).sqrt(x)


def not_finite(x: Any) -> Any:
    """Return whether a number is NaN or infinite."""
    return not math.isfinite(x) if isinstance(x, float) else ~namespace(x).isfinite(x)


def ratio(over: Any, under: Any, otherwise: float) -> Any:
    """Return the ratio of two numbers, or another number if the second is not positive."""
    if isinstance(under, float):
        return over / under if under > 0 else otherwise
    positive = under > 0
    return where(positive, over / where(positive, under, 1.0), otherwise)


def numbers(*values: Any) -> list[float]:
    """Return numbers as Python floats; this waits for the device."""
    if isinstance(values[0], (float, np.floating)):
        return [float(value) for value in values]
    stacked = namespace(values[0]).stack(values)
    if hasattr(stacked, "tolist"):  # one transfer
        return [float(value) for value in stacked.tolist()]
    return [float(stacked[i]) for i in range(len(values))]


def where(condition: Any, yes: Any, no: Any) -> Any:
    """Return one number if a condition holds, and another if not."""
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


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two numbers."""
    return where(b < a, b, a)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two numbers."""
    return where(b > a, b, a)


def unshared(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return an array that its caller cannot change: a copy, unless it is read-only.

    Memory maps are returned as they are, since a copy would read them.
    """
    frozen, owner = _owner(values)
    kept = isinstance(owner, mmap.mmap) or (frozen and owner is None)
    return values if kept else values.copy(order="K")


def is_frozen(values: NDArray[np.generic]) -> bool:
    """Return whether an array in memory is read-only, as are those that it is a view of."""
    frozen, owner = _owner(values)
    return frozen and owner is None


def _owner(values: NDArray[np.generic]) -> tuple[bool, object]:
    """Return whether all arrays below a view are read-only, and what the last one is a view of."""
    at: object = values
    frozen = True
    while isinstance(at, np.ndarray):
        frozen, at = frozen and not at.flags.writeable, at.base
    return frozen, at


def release(rows: NDArray[np.generic]) -> None:
    """Release the pages of a read-only or shared memory map."""
    at: object = rows
    while isinstance(at, np.ndarray):
        # a private map (mode c) holds its own changes
        if isinstance(at, np.memmap) and at.mode == "c":
            return
        at = at.base
    advice = getattr(mmap, "MADV_DONTNEED", None)
    if isinstance(at, mmap.mmap) and advice is not None:
        at.madvise(advice)
