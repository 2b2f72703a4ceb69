"""Matrices of every kind behind one face: products, and rows block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from orthobench.contract import Array, UsageError

BLOCK_BYTES = 8 * 2**20
"""The most bytes of rows that are converted or centred at once."""


class Matrix(ABC):
    """A matrix X (n, d) that stays as it is: it is neither copied nor made dense.

    Parameters
    ----------
    X : object
        What the user gave.
    dtype : dtype
        The precision of products, float32 or float64.

    Attributes
    ----------
    X, dtype
        As given.
    shape : (int, int)
    """

    def __init__(self, X: Any, dtype: Any) -> None:
        self.X, self.dtype = X, np.dtype(dtype)
        self.shape = (int(X.shape[0]), int(X.shape[1]))

    @abstractmethod
    def times(self, V: Any) -> Any:
        """Return XV for V (d, b)."""

    @abstractmethod
    def transposed_times(self, U: Any) -> Any:
        """Return X'U for U (n, b)."""

    @abstractmethod
    def like(self, values: Array) -> Matrix:
        """Return a matrix of this kind and precision with other entries."""

    @abstractmethod
    def rows(self, begin: int, end: int) -> Any:
        """Return rows begin to end - 1, dense."""

    @abstractmethod
    def columns(self, begin: int, end: int) -> Any:
        """Return columns begin to end - 1, dense."""

    def blocks(self) -> Iterator[tuple[int, Any]]:
        """Yield the number of a first row and the rows from there on, dense, a few at a time."""
        step = block_length(self.shape[1], self.dtype)
        for begin in range(0, self.shape[0], step):
            yield begin, self.rows(begin, min(begin + step, self.shape[0]))

    def column_blocks(self) -> Iterator[tuple[int, Any]]:
        """Yield the number of a first column and the columns from there on, dense."""
        step = block_length(self.shape[0], self.dtype)
        for begin in range(0, self.shape[1], step):
            yield begin, self.columns(begin, min(begin + step, self.shape[1]))

    def pieces(self) -> Iterator[tuple[int, Any]]:
        """Yield the rows as `blocks` does, all at once where no copy of them is needed."""
        return self.blocks()

    def column_sums(self) -> Any:
        """Return X'1 in float64."""
        return np.asarray(self.transposed_times(np.ones((self.shape[0], 1), self.dtype))[:, 0])


class Dense(Matrix):
    """An array, in memory or mapped; the pickle of one that is mapped has the name of its file."""

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the entries of a mapped file."""
        state = dict(vars(self))
        if file := _map_of(self.X):
            state |= {"X": None, "file": file}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Map the file again, where there is one."""
        file = state.pop("file", None)
        vars(self).update(state)
        if file:
            self.X = np.memmap(*file)

    def like(self, values: Array) -> Dense:
        """Return an array in memory."""
        return Dense((8 * values).astype(self.X.dtype), self.dtype)

    def times(self, V: Any) -> Any:
        """Return XV."""
        V = np.asarray(V, self.dtype)
        return np.concatenate([piece @ V for _, piece in self.pieces()])

    def transposed_times(self, U: Any) -> Any:
        """Return X'U."""
        U = np.asarray(U, self.dtype)
        return sum(piece.T @ U[begin : begin + len(piece)] for begin, piece in self.pieces())

    def rows(self, begin: int, end: int) -> Any:
        """Return rows, a view where they have the precision of products."""
        return np.asarray(self.X[begin:end], self.dtype)

    def columns(self, begin: int, end: int) -> Any:
        """Return columns, a view where they have the precision of products."""
        return np.asarray(self.X[:, begin:end], self.dtype)

    def pieces(self) -> Iterator[tuple[int, Any]]:
        """Yield all rows at once, or blocks that are converted to the precision of products."""
        flags = self.X.flags
        if self.X.dtype == self.dtype and (flags.c_contiguous or flags.f_contiguous):
            yield 0, np.asarray(self.X)
        else:
            yield from self.blocks()

    def column_sums(self) -> Any:
        """Return X'1, blocks summed in float64."""
        ones = np.ones(block_length(self.shape[1], self.dtype), self.dtype)
        return sum((ones[: len(b)] @ b).astype(np.float64) for _, b in self.blocks())


class Sparse(Matrix):
    """A matrix of scipy.sparse in CSR or CSC format."""

    def like(self, values: Array) -> Sparse:
        """Return a matrix of the same format."""
        return Sparse(type(self.X)(values.astype(self.dtype)), self.dtype)

    def times(self, V: Any) -> Any:
        """Return XV."""
        return self.X @ np.asarray(V, self.dtype)

    def transposed_times(self, U: Any) -> Any:
        """Return X'U."""
        return self.X.T @ np.asarray(U, self.dtype)

    def rows(self, begin: int, end: int) -> Any:
        """Return rows, dense."""
        return self.X[begin:end].toarray().astype(self.dtype, copy=False)

    def columns(self, begin: int, end: int) -> Any:
        """Return columns, dense."""
        return self.X[:, begin:end].toarray().astype(self.dtype, copy=False)

    def column_sums(self) -> Any:
        """Return X'1 in float64."""
        return np.asarray(self.X.sum(axis=0, dtype=np.float64)).ravel()


class Chunked(Matrix):
    """A Dask array, computed chunk by chunk, again in each pass."""

    def like(self, values: Array) -> Chunked:
        """Return a Dask array of one chunk."""
        from dask.array import from_array

        return Chunked(from_array(values, chunks=values.shape), self.dtype)

    def times(self, V: Any) -> Any:
        """Return XV."""
        V = np.asarray(V, self.dtype)
        return np.concatenate([block @ V for _, block in self.blocks()])

    def transposed_times(self, U: Any) -> Any:
        """Return X'U."""
        U = np.asarray(U, self.dtype)
        return sum(block.T @ U[begin : begin + len(block)] for begin, block in self.blocks())

    def rows(self, begin: int, end: int) -> Any:
        """Return rows, computed."""
        return np.asarray(self.X[begin:end].compute(scheduler="synchronous"), self.dtype)

    def columns(self, begin: int, end: int) -> Any:
        """Return columns, computed."""
        return np.asarray(self.X[:, begin:end].compute(scheduler="synchronous"), self.dtype)

    def blocks(self) -> Iterator[tuple[int, Any]]:
        """Yield the chunks."""
        begin = 0
        for length in self.X.chunks[0]:
            yield begin, self.rows(begin, begin + length)
            begin += length


class Operator(Matrix):
    """A `scipy.sparse.linalg.LinearOperator`, which has products and no entries."""

    def like(self, values: Array) -> Operator:
        """Return an operator with these entries."""
        from scipy.sparse.linalg import aslinearoperator

        return Operator(aslinearoperator(values.astype(self.dtype)), self.dtype)

    def times(self, V: Any) -> Any:
        """Return XV."""
        return self.X.matmat(np.asarray(V, self.dtype))

    def transposed_times(self, U: Any) -> Any:
        """Return X'U."""
        return self.X.rmatmat(np.asarray(U, self.dtype))

    def rows(self, begin: int, end: int) -> Any:
        """Refuse: there are none."""
        del begin, end
        raise UsageError(
            "a LinearOperator has no rows to read: take a method with products, as block-krylov"
        )

    columns = rows


def _map_of(X: Any) -> tuple[Any, ...] | None:
    """Return what `numpy.memmap` maps an array again with; None of one that is in memory."""
    if not isinstance(X, np.memmap) or not (X.flags.c_contiguous or X.flags.f_contiguous):
        return None
    whole: Any = X
    while isinstance(whole.base, np.memmap):
        whole = whole.base
    if not whole.filename:
        return None
    offset = whole.offset + X.ctypes.data - whole.ctypes.data
    order = "C" if X.flags.c_contiguous else "F"
    return str(whole.filename), X.dtype, "r", offset, X.shape, order


def block_length(width: int, dtype: Any) -> int:
    """Return how many rows of so many entries are in a block."""
    return max(1, BLOCK_BYTES // (int(np.dtype(dtype).itemsize) * width))
