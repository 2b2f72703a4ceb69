"""PCA and TruncatedSVD with the interface of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from orthobench_kit.estimating import checked_tolerance
from sklearn import decomposition
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import assert_all_finite, validate_data

from orthobench.contract import DataError
from orthobench.tools.arrays import whole
from orthobench_pca.decomposition import Decomposition, decomposed

_Base: Any = decomposition.PCA


class PCA(_Base):  # type: ignore[misc]
    """Principal components, exact by default, by the cheapest solver for the shape.

    Attributes and methods are those of `sklearn.decomposition.PCA`, without ``"mle"``.

    Parameters
    ----------
    n_components : int, float or None
        Number of components, or the share of the variance (between 0 and 1) that they must have;
        None: all.
    solver : str
        ``"auto"``, which depends on the shape, k, `tolerance` and in doubt the condition;
        ``"svd"`` (LAPACK); or a solver of PCA, such as ``"gram-pca"``, ``"block-krylov"`` or
        ``"randomized-pca"``.
    tolerance : float
        Residual of an iteration, relative to the first eigenvalue; 0: exact, to a residual of
        1e-10.
    whiten : bool
        Whether `transform` gives scores of unit variance.

    Attributes
    ----------
    solver_ : str
        The solver that was used.

    Notes
    -----
    With n rows, d columns and r the smaller: nr² flops and r² numbers by the Gram matrix. By block
    Krylov 4ndk for each of about ten iterations, and 12 r(k + 5) numbers. By LAPACK about 20 nr²
    flops and a copy of X.

    Examples
    --------
    >>> import numpy as np
    >>> from orthobench.estimators import PCA
    >>> X = np.random.default_rng(0).standard_normal((300, 8)) * np.linspace(3, 1, 8)
    >>> scores = PCA(n_components=2).fit_transform(X)
    >>> bool(abs(np.corrcoef(scores.T)[0, 1]) < 1e-12)
    True
    """

    def __init__(
        self,
        n_components: float | None = None,
        *,
        solver: str = "auto",
        tolerance: float = 0.0,
        whiten: bool = False,
    ) -> None:
        self.n_components = n_components
        self.solver, self.tolerance, self.whiten = solver, tolerance, whiten

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of X (n, d), an array, a table or a sparse matrix; `y` is ignored.

        Raises
        ------
        UsageError
            If `n_components` does not fit the shape, or the solver is unknown.
        ValueError
            If X is no finite real matrix of at least two rows.
        """
        self._fitted(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return the scores (n, k) of the rows of X, which are fitted."""
        return self._transform(self._fitted(X), xp=np)

    def _fitted(self, X: Any) -> Any:
        X = _validated(self, X, ensure_min_samples=2)
        rows, d = X.shape
        share = _share(self.n_components)
        most = min(rows, d)
        asked = self.n_components is not None and not share
        k = whole(self.n_components, "n_components", 1, most, _of(X)) if asked else most
        found = _decomposed(X, k, self, center=True)
        variance = found.sizes**2 / (rows - 1)
        ratio = variance / (found.total / (rows - 1) or 1.0)
        if share:
            k = min(k, int(np.searchsorted(np.cumsum(ratio), share, side="right")) + 1)
        self.solver_, self.mean_ = found.solver, found.mean
        self.n_components_, self.n_samples_ = k, rows
        self.components_ = np.ascontiguousarray(found.V[:, :k].T)
        self.explained_variance_, self.singular_values_ = variance[:k], found.sizes[:k]
        self.explained_variance_ratio_ = ratio[:k]
        rest = max(found.total / (rows - 1) - float(variance[:k].sum()), 0.0)
        self.noise_variance_ = rest / (most - k) if k < most else 0.0
        return X

    def __sklearn_tags__(self) -> Any:
        return _tags(super(_Base, self).__sklearn_tags__())


class TruncatedSVD(decomposition.TruncatedSVD):  # type: ignore[misc]
    """Leading singular vectors of a matrix that is not centred, exact by default.

    Attributes and methods are those of `sklearn.decomposition.TruncatedSVD`; parameters,
    ``solver_`` and cost those of `PCA`.
    """

    def __init__(
        self, n_components: int = 2, *, solver: str = "auto", tolerance: float = 0.0
    ) -> None:
        self.n_components, self.solver, self.tolerance = n_components, solver, tolerance

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the singular vectors of X (n, d), and return the scores (n, k) of its rows.

        Raises as `PCA.fit`, for at least two columns.
        """
        X = _validated(self, X, ensure_min_features=2)
        k = whole(self.n_components, "n_components", 1, min(X.shape), _of(X))
        found = _decomposed(X, k, self, center=False)
        self.solver_, self.components_ = found.solver, np.ascontiguousarray(found.V.T)
        self.singular_values_ = found.sizes
        scores = safe_sparse_dot(X, found.V)
        means = np.asarray(X.mean(axis=0), np.float64).ravel()
        total = max(found.total / len(scores) - float(means @ means), 0.0)
        self.explained_variance_ = scores.var(axis=0)
        self.explained_variance_ratio_ = self.explained_variance_ / (total or 1.0)
        return scores

    def __sklearn_tags__(self) -> Any:
        return _tags(super().__sklearn_tags__())


def _validated(estimator: Any, X: Any, **least: int) -> Any:
    return validate_data(
        estimator, X, dtype=[np.float64, np.float32], accept_sparse=("csr", "csc"),
        ensure_all_finite=False, **least,
    )  # fmt: skip


def _decomposed(X: Any, k: int, estimator: Any, *, center: bool) -> Decomposition:
    tolerance = checked_tolerance(estimator.tolerance)
    try:
        return decomposed(X, k, center, estimator.solver, tolerance)
    except DataError:
        assert_all_finite(X, input_name="X", estimator_name=type(estimator).__name__)
        raise


def _share(n_components: object) -> float:
    is_share = isinstance(n_components, float) and 0 < n_components < 1
    return float(n_components) if is_share else 0.0  # type: ignore[arg-type]


def _of(X: Any) -> str:
    return f": X is of shape {X.shape}"


def _tags(tags: Any) -> Any:
    tags.input_tags.sparse, tags.array_api_support = True, False
    tags.transformer_tags.preserves_dtype = ["float64", "float32"]
    return tags
