"""Orthogonal tensor decomposition: T = sum_i w_i u_i ⊗ u_i ⊗ u_i with orthonormal u_i.

maximize sum_i T(u_i, u_i, u_i) over U'U = I, for a symmetric third-order tensor T (Shalit and
Chechik 2014, equation 8). Where T has such a decomposition with positive weights, its factors are
the global maximum, the sum of the weights. Signed permutations of them are strict local maxima
too, which their Theorem 3 overlooks: weights (1, 3) with U = [e2, -e1] give 2, not 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench import flops
from orthobench.arrays import Array, real
from orthobench.errors import DataError
from orthobench.families.symmetric_tensors import contracted as contracted
from orthobench.families.symmetric_tensors import norm, remainder
from orthobench.families.symmetric_tensors import symmetrized as symmetrized
from orthobench.geometry import drift
from orthobench.parameters import parameter
from orthobench.problem import Instance, Oracle, Problem
from orthobench.solution import Solution

LARGEST = 1e140
"""A tensor's largest entry lies between one over this and this, so that its norm is a number."""

ORTHONORMAL = 1e-8
"""Largest orthogonality defect |U'U - I|_F of true factors."""


class TensorOracle(Oracle):
    """A symmetric (n, n, n) tensor, of which n orthonormal factors are sought: k = n.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric, exactly: `symmetrized` returns it so. Do not write into it.
    """

    def __init__(self, T: Array) -> None:
        self.T = np.ascontiguousarray(T).view()
        self.T.flags.writeable = False
        self.n = self.k = len(T)


class OrthogonalTensor(Problem[TensorOracle]):
    """Base of the problems of this family: what its judge reports and what it ranks by."""

    family: ClassVar[str] = "orthogonal tensor"
    offers: ClassVar[type[TensorOracle]] = TensorOracle
    primary: ClassVar[str] = "residual"
    tuned_by: ClassVar[str] = "residual"


class Judge:
    """Measures decompositions: their objective, their residual, and their factors where known.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric.
    factors : ndarray, shape (n, r), optional
        The true factors, orthonormal columns.
    optimum : float, optional
        The largest objective, where it is known; not zero.

    Notes
    -----
    A call costs 4n⁴/3 flops, with the symmetry used, and memory n² beyond that of the tensor.
    """

    def __init__(
        self, T: Array, factors: Array | None = None, optimum: float | None = None
    ) -> None:
        self.T, self.factors, self.optimum = T, factors, optimum
        self.norm = norm(T)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics.

        ``residual`` is |T - sum_i T(u_i, u_i, u_i) u_i ⊗ u_i ⊗ u_i| / |T|, the smallest for these
        factors, from the difference itself; ``objective`` is sum_i T(u_i, u_i, u_i). Where they
        are known also ``objective_gap``, relative to the optimum, and ``recovery_error``, the
        largest distance of a true factor from the factor matched to it, up to permutation and
        sign.
        """
        weights = contracted(self.T, solution.point)
        metrics = {
            "residual": remainder(self.T, solution.point, weights) / self.norm,
            "objective": float(weights.sum()),
        }
        if self.optimum is not None:
            metrics["objective_gap"] = (self.optimum - metrics["objective"]) / abs(self.optimum)
        if self.factors is not None:
            metrics["recovery_error"] = recovery_error(solution.point, self.factors)
        return metrics


STARTS = ("random", "identity", "contraction")


def start_parameter(default: str = "random") -> Any:
    """Declare the parameter ``start`` of a solver of this family."""
    return parameter(
        default,
        help="first U: the common random one, identity, or eigenvectors of a random T(I, I, w)",
        choices=STARTS,
    )


def first_point(oracle: TensorOracle, start: str, rng: np.random.Generator) -> Array:
    """Return the orthogonal matrix that a solver begins with, a fresh array.

    Parameters
    ----------
    oracle : TensorOracle
    start : {"random", "identity", "contraction"}
        ``"contraction"``: the eigenvectors of T(I, I, w) for a random unit vector w, which
        are the factors themselves where T has a decomposition with distinct weights u_i'w w_i.
    rng : numpy.random.Generator
        Draws w.

    Notes
    -----
    `first_point_flops`.
    """
    if start == "random":
        return oracle.start.copy()
    if start == "identity":
        return np.eye(oracle.n)
    w = rng.standard_normal(oracle.n)
    return np.ascontiguousarray(np.linalg.eigh(oracle.T @ (w / np.linalg.norm(w)))[1])


def first_point_flops(n: int, start: str) -> int:
    """Return the flops of `first_point`: of a contraction 2n³ and an eigendecomposition, 9n³."""
    return flops.gemm(n**2, 1, n) + flops.eigh(n) if start == "contraction" else 0


def decomposition(U: Array, weights: Array) -> Solution:
    """Return factors with their weights, each u flipped where its weight is negative.

    Parameters
    ----------
    U : ndarray, shape (n, n)
        Orthonormal columns.
    weights : ndarray, shape (n,)
        T(u, u, u) of each.
    """
    signs = np.where(weights < 0, -1.0, 1.0)
    return Solution(U * signs, weights=weights * signs)


def recovery_error(U: Array, factors: Array) -> float:
    """Return the largest distance of a true factor from the column matched to it, up to sign.

    Columns are matched one to one so that the sum of the |inner products| is largest.

    Parameters
    ----------
    U : ndarray, shape (n, k)
    factors : ndarray, shape (n, r), r <= k
    """
    from scipy.optimize import linear_sum_assignment

    inner = factors.T @ U
    rows, columns = linear_sum_assignment(-np.abs(inner))
    signs = np.where(inner[rows, columns] < 0, -1.0, 1.0)
    return float(np.linalg.norm(factors[:, rows] - U[:, columns] * signs, axis=0).max())


def orthogonal_tensor(
    T: NDArray[np.generic],
    *,
    factors: Array | None = None,
    weights: Array | None = None,
) -> Instance[TensorOracle]:
    """Make an instance of your own symmetric third-order tensor.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric up to rounding; it is copied, and symmetrized exactly.
    factors : ndarray, shape (n, r), optional
        The true orthonormal factors, for the judge.
    weights : ndarray, shape (r,), optional
        Their weights; the sum of their absolute values is the optimum.

    Returns
    -------
    Instance
        Its metrics are those of `Judge`.

    Raises
    ------
    DataError
        Where T is no finite cubic real tensor, is zero, or is not symmetric, and says by how
        much and where; where factors are not orthonormal, or weights do not match them,
        or either are not real numbers.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> from orthobench.families.symmetric_tensors import composed
    >>> from orthobench.geometry import random_point
    >>> from orthobench.solution import Solution
    >>> U, w = random_point(5, 5, np.random.default_rng(0)), np.arange(1.0, 6.0)
    >>> instance = ob.orthogonal_tensor(composed(U, w), factors=U, weights=w)
    >>> metrics = instance.measure(Solution(U))
    >>> bool(metrics["residual"] < 1e-14), round(metrics["objective"], 9)
    (True, 15.0)
    """
    symmetric = symmetrized(_checked(T))
    known = None if factors is None else _checked_factors(factors, len(symmetric))
    optimum = None if weights is None else _optimum(weights, known, len(symmetric))
    best: Mapping[str, float] = {} if optimum is None else {"objective_gap": 0.0}
    return Instance(TensorOracle(symmetric), Judge(symmetric, known, optimum), best)


def _checked(T: NDArray[np.generic]) -> Array:
    if np.ndim(T) != 3 or len(set(np.shape(T))) != 1 or not np.size(T):
        raise DataError(f"the tensor must be cubic (n, n, n), not of shape {np.shape(T)}")
    if np.asarray(T).dtype.kind not in "fiub":
        raise DataError(f"the tensor must hold real numbers, not {np.asarray(T).dtype}")
    tensor = np.asarray(T, dtype=np.float64)
    if not np.isfinite(tensor).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(tensor))[0])
        raise DataError(f"entry {at} of the tensor is {tensor[at]}; clean the data")
    largest = np.abs(tensor).max()
    if largest == 0:
        raise DataError("the tensor is zero: there is nothing to decompose")
    if not 1 / LARGEST <= largest <= LARGEST:
        raise DataError(
            f"the largest entry of the tensor is {largest:.3g}: rescale it, so that squares "
            "neither overflow nor vanish"
        )
    return tensor


def _checked_factors(factors: Array, n: int) -> Array:
    known = real(factors, "the true factors")
    if known.ndim != 2 or len(known) != n or not 1 <= known.shape[1] <= n:
        raise DataError(
            f"the true factors must be of shape ({n}, r), r <= {n}, not {np.shape(factors)}"
        )
    defect = drift(known)
    if not defect <= ORTHONORMAL:
        raise DataError(f"the true factors are not orthonormal: |U'U - I| = {defect:.3g}")
    return known


def _optimum(weights: Array, factors: Array | None, n: int) -> float:
    """Return the sum of the absolute weights: a factor turns with the sign of its weight."""
    known = real(weights, "the true weights")
    columns = f"at most {n}" if factors is None else str(factors.shape[1])
    fits = known.size <= n if factors is None else known.size == factors.shape[1]
    if known.ndim != 1 or not fits:
        raise DataError(f"there must be {columns} weights, not of shape {np.shape(weights)}")
    optimum = float(np.abs(known).sum())
    if not 0 < optimum < np.inf:
        raise DataError("the true weights must be finite and not all zero")
    return optimum
