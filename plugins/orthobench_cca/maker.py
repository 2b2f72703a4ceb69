"""Makes instances of your own pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from orthobench.contract import Array, DataError, Instance, UsageError, check_rows, matrix
from orthobench.tools.arrays import array_of, is_number, is_whole
from orthobench_cca.covariances import SINGULAR, covariances
from orthobench_cca.judge import Judge
from orthobench_cca.oracle import PairsOracle


def cca(
    X: ArrayLike, Y: ArrayLike, k: int, *, ridge: float = 0.0, passes: int = 1
) -> Instance[PairsOracle]:
    """Make a canonical correlation analysis of your own pairs.

    Sought are A (p, k) and B (q, k) that maximize tr(A'S_xy B) subject to A'S_xx A = B'S_yy B = I,
    with the covariances S of the pairs. That is the generalized eigenvalue problem of
    [0 S_xy; S_yx 0] and diag(S_xx, S_yy).

    Parameters
    ----------
    X : array_like, sparse matrix or DataFrame, shape (N, p)
    Y : array_like, sparse matrix or DataFrame, shape (N, q)
        Pairs (x, y) in rows. They are copied, made dense, and centred.
    k : int
        Number of canonical variables, 1 <= k <= min(p, q).
    ridge : float
        It is added to the diagonals of both covariances, which must not be singular with it.
    passes : int
        How often streaming solvers go through the pairs.

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
    left, right = _centred(X, "X"), _centred(Y, "Y")
    if len(left) != len(right):
        raise DataError(f"X has {len(left)} rows and Y {len(right)}: they must be pairs")
    for name, rows in (("X", left), ("Y", right)):
        if not rows.any():
            raise DataError(f"{name} does not vary: there is nothing to correlate")
    most = min(left.shape[1], right.shape[1])
    if not is_whole(k) or not 1 <= k <= most:
        raise UsageError(f"k must be a whole number between 1 and {most}, not {k}")
    if not is_number(ridge) or not 0 <= ridge < np.inf:
        raise UsageError(f"ridge must be finite and at least 0, not {ridge}")
    S = covariances(left, right, ridge)
    _refuse_singular(S.xx, "X")
    _refuse_singular(S.yy, "Y")
    judge = Judge(S, int(k))
    return Instance(
        PairsOracle(left, right, int(k), ridge, passes),
        judge,
        {"suboptimality": 0.0, "x_error": 0.0, "y_error": 0.0},
        violation=judge.violation,
    )


def _centred(data: ArrayLike, name: str) -> Array:
    what = f"the rows of {name}"
    rows = matrix(array_of(data, what), what).astype(np.float64)
    try:
        check_rows(rows, 0, int)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    rows -= rows.mean(axis=0)
    return rows


def _refuse_singular(S: Array, name: str) -> None:
    values = np.linalg.eigvalsh(S)
    if values[0] <= SINGULAR * values[-1]:
        raise DataError(
            f"the columns of {name} are linearly dependent: pass ridge > 0, such as "
            f"{1e-3 * np.trace(S) / len(S) or 1.0:.2g}"
        )
