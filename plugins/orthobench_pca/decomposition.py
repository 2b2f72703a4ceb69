"""Principal components for the estimators."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from orthobench_kit.arpack import leading_eigenpairs
from orthobench_kit.estimating import point_of, solver_named
from orthobench_kit.signs import signs

from orthobench.contract import Array, UsageError, complete
from orthobench_pca.matrices import Dense, Sparse
from orthobench_pca.oracle import PCAOracle, finite
from orthobench_pca.scatter import (
    centred,
    inner_products,
    leading,
    refuse_large,
    right_vectors,
    scatter,
)

GRAM, KRYLOV, LANCZOS, SVD = "gram-pca", "block-krylov", "scipy-eigsh", "svd"
"""The solvers that ``"auto"`` chooses from."""

TOLERANCE = 1e-9
"""Residual of block Krylov, over the first eigenvalue, that is exact."""

PRODUCTS = 100.0
"""Cost of block Krylov for a column, in products (`benchmarks/test_estimators.py`)."""

KRYLOV_SIDE = 1000
"""Minimum smaller side for which products with blocks are fast."""

FEW = 10
"""Minimum smaller side per component for Lanczos iterations on a sparse matrix."""

SQUARE = 2
"""Ratio of sides below which noise has tiny singular values."""

OVERSAMPLING = 6
"""Minimum number of columns of a block beyond those sought."""

WELL = {"float32": 1e-3, "float64": 1e-6}
"""Relative eigenvalue of the Gram matrix above which squares lose no digits."""

DEAR = 1e11
"""Maximum flops of LAPACK's decomposition as an automatic replacement."""


class Decomposition(NamedTuple):
    """Leading singular vectors V (d, k) and values `sizes` (k,) of a matrix less its `mean` (d,).

    In each column the entry of largest absolute value is positive. `total` is the sum of the
    squares of all singular values.
    """

    V: Any
    sizes: Any
    total: float
    mean: Any
    solver: str


def decomposed(X: Any, k: int, center: bool, solver: str, tolerance: float) -> Decomposition:
    """Return the k leading singular vectors and values of X, or of X less its means.

    Parameters
    ----------
    X : ndarray, CSR or CSC matrix, shape (n, d)
        In float32 or float64, which is also the precision of the result.
    solver : str
        ``"auto"``, ``"svd"``, or a solver of the family. ``"auto"`` is the cheapest for the shape,
        k and tolerance: Gram matrix, block Krylov or, for sparse X, Lanczos. LAPACK follows if the
        square of a singular value loses its digits.
    tolerance : float
        Residual of iterations, over the first eigenvalue; 0: exact.

    Raises
    ------
    UsageError
        If the solver is unknown, or cannot take X.
    DataError
        If X has entries that are not finite, or whose squares overflow.
    """
    oracle = PCAOracle((Dense if isinstance(X, np.ndarray) else Sparse)(X, X.dtype), k, center)
    chosen = _choice(oracle, tolerance) if solver == "auto" else solver
    if chosen == SVD:
        return _by_svd(oracle)
    if chosen == GRAM:
        found = _by_gram(oracle)
    elif chosen == LANCZOS and oracle.sparse:
        found = _by_lanczos(oracle, tolerance)
    else:
        found = _by_solver(oracle, chosen, tolerance)
    floor = WELL[X.dtype.name] ** 0.5 * found.sizes[0]
    needed = min(k, oracle.rows - center)  # centred rows add up to zero
    if solver != "auto" or not needed or found.sizes[needed - 1] > floor:
        return found
    side, other = sorted(oracle.matrix.shape)
    if 20 * side**2 * other <= DEAR:
        return _by_svd(oracle)
    warnings.warn(
        f"singular values below {floor:.2g} are rounding: pass fewer components, or solver='svd'",
        stacklevel=4,
    )
    return found


def _choice(oracle: PCAOracle, tolerance: float) -> str:
    (side, other), k = sorted(oracle.matrix.shape), oracle.k
    if oracle.sparse:
        return LANCZOS if k * FEW <= side else GRAM
    if 2 * k > side and other < SQUARE * side:
        return SVD
    digits = max(1.0, -math.log10(max(tolerance, TOLERANCE)))
    products = PRODUCTS * digits / -math.log10(TOLERANCE)
    cheap = side * (side + other) > products * (k + 5) * other
    return KRYLOV if cheap and side >= KRYLOV_SIDE else GRAM


def _by_gram(oracle: PCAOracle) -> Decomposition:
    refuse_large(oracle)
    rows, d, k = oracle.rows, oracle.n, oracle.k
    if d <= rows:
        C, mean = _moment(oracle)
    else:
        C, mean = inner_products(oracle), oracle.mean()
    total = float(finite(C.diagonal(), oracle.matrix).sum(dtype=np.float64))
    wanted = max(1, min(k, rows - oracle.center))
    if 3 * wanted > len(C):
        values, vectors = (part[..., ::-1] for part in np.linalg.eigh(C, UPLO="U"))
        values, vectors = values[:wanted], vectors[:, :wanted]
    else:
        values, vectors = leading(C, wanted)
    sizes = np.sqrt(np.maximum(values, 0.0))
    if d > rows:
        kept = values > rows * np.finfo(values.dtype).eps * values[0]
        vectors = right_vectors(oracle, vectors[:, kept])
    return _decomposition(oracle, vectors, sizes, total, mean, GRAM)


def _moment(oracle: PCAOracle) -> tuple[Any, Any]:
    X = oracle.X
    if oracle.sparse or not (X.flags.c_contiguous or X.flags.f_contiguous):
        return scatter(oracle), oracle.mean()
    with np.errstate(invalid="ignore", over="ignore"):
        C = X.T @ X
        mean = (np.ones(oracle.rows, X.dtype) @ X).astype(np.float64) / oracle.rows
        finite(C.diagonal(), oracle.matrix)
    return (centred(oracle, C, mean), mean) if oracle.center else (C, np.zeros(oracle.n))


def _by_lanczos(oracle: PCAOracle, tolerance: float) -> Decomposition:
    from scipy.sparse.linalg import LinearOperator

    X, transposed, mean = oracle.X, oracle.X.T, oracle.mean().astype(oracle.matrix.dtype)

    def outer(v: Any) -> Any:
        u = X @ v
        u -= mean @ v
        return transposed @ u  # whose entries add up to zero: the means need not be subtracted

    def inner(u: Any) -> Any:
        w = transposed @ u
        w -= mean * u.sum()
        v = X @ w
        v -= mean @ w
        return v

    side, rng = min(X.shape), np.random.default_rng(0)
    if oracle.k >= side:
        raise UsageError(f"{LANCZOS} takes fewer components than min(rows, columns) = {side}")
    apply = outer if oracle.n == side else inner
    A = LinearOperator((side, side), matvec=apply, dtype=X.dtype)
    v0 = rng.standard_normal(side).astype(X.dtype)
    wanted = max(1, min(oracle.k, oracle.rows - oracle.center))
    values, V = leading_eigenpairs(A, wanted, rng, tol=tolerance, v0=v0)
    sizes = np.sqrt(np.maximum(values, 0.0))
    V = V if oracle.n == side else right_vectors(oracle, V)
    return _decomposition(oracle, V, sizes, _total(oracle), oracle.mean(), LANCZOS)


def _by_svd(oracle: PCAOracle) -> Decomposition:
    from scipy.linalg import svd

    if oracle.sparse and 20 * oracle.rows * oracle.n * min(oracle.rows, oracle.n) > DEAR:
        raise UsageError("solver='svd' would make this sparse matrix dense: pass another solver")
    Z = oracle.matrix.rows(0, oracle.rows) - oracle.mean().astype(oracle.matrix.dtype)
    _, sizes, right = svd(
        finite(Z, oracle.matrix), full_matrices=False, overwrite_a=True, check_finite=False
    )
    total = float(np.sum(sizes**2, dtype=np.float64))
    V = np.ascontiguousarray(right[: oracle.k].T)
    return _decomposition(oracle, V, sizes[: oracle.k], total, oracle.mean(), SVD)


def _by_solver(oracle: PCAOracle, name: str, tolerance: float) -> Decomposition:
    from orthobench_pca import orthobench_solvers

    settings: dict[str, float] = {"tolerance": tolerance} if tolerance else {}
    if name == KRYLOV:
        columns = oracle.k + OVERSAMPLING
        settings = {
            "tolerance": max(tolerance, TOLERANCE),
            "oversampling": OVERSAMPLING + -columns % 4,
        }
    solver = solver_named(name, orthobench_solvers(), ("auto", SVD), **settings)
    V = point_of(solver, oracle, np.eye(oracle.n, oracle.k))
    scores = oracle.times(V)
    _, sizes, rotation = np.linalg.svd(np.linalg.qr(scores, mode="r"))
    return _decomposition(oracle, V @ rotation.T, sizes, _total(oracle), oracle.mean(), name)


def _total(oracle: PCAOracle) -> float:
    mean, matrix = oracle.mean(), oracle.matrix
    shift = oracle.rows * float(mean @ mean)
    parts = [matrix.X.data] if oracle.sparse else [block for _, block in matrix.blocks()]
    total = sum(float(np.vdot(part, part)) for part in parts) - shift
    if shift < total or oracle.sparse:
        return max(total, 0.0)
    mean = mean.astype(matrix.dtype)
    return sum(float(np.vdot(Z, Z)) for Z in (block - mean for _, block in matrix.blocks()))


def _decomposition(
    oracle: PCAOracle, V: Any, sizes: Any, total: float, mean: Array, solver: str
) -> Decomposition:
    """Return all k vectors; those beyond the rank complete the basis."""
    k, dtype = oracle.k, oracle.matrix.dtype
    if V.shape[1] < k:
        V = complete(V, np.eye(oracle.n, k, dtype=V.dtype), k)
    every = np.zeros(k)
    every[: len(sizes)] = sizes[:k]
    flipped = (V * signs(V)).astype(dtype, copy=False)
    return Decomposition(flipped, every.astype(dtype), total, mean.astype(dtype), solver)
