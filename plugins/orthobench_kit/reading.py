"""The one reader of users' data: arrays, tables and matrices of every library, as real numbers.

It imports no library: the object itself does the work.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthobench.errors import DataError, quoted
from orthobench.tools.arrays import Array, matrix
from orthobench_kit.rows import DaskRows, OpenRows, Rows, SparseRows
from orthobench_kit.sparse import checked_sparse, is_sparse, refuse_masked

NUMBERS = "fiub"
"""The kinds of NumPy's dtypes that are real numbers; True and False are 1 and 0."""


def read(data: object, what: str) -> Any:
    """Return samples in rows, without a copy if possible.

    Parameters
    ----------
    data : object
        NumPy array, memory map, DataFrame (pandas, polars), xarray.DataArray, CPU tensor, nested
        lists, scipy.sparse matrix, Dask array, HDF5 data set, Zarr array, or AnnData (its X).
    what : str
        Its name in messages, in the plural: ``"the samples"``.

    Returns
    -------
    ndarray, scipy.sparse matrix or Rows
        A real matrix (samples, features): sparse ones in CSR or CSC without duplicate entries;
        `Rows` for data on disk or in chunks.

    Raises
    ------
    DataError
        On other data, with the remedy; on a table with a missing cell, with its column and row.
    """
    inner = _content(data)
    if isinstance(inner, Rows):
        return inner
    if is_sparse(inner):
        return checked_sparse(inner, what)
    kind = _reader(inner)
    return matrix(array_of(inner, what), what) if kind is None else kind(inner)


def rows_of(data: object, what: str) -> NDArray[np.generic] | Rows:
    """Return samples as `read` does, a sparse matrix as a copy whose rows are read in blocks."""
    inner = _content(data)
    found: Any = read(inner, what)
    if not is_sparse(found):
        kept: NDArray[np.generic] | Rows = found
        return kept
    rows = found.tocsr()
    return SparseRows(rows.copy() if rows is inner else rows)


def array_of(data: object, what: str) -> NDArray[np.generic]:
    """Return an array of real numbers of any shape, in memory or a memory map.

    It takes the data of `read` except sparse matrices, and raises as `read`.
    """
    inner = _content(data)
    if _reader(inner) is not None:
        inner = inner.compute() if hasattr(inner, "compute") else inner[...]
    if hasattr(inner, "nnz"):
        raise DataError(f"{what} are a sparse matrix: pass data.toarray(), if it fits into memory")
    if isinstance(inner, (str, bytes, os.PathLike)):
        raise DataError(
            f"{what} are a path: load the file first, one of .npy with np.load(path, mmap_mode='r')"
        )
    if isinstance(inner, Mapping):
        raise DataError(
            f"{what} must be an array, not of type {type(inner).__name__} with the keys "
            f"{quoted([*inner])}: pass one of its values"
        )
    refuse_masked(inner, what)
    found = _table(inner, what) if hasattr(inner, "to_numpy") else _array(inner, what)
    if found.dtype.name == "bfloat16":
        found = found.astype(np.float32)
    if found.dtype.names:
        raise DataError(
            f"{what} are records with the fields {quoted(found.dtype.names)}: pass "
            "numpy.lib.recfunctions.structured_to_unstructured(data)"
        )
    if found.dtype.kind not in NUMBERS:
        remedy = ": pass data.astype(float), if all of them are numbers"
        hint = remedy if found.dtype == object else ""
        raise DataError(f"{what} must be real numbers, not of dtype {found.dtype}{hint}")
    return found


def real(values: ArrayLike, what: str) -> Array:
    """Return an array of real numbers as float64; raises what `array_of` does."""
    return array_of(values, what).astype(np.float64, copy=False)


def is_data(data: object) -> bool:
    """Return whether data are for `read`; streams of blocks are not."""
    if isinstance(data, (list, tuple)):
        return not any(len(getattr(item, "shape", ())) == 2 for item in data)
    kinds = ("__array__", "to_numpy", "nnz")
    named = isinstance(data, (str, bytes, os.PathLike, Mapping))
    return named or is_lazy(data) or any(hasattr(data, kind) for kind in kinds)


def is_lazy(data: object) -> bool:
    """Return whether `rows_of` reads data by blocks."""
    inner = _content(data)
    return isinstance(inner, Rows) or is_sparse(inner) or _reader(inner) is not None


def _content(data: Any) -> Any:
    """Return the content of an AnnData, a DataArray or a table of sparse columns."""
    if hasattr(data, "to_numpy"):
        if hasattr(data, "dims") and hasattr(data, "data"):  # of xarray, may be of Dask
            return data.data
        kinds = data.dtypes if hasattr(data, "iloc") and data.ndim == 2 else ()
        zeros = [getattr(kind, "fill_value", None) == 0 for kind in kinds]
        return data.sparse.to_coo() if zeros and all(zeros) else data
    if hasattr(data, "X") and hasattr(data, "shape") and not hasattr(data, "dtype"):
        return data.X
    return data


def _reader(data: Any) -> type[DaskRows | OpenRows] | None:
    """Return the class that reads an array in blocks; None for an array in memory."""
    modules = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
    if "dask" in modules:
        return DaskRows
    opened = hasattr(data, "chunks") or hasattr(data, "to_memory")  # the latter of anndata
    opened = opened and hasattr(data, "dtype") and hasattr(data, "__getitem__")
    return OpenRows if opened and not hasattr(data, "to_numpy") else None


def _array(data: Any, what: str) -> NDArray[np.generic]:
    if isinstance(data, np.ndarray):
        return data if isinstance(data, np.memmap) else np.asarray(data)
    if hasattr(data, "detach"):  # a tensor, whose gradient may be recorded
        data = data.detach()
        data = data.float() if str(getattr(data, "dtype", "")) == "torch.bfloat16" else data
    if not isinstance(data, (list, tuple)) and not hasattr(data, "__array__"):
        raise DataError(f"{what} must be an array, not of type {type(data).__name__}")
    try:
        return np.asarray(data)
    except ValueError:
        raise DataError(f"{what} are lists of different lengths") from None
    except (RuntimeError, TypeError) as error:  # a tensor on a device
        said = str(error).splitlines()[0]
        raise DataError(f"{what} cannot be read as an array of numpy: {said}") from None


def _table(table: Any, what: str) -> NDArray[np.generic]:
    """Return a table or a column; refuse cells that are not finite."""
    if hasattr(table, "to_frame"):
        return _table(table.to_frame(), what)[:, 0]
    found = np.asarray(table.to_numpy())
    if not hasattr(table, "columns"):
        return found
    if found.dtype.kind not in NUMBERS:
        found = np.empty(table.shape)
        for i, column in enumerate(_columns(table)):
            found[:, i] = _column(column, what)
    with np.errstate(over="ignore", invalid="ignore"):
        sound = found.dtype.kind != "f" or np.isfinite(found.sum(dtype=np.float64))
    for row, column in () if sound else np.argwhere(~np.isfinite(found)):
        raise DataError(
            f"column {quoted(list(table.columns)[column])} of {what} is {found[row, column]} in "
            f"row {row} (counted from 0): fill it, or leave the row or the column out"
        )
    return found


def _columns(table: Any) -> Iterator[Any]:
    if hasattr(table, "get_columns"):  # of polars
        yield from table.get_columns()
        return
    for i in range(table.shape[1]):  # by number, since names may repeat
        yield table.iloc[:, i]


def _column(column: Any, what: str) -> Any:
    """Return a column as float64, missing values as NaN."""
    kind, polars = column.dtype, hasattr(column, "cast")
    if not (kind.is_numeric() or str(kind) == "Boolean" if polars else kind.kind in NUMBERS):
        raise DataError(
            f"column {quoted(column.name)} of {what} has dtype {kind}, not real numbers: leave it "
            "out, or convert it with .astype(float)"
        )
    if polars:
        return column.cast(float).to_numpy()
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
