"""SparsePCA with the interface of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from orthobench_kit.estimating import checked_tolerance, point_of, solver_named
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from orthobench.contract import Array, Solution
from orthobench.tools.arrays import whole
from orthobench_sparse_pca.oracle import SparsePCAOracle
from orthobench_sparse_pca.result import sparse_components

AUTO = "tpower"
"""The solver of ``"auto"``."""


class SparsePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Components with a given number of non-zero loadings.

    Parameters
    ----------
    n_components : int or None
        Number of components; None: the smaller of rows and columns.
    cardinality : int
        Maximum number of non-zero loadings of each component.
    solver : str
        ``"auto"``, the truncated power method, which ends at a local maximum; or a solver of
        sparse PCA, such as ``"sparse-pca-exact"`` or ``"geospca"``.
    tolerance : float
        Relative gain of a step at which iterations end; 0: no gain, or a named solver's own.

    Attributes
    ----------
    components_ : ndarray, shape (k, d)
        Rows of unit length, or of zeros, the largest variance first; in each the entry of largest
        absolute value is positive.
    explained_variance_ : ndarray, shape (k,)
        Variances of the scores of each component alone, with the divisor n - 1.
    mean_ : ndarray, shape (d,)
    solver_ : str
        The solver that was used.

    Notes
    -----
    About 2dn flops a step, tens of steps a component; a centred copy of X and one of the solver.

    Examples
    --------
    >>> import numpy as np
    >>> from orthobench.estimators import SparsePCA
    >>> X = np.random.default_rng(0).standard_normal((100, 9)) * np.linspace(3, 1, 9)
    >>> np.count_nonzero(SparsePCA(2, cardinality=3).fit(X).components_, axis=1).tolist()
    [3, 3]
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        cardinality: int = 10,
        solver: str = "auto",
        tolerance: float = 0.0,
    ) -> None:
        self.n_components, self.cardinality = n_components, cardinality
        self.solver, self.tolerance = solver, tolerance

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of X (n, d), an array or a table; `y` is ignored.

        Raises
        ------
        UsageError
            If a parameter is out of range, or the solver is unknown.
        ValueError
            If X is no finite real matrix of at least two rows.
        """
        from orthobench_sparse_pca import orthobench_solvers

        del y
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        most, asked = min(X.shape), self.n_components
        k = most if asked is None else whole(asked, "n_components", 1, most, f": X is {X.shape}")
        self.mean_ = X.mean(axis=0)
        oracle = SparsePCAOracle((X - self.mean_).astype(np.float64).T, k)
        oracle.cardinality = min(whole(self.cardinality, "cardinality"), X.shape[1])
        self.solver_ = AUTO if self.solver == "auto" else self.solver
        tolerance = checked_tolerance(self.tolerance)
        settings = {"tolerance": tolerance} if tolerance or self.solver == "auto" else {}
        solver = solver_named(self.solver_, orthobench_solvers(), ("auto",), **settings)
        varies = oracle.longest > len(X) * np.finfo(np.float64).eps * np.abs(self.mean_).max()
        start = np.eye(oracle.n, k)
        Z = point_of(solver, oracle, start) if varies else np.zeros_like(start)
        found = sparse_components(oracle, Solution(Z))
        self.components_ = np.ascontiguousarray(found.loadings.T, dtype=X.dtype)
        self.explained_variance_ = found.variance.astype(X.dtype)
        self.n_components_ = k
        return self

    def transform(self, X: Any) -> Array:
        """Return the scores (n, k), by least squares."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return np.asarray((X - self.mean_) @ np.linalg.pinv(self.components_))

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows (n, d) for scores X (n, k)."""
        check_is_fitted(self)
        scores = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        return np.asarray(scores @ self.components_ + self.mean_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
