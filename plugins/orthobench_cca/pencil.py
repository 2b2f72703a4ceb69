"""Generalized eigenvectors: oracle, judge and maker."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from orthobench_kit.polar import inverse_root_on_range
from orthobench_kit.reading import array_of
from orthobench_kit.symmetric_tensors import symmetric_matrices

from orthobench.contract import Array, DataError, Instance, Oracle, Solution
from orthobench.tools.arrays import check_rows, matrix, whole
from orthobench.tools.geometry import random_point
from orthobench_cca.covariances import SINGULAR, normalized, tied
from orthobench_cca.judge import dependent, distance
from orthobench_cca.result import eigenvectors

UNSURE = 1e8
"""Condition number of B that costs half of the digits."""

SMALL = 64
"""Size of the matrices of a warm-up, beyond 2k."""

COMMON = 1e-8
"""Relative norm of A on the null space of B that counts as zero."""


class PencilOracle(Oracle):
    """Symmetric matrices A and B (n, n).

    B is positive semidefinite, and A vanishes on its null space.
    """

    shows: ClassVar[Mapping[str, str]] = {
        "A": "a symmetric matrix (n, n)",
        "B": "a positive definite one, in whose metric the point has orthonormal columns",
    }

    def __init__(self, A: Array, B: Array, k: int) -> None:
        self.A, self.B, self.n, self.k = A, B, len(A), k
        for each in (A, B):
            each.flags.writeable = False

    def miniature(self) -> PencilOracle:
        """Return a pencil of a few random numbers."""
        rng, n = np.random.default_rng(0), min(self.n, SMALL + 2 * self.k)
        X, Y = rng.standard_normal((2, 2 * n, n))
        small = PencilOracle(X.T @ X, Y.T @ Y, self.k)
        small.start = random_point(small.n, small.k, rng)
        return small


class PencilJudge:
    """Measures the span of a point, normalized in the metric B."""

    def __init__(self, A: Array, B: Array, k: int) -> None:
        self.A, self.B = A, B
        root, values, vectors = spectrum(A, B)
        self.first, end = tied(values[::-1], k)
        end = max(k, end)
        self.values, self.vectors = values[: -k - 1 : -1], root @ vectors[:, : -end - 1 : -1]

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``suboptimality``, the primary one, first.

        ``suboptimality`` is 1 - tr(X'AX) over the sum of the k largest eigenvalues. ``error`` is
        the distance of the span of X from that of the nearest leading eigenvectors, in the metric
        B.
        """
        X = normalized(solution.point, self.B)
        return {
            "suboptimality": 1 - float(np.vdot(X, self.A @ X)) / float(self.values.sum()),
            "error": distance(X, self.vectors, self.B, self.first),
        }

    def violation(self, solution: Solution) -> float:
        """Return 0 if the columns are independent, and 1 otherwise."""
        return float(dependent(solution.point))


def leading(A: Array, B: Array, k: int) -> Array:
    """Return the eigenvectors X (n, k) of AX = BX diag(values) of largest values, X'BX = I."""
    root, _, vectors = spectrum(A, B)
    return np.asarray(root @ vectors[:, : -k - 1 : -1])


def spectrum(A: Array, B: Array) -> tuple[Array, Array, Array]:
    """Return B^-½ on the range of B, and eigenvalues (ascending) and vectors of B^-½ A B^-½.

    27n³ flops with products.
    """
    root = inverse_root_on_range(B, SINGULAR)
    values, vectors = np.linalg.eigh(root @ A @ root)
    return root, values, vectors


def generalized_eigenvectors(A: ArrayLike, B: ArrayLike, k: int) -> Instance[PencilOracle]:
    """Make a generalized eigenvalue problem: maximize tr(X'AX) subject to X'BX = I.

    Its solutions X (n, k) span the eigenvectors of AX = BX diag(values) of the largest values.

    Parameters
    ----------
    A : array_like, shape (n, n)
        Symmetric, up to rounding in single precision.
    B : array_like, shape (n, n)
        Likewise, and positive semidefinite; A must vanish on its null space.
    k : int
        Number of eigenvectors, whose eigenvalues must be positive.

    Returns
    -------
    Instance
        With the metrics of `orthobench_cca.pencil.PencilJudge`.

    Raises
    ------
    UsageError
        If k is out of range.
    DataError
        If A or B is not a finite, real, symmetric matrix, or the shapes differ; if B has a
        negative eigenvalue, or a null space on which A does not vanish; or if fewer than k
        eigenvalues are positive.

    Warns
    -----
    UserWarning
        If B is so ill-conditioned that eigenvalues have few digits.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> from orthobench_cca import generalized_eigenvectors
    >>> pencil = generalized_eigenvectors(np.diag([6.0, 4.0, 1.0]), np.diag([1.0, 2.0, 1.0]), k=1)
    >>> outcome = ob.solve("generalized-exact", pencil)
    >>> np.abs(outcome.solution).round(6).ravel().tolist()
    [1.0, 0.0, 0.0]
    """
    A, B = _symmetric(A, "A"), _symmetric(B, "B")
    if A.shape != B.shape:
        raise DataError(f"A is of shape {A.shape} and B of {B.shape}: they must be the same")
    k = whole(k, "k", 1, len(A))
    _check_metric(A, B)
    judge = PencilJudge(A, B, k)
    if not judge.values[-1] > SINGULAR * judge.values[0]:
        positive = int(np.count_nonzero(judge.values > SINGULAR * abs(judge.values[0])))
        raise DataError(f"only {positive} eigenvalues are positive: k = {k} is too large")
    best = {"suboptimality": 0.0, "error": 0.0}
    oracle = PencilOracle(A, B, k)
    result = partial(eigenvectors, oracle)
    return Instance(oracle, judge, best, violation=judge.violation, result=result)


def _check_metric(A: Array, B: Array) -> None:
    spread = np.linalg.eigvalsh(B)
    rounding = SINGULAR * float(np.abs(spread).max())
    if not spread[-1] > rounding or spread[0] < -rounding:
        raise DataError(
            f"B has the eigenvalue {spread[0]:.3g}, and the largest is {spread[-1]:.3g}: it must "
            "be positive semidefinite, and not zero"
        )
    positive = spread > rounding
    null = B[:, :0] if positive.all() else np.linalg.eigh(B)[1][:, ~positive]
    if np.linalg.norm(A @ null) > COMMON * np.linalg.norm(A):
        raise DataError(
            f"B has rank {int(positive.sum())} of {len(B)}, and A does not vanish where B does: "
            "eigenvalues there are infinite; pass Q'AQ and Q'BQ for a basis Q of the directions "
            "that you mean"
        )
    condition = float(spread[-1] / spread[positive][0])
    if condition > UNSURE:
        warnings.warn(
            f"B has the condition number {condition:.1e}: an eigenvalue in a direction where B is "
            f"small may be wrong by {condition * np.finfo(np.float64).eps:.0e} of the largest",
            stacklevel=3,
        )


def _symmetric(data: ArrayLike, name: str) -> Array:
    what = f"the rows of {name}"
    S = matrix(array_of(data, what), what).astype(np.float64)
    check_rows(S, what=f"row of {name}")
    return symmetric_matrices(S, name)
