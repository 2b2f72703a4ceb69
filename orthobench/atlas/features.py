"""Features of data: their size, and what of their spectrum decides which method is fast on them.

They are the same function of a user's data as of the problems of an atlas: of the samples, or of
the tensor, that solvers see. All are deterministic, and cost O(m d k) for m rows of length d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.problem import AnyInstance
from orthobench.tools.arrays import Array

MOST_ROWS = 4096
"""The most rows that are looked at, or that have `MOST_ENTRIES` entries together."""

MOST_ENTRIES = 2**22

EXTRA = 16
"""Columns of the random range beyond those that are sought (Halko, Martinsson and Tropp 2011)."""

ITERATIONS = 6
"""Power iterations on it."""

BLOCKS, SHUFFLES, ORDERED = 8, 20, 3.0
"""Blocks of rows from beginning to end, the shuffles that they are compared with, and the factor by
which their second moments have to differ more than those of a typical shuffle."""

NEGLIGIBLE = 1e-12
"""Eigenvalues below this fraction of the largest count as this fraction."""


@dataclass(frozen=True, slots=True)
class Features:
    """What is measured of the data of a problem.

    Attributes
    ----------
    rows : int
        Samples that a run can draw; 0 if they never end, or where there are none. Of a tensor of
        which all columns are sought, those of its unfolding.
    d, k : int
        Length of a sample, and columns sought.
    decay : float
        The mean factor from one of the leading k + 1 eigenvalues of the second moment to the next:
        their geometric mean, ``(l_1 / l_(k+1)) ** (1 / k)``. NaN without data.
    noise : float
        The share of the second moment's trace outside of its leading k eigenvalues. Of a tensor of
        which all columns are sought, how far two contractions of it are from commuting, as those of
        an orthogonal decomposition do. NaN without data.
    sparsity : float
        The share of entries that are zero or missing. NaN without data.
    ordered : bool
        Whether the order of the rows matters: their second moment changes from beginning to end.
    """

    rows: int
    d: int
    k: int
    decay: float = math.nan
    noise: float = math.nan
    sparsity: float = math.nan
    ordered: bool = False


def features_of(instance: AnyInstance) -> Features:
    """Return the features of an instance; its oracle is at its beginning afterwards.

    Of a function on the manifold, which has no data, only the sizes are known.
    """
    oracle = instance.oracle
    oracle.rewind(np.random.default_rng(0))
    length = oracle.remaining()
    rows = int(length) if math.isfinite(length) and _draws(oracle) else 0
    matrix = _matrix(oracle)
    data = _data(oracle, length) if matrix is None else _some_rows(matrix, oracle.k)
    oracle.rewind(np.random.default_rng(0))
    if data is None:
        return Features(rows, oracle.n, oracle.k)
    if matrix is None:
        found = replace(features(data, oracle.k, rows), ordered=bool(rows) and ordered(data))
        if _draws(oracle) or oracle.k < oracle.n:
            return found
        tensor = oracle.T  # of which the data are rows
        return replace(found, rows=tensor.size // oracle.n, noise=not_commuting(tensor))
    sparsity = float((data == 0).mean())
    if getattr(oracle, "center", False):
        data = data - data.mean(axis=0)
    if (scale := getattr(oracle, "scale", None)) is not None:
        data = data / scale
    found = features(data, oracle.k, matrix.shape[0])
    return replace(found, sparsity=sparsity, ordered=ordered(data))


def features(X: Array, k: int, rows: int | None = None) -> Features:
    """Return the features of a matrix.

    Parameters
    ----------
    X : ndarray, shape (m, d)
        Samples in rows, or some of them. NaN stands for what is missing, and counts as zero.
    k : int
        Columns sought.
    rows : int, optional
        How many samples there are; by default m.
    """
    filled = np.nan_to_num(np.asarray(X, dtype=np.float64), nan=0.0)
    m, d = filled.shape
    total = float(np.vdot(filled, filled))
    count = min(k, d - 1) if d > 1 else 0
    eigenvalues = leading(filled, count + 1)
    sizes = Features(m if rows is None else rows, d, k)
    sparsity = float((filled == 0).mean()) if filled.size else math.nan
    if not total or not count:
        return Features(sizes.rows, d, k, sparsity=sparsity)
    floor = NEGLIGIBLE * eigenvalues[0]
    decay = (eigenvalues[0] / max(eigenvalues[-1], floor)) ** (1 / count)
    noise = max(0.0, 1 - float(eigenvalues[: min(k, d)].sum()) / total)
    return Features(sizes.rows, d, k, float(decay), noise if k < d else 0.0, sparsity)


def ordered(X: Array) -> bool:
    """Return whether the second moment of rows changes from the beginning to the end.

    The second moments of `BLOCKS` blocks, in a random range, are compared with those of blocks of
    shuffled rows: a permutation test of their sum of squared differences from the mean.

    Parameters
    ----------
    X : ndarray, shape (m, d)
        Rows of all of the data, in their order.
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
    tensors"), and about one for matrices with independent entries. In Frobenius norms; one pass
    over T and 4d³ flops.
    """
    rng = np.random.default_rng(0)
    A, B = T, T
    while A.ndim > 2:
        A, B = (M @ rng.standard_normal(len(T)) for M in (A, B))
    size = float(np.linalg.norm(A) * np.linalg.norm(B))
    return math.sqrt(len(T) / 2) * float(np.linalg.norm(A @ B - B @ A)) / size if size else 0.0


def leading(X: Array, count: int) -> Array:
    """Return the largest eigenvalues of X'X, descending, by a randomized range finder.

    They are exact where X has no more than `EXTRA` rows or columns beyond `count`, and never above
    the true ones otherwise.
    """
    m, d = X.shape
    width = min(count + EXTRA, m, d)
    if width == min(m, d):
        exact = np.linalg.eigvalsh(X.T @ X if d <= m else X @ X.T)[::-1]
        return np.pad(np.maximum(exact, 0.0), (0, max(0, count - len(exact))))[:count]
    Q = np.linalg.qr(X.T @ np.random.default_rng(0).standard_normal((m, width)))[0]
    for _ in range(ITERATIONS):
        Q = np.linalg.qr(X.T @ np.linalg.qr(X @ Q)[0])[0]
    values = np.linalg.svd(X @ Q, compute_uv=False) ** 2
    return np.pad(values, (0, max(0, count - len(values))))[:count]


def _matrix(oracle: Any) -> Any:
    """Return the matrix that an oracle has as a whole; None if it has none."""
    found = getattr(oracle, "X", None)
    is_matrix = len(getattr(found, "shape", ())) == 2 and hasattr(found, "__getitem__")
    return found if is_matrix and not _draws(oracle) else None


def _some_rows(matrix: Any, k: int) -> Array:
    """Return some rows of a matrix, of all of it alike, as a dense array."""
    rows, columns = matrix.shape
    most = max(k + 1, min(MOST_ROWS, MOST_ENTRIES // columns))
    some = matrix[:: math.ceil(rows / most)]
    dense = some.toarray() if hasattr(some, "toarray") else some
    return np.asarray(dense, dtype=np.float64)


def _draws(oracle: Any) -> bool:
    return callable(getattr(oracle, "take", None))


def _data(oracle: Any, length: float) -> Array | None:
    """Return some samples of an oracle, or rows of the unfolding of its tensor; None of neither."""
    most = max(oracle.k + 1, min(MOST_ROWS, MOST_ENTRIES // oracle.n))
    if _draws(oracle):
        return _samples(oracle, most, length)
    tensor = getattr(oracle, "T", None)
    if not isinstance(tensor, np.ndarray):
        return None
    unfolding = tensor.reshape(-1, oracle.n)
    return unfolding[:: math.ceil(len(unfolding) / most)]


def _samples(oracle: Any, most: int, length: float) -> Array:
    """Return some samples, of finite data from beginning to end, which takes a pass over them."""
    if not math.isfinite(length):
        oracle.prepare(most)
        drawn: Array = np.array(oracle.take(most))
        return drawn
    step, found = math.ceil(length / most), list[Array]()
    taken = 0
    while left := int(oracle.remaining()):
        count = min(left, max(1, oracle.window))
        oracle.prepare(count)
        samples = oracle.take(count)
        found.append(np.array(samples[-taken % step :: step]))
        taken += count
    return np.concatenate(found)
