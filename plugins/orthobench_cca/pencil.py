"""Generalized eigenvectors: oracle, judge, and the maker of instances of your own matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from orthobench_kit.polar import inverse_root

from orthobench.contract import Array, DataError, Instance, Oracle, Solution
from orthobench.tools.arrays import array_of, check_rows, matrix, whole
from orthobench_cca.covariances import SINGULAR, normalized
from orthobench_cca.judge import dependent, distance

SYMMETRIC = 1e-10
"""Asymmetry of a matrix, relative to its largest entry, that is taken for rounding."""


class PencilOracle(Oracle):
    """Symmetric matrices A and B, B positive definite, whose leading eigenvectors are sought.

    Parameters
    ----------
    A, B : ndarray, shape (n, n)
    k : int
    """

    def __init__(self, A: Array, B: Array, k: int) -> None:
        self.A, self.B, self.n, self.k = A, B, len(A), k
        for each in (A, B):
            each.flags.writeable = False


class PencilJudge:
    """Measures the span of a point, normalized in the metric B.

    Parameters
    ----------
    A, B : ndarray, shape (n, n)
    k : int
    """

    def __init__(self, A: Array, B: Array, k: int) -> None:
        self.A, self.B = A, B
        self.values, self.vectors = leading(A, B, k)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``suboptimality``, the primary one, first.

        ``suboptimality`` is 1 - tr(X'AX) over the sum of the k largest eigenvalues; ``error`` is
        the distance of the span of X from that of the eigenvectors, in the metric B.
        """
        X = normalized(solution.point, self.B)
        return {
            "suboptimality": 1 - float(np.vdot(X, self.A @ X)) / float(self.values.sum()),
            "error": distance(X, self.vectors, self.B),
        }

    def violation(self, solution: Solution) -> float:
        """Return 0 where the columns are independent, and otherwise 1."""
        return float(dependent(solution.point))


def leading(A: Array, B: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues of AX = BX diag(values), and X with X'BX = I."""
    root = inverse_root(B, SINGULAR)
    values, vectors = np.linalg.eigh(root @ A @ root)
    return values[: -k - 1 : -1], root @ vectors[:, : -k - 1 : -1]


def generalized_eigenvectors(A: ArrayLike, B: ArrayLike, k: int) -> Instance[PencilOracle]:
    """Make a generalized eigenvalue problem: maximize tr(X'AX) subject to X'BX = I.

    Its solutions X (n, k) span the eigenvectors of AX = BX diag(values) of the largest values.
    Fisher's discriminants are those of the scatter between classes and within them; canonical
    variables are those of the covariances between two sets and within them, for which `cca` has
    methods that use the two halves.

    Parameters
    ----------
    A : array_like, shape (n, n)
        Symmetric.
    B : array_like, shape (n, n)
        Symmetric and positive definite.
    k : int
        Number of eigenvectors, whose eigenvalues must be positive.

    Returns
    -------
    Instance
        Its metrics are those of `orthobench_cca.pencil.PencilJudge`.

    Raises
    ------
    UsageError
        Where k is out of range.
    DataError
        Where A or B is no finite, real and symmetric matrix, or of another shape than the other;
        where B is not positive definite; where fewer than k eigenvalues are positive.

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
    spread = np.linalg.eigvalsh(B)
    if not spread[0] > SINGULAR * abs(spread[-1]):
        raise DataError("B is not positive definite: add a multiple of the identity to it")
    judge = PencilJudge(A, B, k)
    if not judge.values[-1] > SINGULAR * judge.values[0]:
        positive = int(np.count_nonzero(judge.values > SINGULAR * abs(judge.values[0])))
        raise DataError(f"only {positive} eigenvalues are positive: k = {k} is too large")
    best = {"suboptimality": 0.0, "error": 0.0}
    return Instance(PencilOracle(A, B, k), judge, best, violation=judge.violation)


def _symmetric(data: ArrayLike, name: str) -> Array:
    what = f"the rows of {name}"
    S = matrix(array_of(data, what), what).astype(np.float64)
    check_rows(S, what=f"row of {name}")
    if S.shape[0] != S.shape[1] or np.abs(S - S.T).max() > SYMMETRIC * np.abs(S).max():
        raise DataError(f"{name} must be a symmetric matrix")
    return (S + S.T) / 2
