"""Makes instances of your own pairs."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from orthobench_kit.reading import array_of, read
from orthobench_kit.rows import Rows, borders
from orthobench_kit.sparse import is_sparse

from orthobench.contract import Array, DataError, Instance, UsageError
from orthobench.tools.arrays import check_rows, is_number, whole
from orthobench_cca.canonical import Optima, optima, whitened
from orthobench_cca.judge import Judge
from orthobench_cca.oracle import Centred, PairsMatrices, PairsOracle, means
from orthobench_cca.result import canonical_variables

EXACT = 3000
"""Maximum number of columns, or of pairs, for a judge with the truth."""

LEAST = 1e-290
"""Minimum of the largest variance of a side."""

PARTS = 10
"""Number of parts of the columns in products of large sparse pairs."""

LARGE = 2**20
"""Number of nonzeros of both sides above which a judge condenses them."""

WELL = 1e-3
"""Inverse condition number above which the judge may square a covariance."""

ALIKE = 4 * float(np.finfo(np.float64).eps)
"""Relative range of a constant column."""

FAR = 1e4
"""Squared mean over variance of a sparse column that costs digits."""

UNCORRELATED = 1e-12
"""Largest canonical correlation that counts as rounding."""


def cca(
    X: ArrayLike,
    Y: ArrayLike,
    k: int,
    *,
    ridge: float = 0.0,
    passes: int = 1,
    test: tuple[ArrayLike, ArrayLike] | None = None,
) -> Instance[PairsMatrices]:
    """Make a canonical correlation analysis of your own pairs.

    Find A (p, k) and B (q, k) that maximize tr(A'S_xy B) subject to A'S_xx A = B'S_yy B = I, with
    the covariances S of the pairs. They may be singular; constant columns get weight 0.

    Parameters
    ----------
    X : array_like, sparse matrix or DataFrame, shape (N, p) or (N,)
    Y : array_like, sparse matrix or DataFrame, shape (N, q) or (N,)
        Pairs (x, y) in rows. They are copied and centred; if both are sparse they stay sparse.
    k : int
        Number of canonical variables, 1 <= k <= min(p, q), and at most the rank of either side.
    ridge : float
        Added to the diagonals of both covariances.
    passes : int
        Number of passes of streaming solvers over the pairs.
    test : (array_like, array_like), optional
        Other pairs, for ``test_captured``.

    Returns
    -------
    Instance
        Its points are A above B, shape (p + q, k), with the metrics of `orthobench_cca.judge`.

    Raises
    ------
    UsageError
        If k, `ridge` or `passes` is out of range.
    DataError
        If data are not finite real matrices with the same number of rows, a side does not vary or
        has a rank below k, or the sides are uncorrelated.

    Warns
    -----
    UserWarning
        If some correlations are 1 for lack of pairs.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal((2000, 2))
    >>> X = z @ rng.standard_normal((2, 6)) + rng.standard_normal((2000, 6))
    >>> Y = z @ rng.standard_normal((2, 5)) + rng.standard_normal((2000, 5))
    >>> outcome = ob.solve("cca-exact", ob.cca(X, Y, k=2))
    >>> outcome.solution.shape
    (11, 2)
    """
    left, right = _given(X, "X"), _given(Y, "Y")
    if left.shape[0] != right.shape[0]:
        raise DataError(f"X has {left.shape[0]} rows and Y {right.shape[0]}: they must be pairs")
    most = min(left.shape[1], right.shape[1])
    k = whole(k, "k", 1, most)
    if not is_number(ridge) or not 0 <= ridge < np.inf:
        raise UsageError(f"ridge must be finite and at least 0, not {ridge}")
    oracle: PairsMatrices
    if is_sparse(left) and is_sparse(right):
        centre = means(left), means(right)
        oracle = PairsMatrices(_shifted(left), _shifted(right), k, ridge)
    else:
        pairs, p = np.empty((left.shape[0], left.shape[1] + right.shape[1])), left.shape[1]
        centre = _fill(pairs[:, :p], left), _fill(pairs[:, p:], right)
        oracle = PairsOracle(pairs, p, k, ridge, passes)
    for name, side in zip("XY", oracle.sides, strict=True):
        if not (largest := float(side.variances().max())):
            raise DataError(f"{name} does not vary: there is nothing to correlate")
        if largest < LEAST:
            raise DataError(f"{name} is so small that its variances have no digits: rescale it")
    held_out = None if test is None else _held_out(test, centre, oracle)
    judged, best = _judged(oracle)
    judge = Judge(judged, best, held_out)
    known = {} if best is None else {"suboptimality": 0.0, "x_error": 0.0, "y_error": 0.0}
    return Instance(
        oracle, judge, known, judge.violation, finish=judge.finished, conditional=("passes",),
        result=partial(canonical_variables, oracle),
    )  # fmt: skip


def _fill(rows: Array, given: Any) -> Array:
    """Write given rows, less their means, into an array, and return the means."""
    rows[:] = given.toarray() if is_sparse(given) else given
    mean, low, high = rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0)
    rows -= mean
    rows[:, high - low <= ALIKE * np.maximum(abs(low), abs(high))] = 0.0
    return np.asarray(mean)


def _shifted(rows: Any) -> Any:
    """Return sparse rows; columns with large means are centred."""
    from scipy.sparse import csr_array, diags

    mean = means(rows)
    far = np.flatnonzero(mean**2 > FAR * Centred(rows, mean).variances())
    if not far.size:
        return rows
    near = np.ones(len(mean))
    near[far] = 0.0
    places = csr_array((np.ones(far.size), (np.arange(far.size), far)), shape=(far.size, len(mean)))
    kept = csr_array(rows) @ csr_array(diags(near))
    kept.eliminate_zeros()
    centred = np.empty((rows.shape[0], far.size))
    _fill(centred, rows[:, far])
    return kept + csr_array(centred) @ places


def _held_out(
    test: tuple[ArrayLike, ArrayLike], centre: tuple[Array, Array], oracle: PairsMatrices
) -> PairsMatrices:
    given = _given(test[0], "X of the test part"), _given(test[1], "Y of the test part")
    x, y = (M if is_sparse(M) else np.array(M, np.float64, order="C") for M in given)
    if any(len(mean) != M.shape[1] for mean, M in zip(centre, (x, y), strict=True)):
        raise DataError("the test part has other columns than X and Y")
    if x.shape[0] != y.shape[0]:
        raise DataError("X and Y of the test part must be pairs")
    held_out = PairsMatrices(x, y, oracle.k, oracle.ridge)
    held_out.x_mean, held_out.y_mean = centre
    return held_out


def _judged(oracle: PairsMatrices) -> tuple[PairsMatrices, Optima | None]:
    if any(min(side.data.shape) > EXACT for side in oracle.sides):
        return oracle, None
    condensed = _condensed(oracle)
    if condensed is not None:
        left, right = (whitened(side, oracle.ridge) for side in condensed.sides)
        if min(left.least, right.least) > WELL:
            return condensed, _correlated(optima(condensed, left, right))
    return oracle, _truth(oracle)


def _condensed(oracle: PairsMatrices) -> PairsMatrices | None:
    """Return a triangular factor with the covariances of the pairs; None if that loses digits."""
    if oracle.count <= oracle.n:
        return None
    x, y = oracle.sides
    if isinstance(oracle, PairsOracle):
        S = oracle.pairs.T @ oracle.pairs
    elif x.data.nnz + y.data.nnz > LARGE:
        across = x.cross(y, PARTS)
        S = np.block([[x.cross(x, PARTS), across], [across.T, y.cross(y, PARTS)]])
        S *= oracle.count
    else:
        return None
    try:
        factor = np.linalg.cholesky(S * (oracle.n / oracle.count)).T
    except np.linalg.LinAlgError:
        return None
    rows = PairsMatrices(factor[:, : oracle.p], factor[:, oracle.p :], oracle.k, oracle.ridge)
    rows.x_mean, rows.y_mean = np.zeros(oracle.p), np.zeros(oracle.n - oracle.p)
    return rows


def _truth(oracle: PairsMatrices) -> Optima:
    sides, most = [whitened(side, oracle.ridge) for side in oracle.sides], oracle.count - 1
    ranks = [side.W.shape[1] for side in sides]
    for rank, name in zip(ranks, "XY", strict=True):
        if rank < oracle.k and not oracle.ridge:
            rows = f"{oracle.count} pairs less their mean have" if rank == most else "it has"
            raise DataError(f"k = {oracle.k} is above the rank of {name}: {rows} rank {rank}")
    if not oracle.ridge and sum(ranks) > most:
        warnings.warn(
            f"X has rank {ranks[0]} and Y rank {ranks[1]}, and {oracle.count} pairs less their "
            f"mean have rank {most} at most: {sum(ranks) - most} of the correlations are 1 "
            "whatever the data; take more pairs, or a ridge",
            stacklevel=4,
        )
    return _correlated(optima(oracle, *sides))


def _correlated(found: Optima) -> Optima:
    if not found.correlations[0] > UNCORRELATED:
        raise DataError("X and Y are uncorrelated: there is nothing to find")
    return found


def _given(data: Any, name: str) -> Any:
    """Return checked rows: a sparse matrix as a copy in CSR and float64, others as they are."""
    what = f"the rows of {name}"
    if len(getattr(data, "shape", ())) == 1:
        data = array_of(data, what)[:, None]
    given, data = data, read(data, what)
    if is_sparse(data):
        rows = data.tocsr()
        is_new = is_sparse(given) and rows is not given
        rows = rows.astype(np.float64, copy=not is_new)
        for at in np.flatnonzero(~np.isfinite(rows.data)):
            row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
            raise DataError(
                f"{name}: the entry in row {row} and column {rows.indices[at]} (counted from 0) is "
                f"{rows.data[at]}; clean the data"
            )
        return rows
    if isinstance(data, Rows):
        data = data.read(0, len(data))
    try:
        for begin, end in pairwise(borders(data.shape).tolist()):
            check_rows(data[begin:end].astype(np.float64), begin)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    return data
