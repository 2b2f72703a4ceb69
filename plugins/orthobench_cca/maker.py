"""Makes instances of your own pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from orthobench.contract import DataError, Instance, UsageError
from orthobench.tools.arrays import array_of, check_rows, is_number, matrix, whole
from orthobench.tools.sparse import checked_sparse, is_sparse
from orthobench_cca.canonical import Canonical, canonical, whitened
from orthobench_cca.covariances import SINGULAR
from orthobench_cca.judge import Judge
from orthobench_cca.oracle import PairsMatrices, PairsOracle

EXACT = 3000
"""The most columns, or pairs where these are fewer, for which the judge knows the truth."""

LEAST = 1e-290
"""The least of the largest variance of a side."""

WELL = 1e-3
"""The inverse condition number of a covariance above which its square loses the judge no digits."""


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

    Sought are A (p, k) and B (q, k) that maximize tr(A'S_xy B) subject to A'S_xx A = B'S_yy B = I,
    with the covariances S of the pairs. That is the generalized eigenvalue problem of
    [0 S_xy; S_yx 0] and diag(S_xx, S_yy).

    Parameters
    ----------
    X : array_like, sparse matrix or DataFrame, shape (N, p)
    Y : array_like, sparse matrix or DataFrame, shape (N, q)
        Pairs (x, y) in rows. They are copied and centred; where both are sparse they stay sparse,
        and the means are subtracted from products.
    k : int
        Number of canonical variables, 1 <= k <= min(p, q).
    ridge : float
        It is added to the diagonals of both covariances, which must not be singular with it.
    passes : int
        How often streaming solvers go through the pairs.
    test : (array_like, array_like), optional
        Other pairs, for ``test_captured``.

    Returns
    -------
    Instance
        Its points are A above B, shape (p + q, k); its metrics those of `orthobench_cca.judge`.

    Raises
    ------
    UsageError
        Where k, `ridge` or `passes` is out of range.
    DataError
        Where data are not finite real matrices of equally many rows; where a covariance is
        singular.

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
        oracle = PairsMatrices(left, right, k, ridge)
    else:
        x, y = (M.toarray() if is_sparse(M) else M for M in (left, right))
        oracle = PairsOracle(x - x.mean(axis=0), y - y.mean(axis=0), k, ridge, passes)
    for name, side in zip("XY", oracle.sides, strict=True):
        if not (largest := float(side.variances().max())):
            raise DataError(f"{name} does not vary: there is nothing to correlate")
        if largest < LEAST:
            raise DataError(f"{name} is so small that its variances have no digits: rescale it")
    held_out = None if test is None else _held_out(test, left, right, oracle)
    judged, best = _judged(oracle)
    judge = Judge(judged, best, held_out)
    known = {} if best is None else {"suboptimality": 0.0, "x_error": 0.0, "y_error": 0.0}
    return Instance(oracle, judge, known, violation=judge.violation, conditional=("passes",))


def _held_out(
    test: tuple[ArrayLike, ArrayLike], X: Any, Y: Any, oracle: PairsMatrices
) -> PairsMatrices:
    """Return the test pairs less the means of the training pairs."""
    rows = _given(test[0], "X of the test part"), _given(test[1], "Y of the test part")
    if any(M.shape[1] != T.shape[1] for M, T in zip((X, Y), rows, strict=True)):
        raise DataError("the test part has other columns than X and Y")
    if rows[0].shape[0] != rows[1].shape[0]:
        raise DataError("X and Y of the test part must be pairs")
    held_out = PairsMatrices(*rows, oracle.k, oracle.ridge)
    held_out.x_mean, held_out.y_mean = (np.asarray(M.mean(axis=0)).ravel() for M in (X, Y))
    return held_out


def _judged(oracle: PairsMatrices) -> tuple[PairsMatrices, Canonical | None]:
    """Return the pairs to judge by, and the truth.

    They are p + q rows with the same covariances, where pairs are more and covariances well
    conditioned: a judgement then takes no pass over the pairs. The truth is None where both sides
    of one matrix are above `EXACT`.
    """
    if any(min(side.data.shape) > EXACT for side in oracle.sides):
        return oracle, None
    condensed = _condensed(oracle)
    if condensed is not None:
        left, right = (whitened(side, oracle.ridge) for side in condensed.sides)
        if min(left.least, right.least) > WELL:
            return condensed, canonical(condensed, left, right)
    return oracle, _truth(oracle)


def _condensed(oracle: PairsMatrices) -> PairsMatrices | None:
    """Return the triangular factor of the pairs, scaled to their covariances; by Cholesky.

    It is None where pairs are sparse or fewer than columns, and where a covariance is singular.
    """
    if not isinstance(oracle, PairsOracle) or oracle.count <= oracle.n:
        return None
    S = oracle.pairs.T @ oracle.pairs
    try:
        factor = np.linalg.cholesky(S * (oracle.n / oracle.count)).T
    except np.linalg.LinAlgError:
        return None
    rows = PairsMatrices(factor[:, : oracle.p], factor[:, oracle.p :], oracle.k, oracle.ridge)
    rows.x_mean, rows.y_mean = oracle.x_mean, oracle.y_mean
    return rows


def _truth(oracle: PairsMatrices) -> Canonical:
    """Return the canonical variables."""
    left, right = (whitened(side, oracle.ridge) for side in oracle.sides)
    for side, found, name in zip(oracle.sides, (left, right), "XY", strict=True):
        if found.least <= SINGULAR:
            raise DataError(
                f"the columns of {name} are linearly dependent: pass ridge > 0, such as "
                f"{1e-3 * side.variances().mean() or 1.0:.2g}"
            )
    return canonical(oracle, left, right)


def _given(data: Any, name: str) -> Any:
    """Return finite rows of float64, sparse ones in CSR."""
    what = f"the rows of {name}"
    if is_sparse(data):
        rows = checked_sparse(data, what).tocsr().astype(np.float64)
        if not np.isfinite(rows.data).all():
            raise DataError(f"{name}: an entry is not finite")
        return rows
    rows = matrix(array_of(data, what), what).astype(np.float64, order="C")
    try:
        check_rows(rows, 0, int)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    return rows
