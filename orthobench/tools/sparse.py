"""Matrices of scipy.sparse, checked before compiled code follows their indices.

The products and conversions of SciPy do not look at bounds: an index that is not in range reads or
writes memory that belongs to something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import DataError
from orthobench.tools.arrays import matrix


def is_sparse(data: object) -> bool:
    """Return whether data are a sparse matrix; importing scipy.sparse would take too long."""
    return hasattr(data, "tocsr")


def checked_sparse(data: Any, what: str) -> Any:
    """Return a sparse matrix in CSR or CSC, with indices in range and no duplicate entries.

    One that is of this form already is returned as it is. Of duplicates the sum is taken, in a
    copy.

    Parameters
    ----------
    data : scipy.sparse matrix or array
    what : str
        Its name in messages, in the plural: ``"the samples"``.

    Raises
    ------
    DataError
        If it is no real matrix, if its parts do not fit each other, or if it or a vector as long
        as it does not fit into memory.

    Notes
    -----
    Reads the indices three times, which takes about as long as two products with a vector.
    """
    kind = getattr(matrix(data, what), "format", "")
    _refuse(data, kind, what)
    try:
        np.empty(max(data.shape))
        rows = data
        if kind not in ("csr", "csc"):
            rows = data.tocsr()
            _refuse(rows, "csr", what)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    except MemoryError:
        raise DataError(
            f"{what} are a sparse matrix of shape {data.shape}, which does not fit into memory: "
            "leave out empty rows and columns"
        ) from None
    return rows


def dense(found: Any, what: str) -> NDArray[np.generic]:
    """Return rows that another library gave, sparse ones too, as an array."""
    refuse_masked(found, what)
    return np.asarray(found.toarray() if is_sparse(found) else found)


def refuse_masked(data: object, what: str) -> None:
    """Refuse an array with masked entries, or lists of such arrays.

    Raises
    ------
    DataError
        Says what to pass.
    """
    if isinstance(data, (list, tuple)):
        for item in data:
            if not isinstance(item, (int, float)):
                refuse_masked(item, what)
    elif isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        entry = np.argwhere(np.ma.getmaskarray(data))[0].tolist()
        raise DataError(
            f"{what} are a masked array: pass data.filled(value), or leave out rows with masked "
            f"entries, the first of them {entry}"
        )


def _refuse(data: Any, kind: str, what: str) -> None:
    for fault in PARTS.get(kind, _no_faults)(data):
        raise DataError(
            f"{what} are a damaged sparse matrix ({kind.upper()}, {data.shape}): {fault}; make it "
            "again from its rows, columns and values with scipy.sparse.coo_array"
        )


def _compressed(data: Any) -> Iterator[str]:
    """Yield what does not fit in CSR, CSC or BSR."""
    height, width = data.data.shape[1:] if data.data.ndim == 3 else (1, 1)
    if data.data.ndim != (3 if data.format == "bsr" else 1) or not height or not width:
        yield f"its values are of shape {data.data.shape}"
    rows, columns = data.shape
    if rows % height or columns % width:
        yield f"blocks of {height} x {width} do not divide it"
    lines, length = rows // height, columns // width
    if data.format == "csc":
        lines, length = length, lines
    ends = data.indptr
    yield from _not_whole(ends, "indptr")
    yield from _not_whole(data.indices, "indices")
    if len(ends) != lines + 1:
        yield f"indptr has {len(ends)} entries, not {lines + 1}"
    count = min(len(data.indices), len(data.data))
    if ends[0] != 0 or ends[-1] > count or (ends[1:] < ends[:-1]).any():
        yield f"indptr does not ascend from 0 to at most {count}"
    yield from _out_of_range(data.indices[: int(ends[-1])], 0, length, "indices")


def _coordinates(data: Any) -> Iterator[str]:
    """Yield what does not fit in COO."""
    for name, size in zip(("row", "col"), data.shape, strict=True):
        own = getattr(data, name)
        yield from _not_whole(own, name)
        if own.shape != data.data.shape:
            yield f"{name} has {len(own)} entries, its values {data.data.size}"
        yield from _out_of_range(own, 0, size, name)


def _diagonals(data: Any) -> Iterator[str]:
    """Yield what does not fit in DIA."""
    yield from _not_whole(data.offsets, "offsets")
    if data.data.ndim != 2 or len(data.data) != len(data.offsets):
        yield f"{len(data.offsets)} offsets are of values of shape {data.data.shape}"
    if len(np.unique(data.offsets)) < len(data.offsets):
        yield "a diagonal is there twice"
    rows, columns = data.shape
    yield from _out_of_range(data.offsets, -rows, columns + 1, "offsets")


def _lists(data: Any) -> Iterator[str]:
    """Yield what does not fit in LIL."""
    if list(map(len, data.rows)) != list(map(len, data.data)) or len(data.rows) != data.shape[0]:
        yield "its rows do not have one column for each value"


def _not_whole(numbers: NDArray[Any], name: str) -> Iterator[str]:
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        yield f"{name} are of dtype {numbers.dtype} and shape {numbers.shape}"


def _out_of_range(numbers: NDArray[Any], first: int, end: int, name: str) -> Iterator[str]:
    if not numbers.size:
        return
    low, high = int(numbers.min()), int(numbers.max())
    if low < first or high >= end:
        yield f"{name} has {low if low < first else high}, which is not from {first} to {end - 1}"


def _no_faults(data: Any) -> Iterator[str]:
    del data
    return iter(())


PARTS: dict[str, Callable[[Any], Iterator[str]]] = {
    "csr": _compressed, "csc": _compressed, "bsr": _compressed,
    "coo": _coordinates, "dia": _diagonals, "lil": _lists,
}  # fmt: skip
"""What yields the faults of each format of SciPy; the others have no indices of their own."""
