"""CCA with the interface of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn import cross_decomposition
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from orthobench.contract import Array, UsageError
from orthobench.errors import unknown
from orthobench.tools.arrays import is_number, whole
from orthobench_cca.canonical import WELL, canonical, whitened
from orthobench_cca.oracle import PairsMatrices
from orthobench_cca.result import CCAResult, variables

GRAM, SVD = "cca-exact", "svd"
"""The two solvers, by Cholesky factors and by singular value decompositions."""


class CCA(cross_decomposition.CCA):  # type: ignore[misc]
    """Canonical correlation analysis, exact, of collinear and constant columns too.

    Attributes and methods are those of `sklearn.cross_decomposition.CCA`; scores have unit
    variance (divisor n). ``x_rotations_`` equals ``x_weights_``, for columns of unit variance, and
    ``coef_`` predicts y by least squares on the scores.

    Parameters
    ----------
    n_components : int
        At most the smallest number of rows and columns of both sides.
    solver : str
        ``"cca-exact"`` (Cholesky factors of covariances), ``"svd"`` (of X and y), or ``"auto"``:
        the former if covariances are well conditioned.
    ridge : float
        Added to the diagonals of both covariances.

    Attributes
    ----------
    correlations_ : ndarray, shape (k,)
        The canonical correlations, descending.
    solver_ : str
        The solver that was used.

    Notes
    -----
    N(p² + q² + pq) flops by Cholesky factors, about ten times that by ``"svd"``; copies of X and
    y.

    Examples
    --------
    >>> import numpy as np
    >>> from orthobench.estimators import CCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 4))
    >>> cca = CCA(n_components=1).fit(X, X[:, :2] + rng.standard_normal((500, 2)))
    >>> bool(0.6 < cca.correlations_[0] < 0.8)
    True
    """

    def __init__(self, n_components: int = 2, *, solver: str = "auto", ridge: float = 0.0) -> None:
        self.n_components, self.solver, self.ridge = n_components, solver, ridge

    def fit(self, X: Any, y: Any) -> Self:
        """Find the canonical variables of pairs: X (N, p), and y (N, q) or (N,).

        Raises
        ------
        UsageError
            If a parameter is out of range, or the solver is unknown.
        ValueError
            If X or y is no finite real matrix of at least two rows.
        """
        check_consistent_length(X, y)
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        y = check_array(y, input_name="y", dtype=np.float64, ensure_2d=False)
        self._predict_1d = y.ndim == 1
        y = y.reshape(len(y), -1)
        (N, p), q = X.shape, y.shape[1]
        k = whole(self.n_components, "n_components", 1, min(N, p, q), f": X {X.shape}, y {y.shape}")
        if not is_number(self.ridge) or not 0 <= self.ridge < np.inf:
            raise UsageError(f"ridge must be finite and at least 0, not {self.ridge!r}")
        Xs, self._x_mean, self._x_std = _standardized(X)
        ys, self._y_mean, self._y_std = _standardized(y)
        found, self.solver_ = _variables(PairsMatrices(Xs, ys, k, float(self.ridge)), self.solver)
        self.x_rotations_, self.y_rotations_ = found.x_weights[:, :k], found.y_weights[:, :k]
        self.x_weights_, self.y_weights_ = self.x_rotations_, self.y_rotations_
        self.correlations_ = found.correlations[:k]
        self.x_loadings_ = Xs.T @ (Xs @ self.x_rotations_) / N
        self.y_loadings_ = ys.T @ (ys @ self.y_rotations_) / N
        fitted = ys.T @ (Xs @ self.x_rotations_) / N
        self.coef_ = self._y_std[:, None] * (fitted @ self.x_rotations_.T) / self._x_std
        self.intercept_, self._n_features_out = self._y_mean, k
        return self


def _variables(oracle: PairsMatrices, solver: str) -> tuple[CCAResult, str]:
    if solver not in ("auto", GRAM, SVD):
        raise unknown("solver of CCA", solver, ("auto", GRAM, SVD))
    N, p = oracle.X.shape
    if solver != SVD and (solver == GRAM or max(p, oracle.Y.shape[1]) < N):
        left, right = (whitened(side, oracle.ridge) for side in oracle.sides)
        if solver == GRAM or min(left.least, right.least) > WELL:
            found = canonical(oracle, left, right)
            return variables(oracle, found.A, found.B), GRAM
    return variables(oracle, np.eye(p), np.eye(oracle.Y.shape[1])), SVD


def _standardized(M: Array) -> tuple[Array, Array, Array]:
    mean = M.mean(axis=0)
    rest = M - mean
    std = np.sqrt(np.einsum("ij,ij->j", rest, rest) / len(M))
    varies = std > len(M) * np.finfo(np.float64).eps * np.abs(mean)
    std = np.where(varies, std, 1.0)
    return np.where(varies, rest / std, 0.0), mean, std
