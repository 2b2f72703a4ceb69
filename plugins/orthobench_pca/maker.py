"""Makes instances of your own matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthobench.contract import Array, DataError, Instance
from orthobench.tools.arrays import array_of, matrix, whole
from orthobench.tools.rows import refuse_unknown_chunks
from orthobench.tools.sparse import checked_sparse, is_sparse
from orthobench_pca.judge import Judge, probed
from orthobench_pca.matrices import Chunked, Dense, Matrix, Operator, Sparse
from orthobench_pca.oracle import PCAOracle

RANGE = {"float32": (1e-12, 1e12), "float64": (1e-130, 1e130)}
"""The sizes of numbers whose squares, and sums of them, keep their digits."""


def pca(X: Any, k: int, center: bool = True, scale: bool = False) -> Instance[PCAOracle]:
    """Make the principal components of your own matrix.

    Sought are the k leading eigenvectors of its covariance. X is neither copied nor made dense:
    centring and scaling are done within products. Only where squares of its entries would be no
    numbers of its precision it is copied, in another unit.

    Parameters
    ----------
    X : ndarray, sparse matrix, LinearOperator, Dask array, tensor or DataFrame, shape (rows, d)
        Real numbers, samples in rows. An array may be mapped from a file. Of scipy.sparse CSR and
        CSC stay as they are. A PyTorch tensor has to be on the CPU. Float32 is computed with in
        float32, all else in float64.
    k : int
        Components, at most the smaller of rows and columns.
    center : bool
        Whether the means of columns are subtracted.
    scale : bool
        Whether columns are divided by their standard deviations; constant ones are left.

    Returns
    -------
    Instance
        Its points have components in columns, shape (d, k); its metrics are those of
        `orthobench_pca.judge.Judge`.

    Raises
    ------
    DataError
        Where X is empty, no matrix, not real, or not finite.
    UsageError
        Where k does not fit.

    Notes
    -----
    What is mapped, chunked or an operator is not looked through for NaN here, and keeps its unit: a
    run ends where it meets one. X has to stay as it is until all runs are over.

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
    scales = _deviations(given) if scale else None
    judge = Judge(PCAOracle(_in_double(given), k, center, scales), probe)
    best = {"gap": 0.0, "angle": 0.0, "residual": 0.0}
    oracle = PCAOracle(given, k, center, scales)
    return Instance(oracle, judge, best, settle=judge.settle, conditional=("angle", "passes"))


def matrix_of(X: Any) -> Matrix:
    """Return a matrix of any kind behind one face.

    Raises
    ------
    DataError
        Where it is no real matrix.
    """
    from scipy.sparse.linalg import LinearOperator

    what = "the rows of X"
    kind: type[Matrix] = Dense
    if isinstance(X, LinearOperator):
        kind = Operator
    elif is_sparse(X):
        X, kind = checked_sparse(X, what), Sparse
    elif getattr(X, "chunks", None) and hasattr(X, "compute"):
        refuse_unknown_chunks(X)
        kind = Chunked
    else:
        X = array_of(X, what)
    given = np.dtype(X.dtype or np.float64)
    matrix(X, what)
    work = np.dtype(np.float32) if given == np.float32 else np.dtype(np.float64)
    if kind is Sparse and given != work:
        X = X.astype(work)
    # not as a view that is read-only: of such scikit-learn makes a copy, although it does not write
    return kind(X, work)


def _in_double(given: Matrix) -> Matrix:
    """Return the matrix of the judge."""
    return type(given)(given.X, np.float64)


def _checked(given: Matrix) -> tuple[Matrix, Array | None]:
    """Refuse NaN; return the matrix, with the probe if NaN was looked for."""
    if not isinstance(given, (Dense, Sparse)) or isinstance(given.X, np.memmap):
        return given, None
    with np.errstate(over="ignore", invalid="ignore"):
        probe = probed(given)
    if not np.isfinite(_largest(probe)) and not np.isfinite(_size(given)):
        raise DataError("X has entries that are NaN or infinite: remove or fill them")
    return given, probe


def _in_range(given: Matrix, probe: Array | None) -> tuple[Matrix, Array | None]:
    """Return a matrix of another unit, with its probe, where squares of entries are no numbers.

    The unit is a power of two, so that no digit changes; the answer has no unit.
    """
    least, most = RANGE[given.dtype.name]
    if probe is None or least < _largest(probe) < most:
        return given, probe
    exponent = -int(np.frexp(_size(given))[1])
    X = given.X.copy() if isinstance(given, Sparse) else np.ldexp(given.X, exponent)
    if isinstance(given, Sparse):
        X.data = np.ldexp(X.data, exponent)
    other = type(given)(X, given.dtype)
    return other, probed(other)


def _size(given: Matrix) -> float:
    """Return the largest absolute entry; infinity where one is not finite."""
    sparse = isinstance(given, Sparse)
    entries = (given.X.data,) if sparse else (block for _, block in given.blocks())
    return max((_largest(block) for block in entries if block.size), default=0.0)


def _largest(A: Array) -> float:
    """Return the largest absolute entry; infinity where one is not finite."""
    found = float(max(A.max(), -A.min()))
    return found if np.isfinite(found) else np.inf


def _deviations(given: Matrix) -> Array:
    """Return the standard deviations of columns, 1 for constant ones; two passes."""
    rows = given.shape[0]
    mean = given.column_sums() / rows
    if isinstance(given, Sparse):
        squares = np.asarray(given.X.multiply(given.X).sum(axis=0)).ravel() / rows
        variance = squares - mean * mean
    else:
        variance = sum(((b - mean) ** 2).sum(axis=0, dtype=np.float64) for _, b in given.blocks())
        variance = variance / rows
    floor = rows * np.finfo(np.float64).eps * (mean * mean + variance)
    return np.sqrt(np.where(variance > floor, variance, 1.0))
