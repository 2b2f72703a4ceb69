"""Arrays of other libraries that are read by blocks: of Dask, HDF5, Zarr and scipy.sparse."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import DataError
from orthobench.tools.arrays import array_of
from orthobench.tools.rows import BLOCK_BYTES, LARGEST_CHUNK, Rows, borders, check_matrix


class SparseRows(Rows):
    """The rows of a scipy.sparse matrix, of which only those that are read become dense.

    Parameters
    ----------
    matrix : scipy.sparse matrix or array
        Kept in CSR format; any other format is converted.
    """

    random: ClassVar[bool] = True

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix.tocsr()
        self.shape, self.dtype = self.matrix.shape, self.matrix.dtype
        check_matrix(self, "the samples")
        self.borders = borders(self.shape)

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return rows begin to end - 1, dense."""
        return np.asarray(self.matrix[begin:end].toarray())

    def gather(self, numbers: NDArray[np.intp]) -> NDArray[np.generic]:
        """Return rows by number, dense."""
        return np.asarray(self.matrix[numbers].toarray())


class DaskRows(Rows):
    """The rows of a Dask array, computed chunk by chunk.

    Parameters
    ----------
    array : dask.array.Array
        Of known shape, its chunks along the rows only.

    Raises
    ------
    DataError
        On anything else; says how to make it of this form.
    """

    def __init__(self, array: Any) -> None:
        if not hasattr(array, "chunks"):
            raise DataError("the samples are no Dask array: pass data.to_dask_array(lengths=True)")
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        if np.isnan(self.shape).any():
            raise DataError(
                "the chunks of the Dask array are of unknown length: call compute_chunk_sizes() "
                "on it"
            )
        check_matrix(self, "the samples")
        if array.numblocks[1] > 1:
            raise DataError(
                f"the Dask array has {array.numblocks[1]} chunks along its columns, where a "
                "sample must be in one: pass data.rechunk({1: -1})"
            )
        rows, row_bytes = max(array.chunks[0]), 8 * self.shape[1]
        if rows * row_bytes > LARGEST_CHUNK:
            fitting = max(1, BLOCK_BYTES // row_bytes)
            raise DataError(
                f"the Dask array has chunks of {rows} rows, {rows * row_bytes / 2**20:,.0f} MiB "
                f"in float64: pass data.rechunk({{0: {fitting}, 1: -1}})"
            )
        filled = [size for size in array.chunks[0] if size]
        self.borders = np.cumsum([0, *filled]).astype(np.intp)

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return rows begin to end - 1: computed here, or by the cluster that holds them."""
        rows = self.array[begin:end]
        return np.asarray(rows.compute() if _in_client() else rows.compute(scheduler="sync"))


def _in_client() -> bool:
    """Return whether this process has a connection to a cluster, and is none of its workers."""
    import sys

    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    for ask, answer in ((distributed.get_worker, False), (distributed.default_client, True)):
        try:
            ask()
        except ValueError:
            continue
        return answer
    return False


class OpenRows(Rows):
    """The rows of an open HDF5 data set or Zarr array, read when they are asked for.

    Parameters
    ----------
    array : h5py.Dataset or zarr.Array
    name : str
        Where it is, for messages.
    """

    def __init__(self, array: Any, name: str = "") -> None:
        self.array, self.name = array, name
        self.shape, self.dtype = array.shape, array.dtype
        check_matrix(self, self._what)
        self.borders = borders(self.shape, self._what, chunk_rows(array))

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return rows begin to end - 1."""
        try:
            return np.asarray(self.array[begin:end])
        except Exception as error:  # codecs and filters fail in their own ways
            said = " ".join(str(error).split())
            raise DataError(f"{self._what} cannot be read: {said}") from error

    def place(self, row: int) -> tuple[str, int]:
        """Return the name of the array, and the number of the row."""
        return self.name, row

    @property
    def _what(self) -> str:
        return f"the samples in {self.name}" if self.name else "the samples"


def chunk_rows(array: Any) -> int:
    """Return the rows that an HDF5 data set or a Zarr array reads together."""
    return int(array.chunks[0]) if array.chunks else 1


LIBRARIES = {"dask": DaskRows, "h5py": OpenRows, "zarr": OpenRows}
"""How arrays of other libraries are read without loading them whole."""


def is_lazy(data: object) -> bool:
    """Return whether `rows_of` reads data by blocks, where `array_of` would load them whole."""
    return isinstance(data, Rows) or hasattr(data, "tocsr") or _library(data) is not None


def rows_of(data: object, what: str) -> NDArray[np.generic] | Rows:
    """Return what a user passes as samples: as an array, or as rows that are read by blocks.

    Parameters
    ----------
    data : object
        What `array_of` takes, a Dask array, an HDF5 data set, a Zarr array, or a scipy.sparse
        matrix.
    what : str
        Its name in messages, in the plural.

    Raises
    ------
    DataError
        Where it is anything else, or no real matrix.
    """
    if isinstance(data, Rows):
        return data
    if hasattr(data, "tocsr"):
        return SparseRows(data.tocsr(copy=True))
    library = _library(data)
    return array_of(data, what) if library is None else LIBRARIES[library](data)


def _library(data: object) -> str | None:
    modules = (kind.__module__.partition(".")[0] for kind in type(data).__mro__)
    return next((name for name in modules if name in LIBRARIES), None)
