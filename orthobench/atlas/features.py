"""Features of data that decide which method is fast: sizes, spectrum, noise and sparsity.

All are deterministic, and cost O(m d k) for m rows of length d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.problem import AnyInstance
from orthobench.tools.arrays import Array, check_rows
from orthobench.tools.environment import limited

MOST_ROWS = 4096
"""Maximum number of rows that are read."""

MOST_ENTRIES = 2**22
"""Maximum number of their entries."""

EXTRA = 16
"""Oversampling of the random range (Halko, Martinsson and Tropp 2011), in columns."""

ITERATIONS = 6
"""Number of power iterations."""

BLOCKS, SHUFFLES, ORDERED = 8, 20, 3.0
"""Number of blocks of rows, number of shuffles, and the factor by which the second moments of
blocks differ more than those of a typical shuffle if the rows are ordered."""

NEGLIGIBLE = 1e-12
"""Minimum eigenvalue, relative to the largest."""


@dataclass(frozen=True, slots=True)
class Features:
    """The features of the data of a problem; NaN if unknown.

    Attributes
    ----------
    rows : int
        Samples that a run can draw, 0 if they never end. For a tensor of which all columns are
        sought, the rows of its unfolding.
    d, k : int
        Length of a sample, and columns sought.
    decay : float
        The mean factor between the leading k + 1 eigenvalues of the second moment:
        ``(l_1 / l_(k+1)) ** (1 / k)``.
    noise : float
        The share of the second moment's trace outside of its leading k eigenvalues, or
        `not_commuting` for such a tensor.
    sparsity : float
        The share of entries that are zero or missing.
    ordered : bool
        Whether the second moment of the rows changes from beginning to end.
    """

    rows: int
    d: int
    k: int
    decay: float = math.nan
    noise: float = math.nan
    sparsity: float = math.nan
    ordered: bool = False


def features_of(instance: AnyInstance, most: float = math.inf) -> Features:
    """Return the features of an instance, and rewind its stream.

    A function on the manifold has no data, so only its sizes are known. A stream is read up to
    ``most`` entries, and a file is checked up to these.

    Raises
    ------
    DataError
        If an entry is not finite; names its row.
    """
    oracle: Any = instance.oracle
    with limited(1):  # more threads do not pay at these sizes
        if callable(getattr(oracle, "take", None)):
            return _of_stream(oracle, most)
        if _is_matrix(getattr(oracle, "X", None)):
            return _of_matrix(oracle, most)
        if isinstance(getattr(oracle, "T", None), np.ndarray):
            return _of_tensor(oracle)
    return Features(0, oracle.n, oracle.k)


def features(X: Array, k: int, rows: int | None = None) -> Features:
    """Return the features of a matrix.

    Parameters
    ----------
    X : ndarray, shape (m, d)
        Samples in rows, or some of them. NaN counts as zero.
    k : int
        Columns sought.
    rows : int, optional
        Number of samples; by default m.
    """
    filled = np.nan_to_num(np.asarray(X, dtype=np.float64), nan=0.0)
    m, d = filled.shape
    total = float(np.vdot(filled, filled))
    count = min(k, d - 1)
    sparsity = float((filled == 0).mean()) if filled.size else math.nan
    found = Features(m if rows is None else rows, d, k, sparsity=sparsity)
    if not total or not count:
        return found
    eigenvalues = leading(filled, count + 1)
    floor = NEGLIGIBLE * eigenvalues[0]
    decay = (eigenvalues[0] / max(eigenvalues[-1], floor)) ** (1 / count)
    noise = max(0.0, 1 - float(eigenvalues[: min(k, d)].sum()) / total)
    return replace(found, decay=float(decay), noise=noise if k < d else 0.0)


def ordered(X: Array) -> bool:
    """Return whether the second moment of rows changes from the beginning to the end.

    A permutation test on the variance of the second moments of `BLOCKS` blocks, in a random range.
    """
    m, d = X.shape
    if m < 4 * BLOCKS:
        return False
    rng = np.random.default_rng(0)
    some = np.nan_to_num(X) @ rng.standard_normal((d, min(d, EXTRA)))

    def spread(order: NDArray[np.intp]) -> float:
        blocks = [some[part] for part in np.array_split(order, BLOCKS)]
        moments = np.array([block.T @ block / len(block) for block in blocks])
        return float(((moments - moments.mean(axis=0)) ** 2).sum())

    usual = float(np.median([spread(rng.permutation(m)) for _ in range(SHUFFLES)]))
    return spread(np.arange(m)) > ORDERED * usual


def not_commuting(T: Array) -> float:
    """Return √(d/2) |AB - BA| / |A||B| of two random contractions of a tensor to d x d matrices.

    Zero for orthogonally decomposable tensors (Robeva 2016, "Orthogonal decomposition of symmetric
    tensors"), about one for independent entries. Frobenius norms; one pass over T and 4d³ flops.
    """
    rng = np.random.default_rng(0)
    A, B = T, T
    while A.ndim > 2:
        A, B = (M @ rng.standard_normal(len(T)) for M in (A, B))
    size = float(np.linalg.norm(A) * np.linalg.norm(B))
    return math.sqrt(len(T) / 2) * float(np.linalg.norm(A @ B - B @ A)) / size if size else 0.0


def leading(X: Array, count: int) -> Array:
    """Return the largest eigenvalues of X'X, descending, by a randomized range finder.

    They are exact if X has at most `count + EXTRA` rows or columns, and never above the true ones.
    """
    m, d = X.shape
    width = min(count + EXTRA, m, d)
    if width == min(m, d):
        exact = np.linalg.eigvalsh(X.T @ X if d <= m else X @ X.T)[::-1]
        return np.pad(np.maximum(exact, 0.0), (0, max(0, count - len(exact))))[:count]
    Q = np.linalg.qr(X.T @ np.random.default_rng(0).standard_normal((m, width)))[0]
    for _ in range(ITERATIONS):
        Q = np.linalg.qr(X.T @ np.linalg.qr(X @ Q)[0])[0]
    values: Array = np.linalg.svd(X @ Q, compute_uv=False) ** 2
    return values[:count]


def _of_stream(oracle: Any, most: float) -> Features:
    """Return the features of equally spaced samples, or of the first ones of an endless stream."""
    oracle.rewind(np.random.default_rng(0))
    length, wanted = oracle.remaining(), _wanted(oracle.k, oracle.n)
    endless = math.isinf(length)
    until = wanted if endless else int(min(length, max(MOST_ROWS, most / oracle.n)))
    step, block = math.ceil(until / wanted), until if endless else max(1, oracle.window)
    found, taken = list[Array](), 0
    while taken < until:
        count = min(until - taken, block)
        oracle.prepare(count)
        found.append(np.array(oracle.take(count)[-taken % step :: step]))
        taken += count
    oracle.rewind(np.random.default_rng(0))
    data = np.concatenate(found)
    if endless:
        return features(data, oracle.k, 0)
    return replace(features(data, oracle.k, int(length)), ordered=ordered(data))


def _of_matrix(oracle: Any, most: float) -> Features:
    """Return the features of equally spaced rows, as centred and scaled; refuse unfit files."""
    matrix = oracle.X
    rows, columns = matrix.shape
    wanted = _wanted(oracle.k, columns)
    if isinstance(matrix, np.memmap):  # other matrices were looked at when they were made
        what = f"{Path(str(matrix.filename)).name}: row"
        for first in range(0, int(min(most / columns, rows)), wanted):
            check_rows(np.asarray(matrix[first : first + wanted], np.float64), first, what=what)
    some = matrix[:: math.ceil(rows / wanted)]
    data = np.asarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float64)
    sparsity = float((data == 0).mean())
    if getattr(oracle, "center", False):
        data = data - data.mean(axis=0)
    if (scale := getattr(oracle, "scale", None)) is not None:
        data = data / scale
    return replace(features(data, oracle.k, rows), sparsity=sparsity, ordered=ordered(data))


def _of_tensor(oracle: Any) -> Features:
    """Return the features of rows of the unfolding of a tensor."""
    unfolding = oracle.T.reshape(-1, oracle.n)
    data = unfolding[:: math.ceil(len(unfolding) / _wanted(oracle.k, oracle.n))]
    found = features(data, oracle.k, 0)
    if oracle.k < oracle.n:
        return found
    return replace(found, rows=len(unfolding), noise=not_commuting(oracle.T))


def _is_matrix(found: Any) -> bool:
    return len(getattr(found, "shape", ())) == 2 and hasattr(found, "__getitem__")


def _wanted(k: int, columns: int) -> int:
    """Return the number of rows to look at."""
    return max(k + 1, min(MOST_ROWS, MOST_ENTRIES // columns))
