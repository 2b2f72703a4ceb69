"""Matrices of every kind with one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from orthobench_kit.rows import OpenRows

from orthobench.contract import Array, UsageError

BLOCK_BYTES = 8 * 2**20
"""Maximum bytes of rows that are converted at once."""

PANEL_BYTES, PANEL_ENTRIES = 2**19, 900_000
"""Maximum bytes of rows in a cache, and maximum product without copying in OpenBLAS."""

COLUMNS = 16
"""Columns that a sparse matrix multiplies at once; measured."""


class Matrix(ABC):
    """A matrix X (n, d), neither copied nor made dense.

    Parameters
    ----------
    X : object
        As the user gave it.
    dtype : dtype
        Precision of products, float32 or float64.

    Attributes
    ----------
    unit : float
        The power of two by which entries were divided.
    """

    unit: float = 1.0

    def __init__(self, X: Any, dtype: Any) -> None:
        self.X, self.dtype = X, np.dtype(dtype)
        self.shape = (int(X.shape[0]), int(X.shape[1]))

    @abstractmethod
    def times(self, V: Any) -> Any:
        """Return XV for V (d, b)."""

    @abstractmethod
    def transposed_times(self, U: Any) -> Any:
        """Return X'U for U (n, b)."""

    def normal_times(self, V: Any, shift: Any) -> tuple[Any, Any, int]:
        """Return X'U and column sums of U = XV - 1s' (n, b), and the number of readings of X."""
        U = self.times(V) - shift
        return self.transposed_times(U), U.sum(axis=0), 2

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
        """Yield numbers of first rows, and dense rows."""
        step = block_length(self.shape[1], self.dtype)
        for begin in range(0, self.shape[0], step):
            yield begin, self.rows(begin, min(begin + step, self.shape[0]))

    def column_blocks(self) -> Iterator[tuple[int, Any]]:
        """Yield numbers of first columns, and dense columns."""
        step = block_length(self.shape[0], self.dtype)
        for begin in range(0, self.shape[1], step):
            yield begin, self.columns(begin, min(begin + step, self.shape[1]))

    def pieces(self) -> Iterator[tuple[int, Any]]:
        """Yield the rows as `blocks` does, or all at once."""
        return self.blocks()

    def column_sums(self) -> Any:
        """Return X'1 in float64."""
        return np.asarray(self.transposed_times(np.ones((self.shape[0], 1), self.dtype))[:, 0])


class Dense(Matrix):
    """An array, in memory or mapped."""

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        if file := _map_of(self.X):
            state |= {"X": None, "file": file}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        file = state.pop("file", None)
        vars(self).update(state)
        if file:
            self.X = np.memmap(*file)

    def like(self, values: Array) -> Dense:
        return Dense((8 * values).astype(self.X.dtype), self.dtype)

    def times(self, V: Any) -> Any:
        V = np.asarray(V, self.dtype)
        found = np.empty((self.shape[0], V.shape[1]), self.dtype)
        for begin, panel in self._panels(max(self._panel_length(V.shape[1]), V.shape[1])):
            np.matmul(panel, V, out=found[begin : begin + len(panel)])
        return found

    def normal_times(self, V: Any, shift: Any) -> tuple[Any, Any, int]:
        """Multiply twice by rows in a cache, which reads X once."""
        b = V.shape[1]
        step = self._panel_length(b)
        if 2 * step < b or 8 * V.size > 2 * PANEL_BYTES:  # adding up would push them out
            return super().normal_times(V, shift)
        # OpenBLAS is slow unless columns are a multiple of four
        large = b > 1 and self.shape[0] * self.shape[1] > PANEL_ENTRIES
        spare = ((0, 0), (0, -b % 4 if large else 0))
        V, shift = np.pad(np.asarray(V, self.dtype), spare), np.pad(shift[None], spare)
        product, sums, _ = _by_rows((panel for _, panel in self._panels(step)), V, shift)
        return product[:, :b], sums[:b], 1

    def _panel_length(self, columns: int) -> int:
        few = PANEL_ENTRIES // (self.shape[1] * columns)
        return max(1, min(block_length(self.shape[1], self.dtype, PANEL_BYTES), few))

    def _panels(self, step: int) -> Iterator[tuple[int, Any]]:
        for begin in range(0, self.shape[0], step):
            yield begin, self.rows(begin, min(begin + step, self.shape[0]))

    def transposed_times(self, U: Any) -> Any:
        U, found = np.asarray(U, self.dtype), None
        for begin, piece in self.pieces():
            product = (U[begin : begin + len(piece)].T @ piece).T  # in this order it is faster
            found = product if found is None else found + product
        return found

    def rows(self, begin: int, end: int) -> Any:
        return np.asarray(self.X[begin:end], self.dtype)

    def columns(self, begin: int, end: int) -> Any:
        return np.asarray(self.X[:, begin:end], self.dtype)

    def pieces(self) -> Iterator[tuple[int, Any]]:
        flags = self.X.flags
        if self.X.dtype == self.dtype and (flags.c_contiguous or flags.f_contiguous):
            yield 0, np.asarray(self.X)
        else:
            yield from self.blocks()

    def column_sums(self) -> Any:
        ones = np.ones(block_length(self.shape[1], self.dtype), self.dtype)
        return sum((ones[: len(b)] @ b).astype(np.float64) for _, b in self.blocks())


class Sparse(Matrix):
    """A matrix of scipy.sparse in CSR or CSC format."""

    def like(self, values: Array) -> Sparse:
        return Sparse(type(self.X)(values.astype(self.dtype)), self.dtype)

    def times(self, V: Any) -> Any:
        return _some_at_once(self.X, np.asarray(V, self.dtype))

    def transposed_times(self, U: Any) -> Any:
        return _some_at_once(self.X.T, np.asarray(U, self.dtype))

    def rows(self, begin: int, end: int) -> Any:
        return self.X[begin:end].toarray().astype(self.dtype, copy=False)

    def columns(self, begin: int, end: int) -> Any:
        return self.X[:, begin:end].toarray().astype(self.dtype, copy=False)

    def column_sums(self) -> Any:
        return np.asarray(self.X.sum(axis=0, dtype=np.float64)).ravel()


class Chunked(Matrix):
    """Rows on disk or computed: `X` is `Rows`."""

    def like(self, values: Array) -> Chunked:
        return Chunked(OpenRows(values.astype(self.dtype)), self.dtype)

    def times(self, V: Any) -> Any:
        V = np.asarray(V, self.dtype)
        return np.concatenate([block @ V for _, block in self.blocks()])

    def transposed_times(self, U: Any) -> Any:
        U = np.asarray(U, self.dtype)
        return sum(block.T @ U[begin : begin + len(block)] for begin, block in self.blocks())

    def normal_times(self, V: Any, shift: Any) -> tuple[Any, Any, int]:
        """Multiply twice by each block, which is read once."""
        return _by_rows((block for _, block in self.blocks()), np.asarray(V, self.dtype), shift)

    def rows(self, begin: int, end: int) -> Any:
        return np.asarray(self.X.read(begin, end), self.dtype)

    def columns(self, begin: int, end: int) -> Any:
        return np.asarray(self.X.columns(begin, end), self.dtype)

    def blocks(self) -> Iterator[tuple[int, Any]]:
        for begin, end in pairwise(self.X.borders.tolist()):
            yield begin, self.rows(begin, end)


class Operator(Matrix):
    """A `scipy.sparse.linalg.LinearOperator`, which has products and no entries."""

    def like(self, values: Array) -> Operator:
        from scipy.sparse.linalg import aslinearoperator

        return Operator(aslinearoperator(values.astype(self.dtype)), self.dtype)

    def times(self, V: Any) -> Any:
        return self.X.matmat(np.asarray(V, self.dtype))

    def transposed_times(self, U: Any) -> Any:
        return self.X.rmatmat(np.asarray(U, self.dtype))

    def rows(self, begin: int, end: int) -> Any:
        """Refuse: there are none."""
        raise UsageError(
            "a LinearOperator has no rows to read: take a method with products, as block-krylov"
        )

    columns = rows


def _map_of(X: Any) -> tuple[Any, ...] | None:
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


def _by_rows(blocks: Iterator[Any], V: Any, shift: Any) -> tuple[Any, Any, int]:
    product, sums = np.zeros(V.shape, V.dtype), np.zeros(V.shape[1], V.dtype)
    for block in blocks:
        U = block @ V
        U -= shift
        product += block.T @ U
        sums += U.sum(axis=0)
    return product, sums, 1


def _some_at_once(X: Any, V: Any) -> Any:
    begins = range(0, V.shape[1], COLUMNS)
    parts = [X @ np.ascontiguousarray(V[:, at : at + COLUMNS]) for at in begins]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def block_length(width: int, dtype: Any, most: int | None = None) -> int:
    """Return the number of rows in a block of `BLOCK_BYTES` or other bytes."""
    return max(1, (most or BLOCK_BYTES) // (int(np.dtype(dtype).itemsize) * width))
