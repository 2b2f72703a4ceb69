"""Makes instances of your own matrices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from orthobench_kit.columns import warn_of_constant
from orthobench_kit.reading import read, real
from orthobench_kit.rows import Rows
from orthobench_kit.sparse import is_sparse

from orthobench.contract import Array, DataError, Instance, UsageError
from orthobench.tools.arrays import matrix, whole
from orthobench_pca.judge import Judge, probed
from orthobench_pca.matrices import Chunked, Dense, Matrix, Operator, Sparse, block_length
from orthobench_pca.oracle import PCAOracle, refuse_not_finite
from orthobench_pca.result import principal_components

RANGE = {"float32": (1e-12, 1e12), "float64": (1e-130, 1e130)}
"""Range of numbers whose squares, and sums of them, keep their digits."""


FEW = 64
"""Number of rows that are read first."""

LARGE_MEAN = 1e4
"""Ratio of squared means to variances above which float32 needs float64."""


def pca(
    X: Any,
    k: int,
    center: bool = True,
    scale: bool = False,
    *,
    sample_weight: Any = None,
    column_weight: Any = None,
) -> Instance[PCAOracle]:
    """Make an instance of the k principal components of your own matrix.

    Centring and scaling are done within products, without a copy of X, except to change its unit
    or to weigh rows.

    Parameters
    ----------
    X : anything that `orthobench_kit.reading.read` reads, or a LinearOperator, shape (rows, d)
        Real numbers, samples in rows: arrays, tables, sparse matrices, and blocks from disk or
        Dask. Float32 is computed with in float32 unless means are more than 100 times the standard
        deviations, everything else in float64.
    k : int
        Number of components, at most the smaller of rows and columns.
    center : bool
        Whether the means of columns are subtracted.
    scale : bool
        Whether columns are divided by their standard deviations. A constant column has loading 0.
    sample_weight : array_like, shape (rows,), optional
        Not negative. A row of weight 2 counts as two rows, in means too.
    column_weight : array_like, shape (d,), optional
        Not negative: columns are multiplied by the roots, such as of the cosine of the latitude,
        or of 1 / (2p(1 - p)) for genotypes with allele frequency p. Scores are ``((X - mean) *
        sqrt(column_weight)) @ components``.

    Returns
    -------
    Instance
        Its points have components in columns, shape (d, k), with the metrics of
        `orthobench_pca.judge.Judge`.

    Raises
    ------
    DataError
        If X is empty, not a matrix, not real, not finite, or constant; if weights do not fit.
    UsageError
        If k does not fit, or rows are weighted and columns scaled.

    Notes
    -----
    Matrices on disk, in chunks or given as operators are not searched for NaN: a run ends if it
    meets one. X must not change until all runs are over. With weights of rows, matrices other than
    arrays become operators.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> X = np.random.default_rng(0).standard_normal((500, 20)) * np.linspace(2, 1, 20) + 3
    >>> outcome = ob.solve("gram-pca", ob.pca(X, k=3))
    >>> outcome.solution.shape
    (20, 3)
    >>> outcome.trace[-1].metrics["gap"] < 1e-12
    True
    """
    given = matrix_of(X)
    k = whole(k, "k", 1, min(given.shape), f": X is of shape {given.shape}")
    given, probe = _in_range(*_checked(given))
    given = _looked_at(given, center)
    scales = _deviations(given, center) if scale else None
    if column_weight is not None:
        weights = _weights(column_weight, "column_weight", given.shape[1], "columns")
        with np.errstate(divide="ignore"):
            scales = (1.0 if scales is None else scales) / np.sqrt(weights)
    if sample_weight is not None:
        if scale:
            raise UsageError("scale=True has no weights of rows: pass column_weight=1 / variances")
        weights = _weights(sample_weight, "sample_weight", given.shape[0], "rows")
        given, probe, center = _weighted(given, weights, center), None, False
    judge = Judge(PCAOracle(_in_double(given), k, center, scales), probe)
    best = {"gap": 0.0, "angle": 0.0, "residual": 0.0}
    oracle = PCAOracle(given, k, center, scales)
    result = partial(principal_components, judge.oracle, given.unit)
    conditional = ("angle", "passes", "rank")
    return Instance(
        oracle, judge, best, settle=judge.settle, result=result, conditional=conditional,
        residual="residual",
    )  # fmt: skip


def matrix_of(X: Any) -> Matrix:
    """Return a `Matrix` for a matrix of any kind; DataError if it is not a real matrix."""
    from scipy.sparse.linalg import LinearOperator

    kind: type[Matrix] = Operator
    if isinstance(X, LinearOperator):
        matrix(X, "the rows of X")
    else:
        X = read(X, "the rows of X")
        kind = Sparse if is_sparse(X) else Chunked if isinstance(X, Rows) else Dense
    given = np.dtype(X.dtype or np.float64)
    work = np.dtype(np.float32) if given == np.float32 else np.dtype(np.float64)
    if kind is Sparse and given != work:
        X = X.astype(work)
    # scikit-learn copies read-only views
    return kind(X, work)


def _in_double(given: Matrix) -> Matrix:
    return type(given)(given.X, np.float64)


def _looked_at(given: Matrix, center: bool) -> Matrix:
    """Refuse a constant matrix; return it in the precision that its means need."""
    first = None
    for rows in _first_rows(given):
        if first is None:
            first = rows[0] if center else np.zeros_like(rows[0])
            if center and _cancels(given, rows):
                given = _in_double(given)
        if (rows != first).any():
            return given
    if first is None:
        return given
    how = "rows are equal" if center else "entries are 0"
    raise DataError(f"X {given.shape} does not vary: all its {how}, so it has no components")


def _first_rows(given: Matrix) -> Iterator[Array]:
    if isinstance(given, Chunked):
        yield from (block for _, block in given.blocks())
    elif not isinstance(given, Operator):
        begin, most = 0, block_length(given.shape[1], given.dtype)
        step = FEW if isinstance(given, Dense) else min(FEW, most)
        while begin < given.shape[0]:
            yield given.rows(begin, begin + step)
            begin, step = begin + step, most


def _cancels(given: Matrix, rows: Array) -> bool:
    """Return whether products in float32 lose the digits of centred rows."""
    if given.dtype != np.float32 or isinstance(given, Sparse):
        return False
    mean = rows.mean(axis=0, dtype=np.float64)
    variance = float(rows.var(axis=0, dtype=np.float64).sum())
    return float(mean @ mean) > LARGE_MEAN * variance


def _weights(weights: Any, name: str, count: int, what: str) -> Array:
    found = real(weights, f"the numbers of {name}")
    if found.shape != (count,):
        raise DataError(
            f"{name} has shape {found.shape}: pass one number for each of {count} {what}"
        )
    if not np.isfinite(found).all() or found.min() < 0 or not found.any():
        raise DataError(f"{name} must be finite and not negative, and some of it positive")
    return found


def _weighted(given: Matrix, weights: Array, center: bool) -> Matrix:
    """Return S(X - 1m'), m the weighted mean and S² the weights over their mean."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import aslinearoperator

    root = np.sqrt(weights / weights.mean())
    sums = _in_double(given).transposed_times(root[:, None] ** 2)[:, 0]
    mean = sums / len(root) if center else np.zeros_like(sums)
    if isinstance(given, Dense) and not isinstance(given.X, np.memmap):
        copy = (given.rows(0, len(root)) - mean) * root[:, None]
        return Dense(copy.astype(given.dtype, copy=False), given.dtype)
    plain = PCAOracle(given, 1, center=False).operator()
    shift = aslinearoperator(root[:, None]) @ aslinearoperator(mean[None])
    return Operator(aslinearoperator(diags_array(root)) @ plain - shift, given.dtype)


def _checked(given: Matrix) -> tuple[Matrix, Array | None]:
    if not isinstance(given, (Dense, Sparse)) or isinstance(given.X, np.memmap):
        return given, None
    with np.errstate(over="ignore", invalid="ignore"):
        probe = probed(given)
    if not np.isfinite(_largest(probe)) and not np.isfinite(_size(given)):
        refuse_not_finite(given)
    return given, probe


def _in_range(given: Matrix, probe: Array | None) -> tuple[Matrix, Array | None]:
    least, most = RANGE[given.dtype.name]
    if probe is None or least < _largest(probe) < most:
        return given, probe
    exponent = -int(np.frexp(_size(given))[1])
    X = given.X.copy() if isinstance(given, Sparse) else np.ldexp(given.X, exponent)
    if isinstance(given, Sparse):
        X.data = np.ldexp(X.data, exponent)
    other = type(given)(X, given.dtype)
    with np.errstate(over="ignore"):  # no number is the unit of entries above half of the largest
        other.unit = float(np.ldexp(1.0, -exponent))
    return other, probed(other)


def _size(given: Matrix) -> float:
    sparse = isinstance(given, Sparse)
    entries = (given.X.data,) if sparse else (block for _, block in given.blocks())
    return max((_largest(block) for block in entries if block.size), default=0.0)


def _largest(A: Array) -> float:
    found = float(max(A.max(), -A.min()))
    return found if np.isfinite(found) else np.inf


def _deviations(given: Matrix, center: bool) -> Array:
    rows = given.shape[0]
    mean = given.column_sums() / rows
    if isinstance(given, Sparse):
        squares = np.asarray(given.X.multiply(given.X).sum(axis=0)).ravel() / rows
        variance = squares - mean * mean
    else:
        variance = sum(((b - mean) ** 2).sum(axis=0, dtype=np.float64) for _, b in given.blocks())
        variance = variance / rows
    constant = variance <= rows * np.finfo(np.float64).eps * (mean * mean + variance)
    if center:
        warn_of_constant(constant, "X")
    return np.sqrt(np.where(constant, 1.0, variance))
