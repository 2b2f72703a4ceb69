"""Matrices of scipy.sparse, checked before compiled code follows their indices.

SciPy does not check bounds in its products: an index out of range reads or writes other memory.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import DataError
from orthobench.tools.arrays import matrix


def is_sparse(data: object) -> bool:
    """Return whether data are a sparse matrix, without an import of scipy.sparse."""
    return hasattr(data, "tocsr")


def checked_sparse(data: Any, what: str) -> Any:
    """Return a sparse matrix in CSR or CSC, with indices in range and no duplicate entries.

    A matrix of this form is returned as it is. ``what`` is its name in messages, in the plural.

    Raises
    ------
    DataError
        If it is not a real matrix, is damaged, or does not fit into memory.
    """
    matrix(data, what)
    try:
        _check(data)
        np.empty(max(data.shape))
        rows = data if data.format in ("csr", "csc") else data.tocoo().tocsr()
        _check(rows)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    except MemoryError:
        raise DataError(
            f"{what} are a sparse matrix of shape {data.shape}, which does not fit into memory: "
            "leave out empty rows and columns"
        ) from None
    except (ValueError, IndexError, AttributeError) as error:
        raise DataError(
            f"{what} are a damaged sparse matrix ({data.format.upper()}, {data.shape}): {error}; "
            "make it again from its rows, columns and values with scipy.sparse.coo_array"
        ) from None
    return rows


def dense(found: Any, what: str) -> NDArray[np.generic]:
    """Return rows of another library, sparse ones too, as an array."""
    refuse_masked(found, what)
    return np.asarray(found.toarray() if is_sparse(found) else found)


def refuse_masked(data: object, what: str) -> None:
    """Refuse an array with masked entries, or lists of such arrays."""
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


def _check(data: Any) -> None:
    """Raise an error for a damaged matrix; SciPy checks the bounds of other formats."""
    if data.format in ("csr", "csc", "bsr"):
        _check_compressed(data)
    elif data.format == "coo":
        _check_coordinates(data)
    elif data.format == "lil":
        sizes, columns = [*map(len, data.data)], [*map(len, data.rows)]
        if sizes != columns or len(columns) != data.shape[0]:
            raise ValueError("its rows do not have one column for each value")
    elif data.format == "dia":
        offsets = data.offsets.tolist()
        if not len(data.data) == len(offsets) == len({*offsets}):
            raise ValueError(f"{len(data.data)} diagonals have the offsets {offsets}")


def _check_compressed(data: Any) -> None:
    ends = data.indptr
    if {ends.dtype.kind, data.indices.dtype.kind} - {*"iu"}:
        raise ValueError("its indices are not whole numbers")
    if (ends[1:] < ends[:-1]).any():
        raise ValueError("indptr descends")
    copy(data).check_format(full_check=True)  # it may replace arrays of the matrix


def _check_coordinates(data: Any) -> None:
    for name, size in zip(("row", "col"), data.shape, strict=True):
        own = getattr(data, name)
        if own.shape != data.data.shape or own.dtype.kind not in "iu":
            raise ValueError(f"{name} has {own.shape} {own.dtype} entries for {data.data.shape}")
        if own.size and not 0 <= own.min() <= own.max() < size:
            raise ValueError(f"{name} is not from 0 to {size - 1}")
