"""Orthogonal tensor decomposition: T = sum_i w_i u_i ⊗ u_i ⊗ u_i with orthonormal u_i.

maximize sum_i T(u_i, u_i, u_i) over U'U = I, for a symmetric third-order tensor T (Shalit and
Chechik 2014, equation 8). Where T has such a decomposition with positive weights, its factors are
the global maximum, the sum of the weights. Signed permutations of them are strict local maxima
too, which their Theorem 3 overlooks: weights (1, 3) with U = [e2, -e1] give 2, not 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.arrays import Array
from orthobench.errors import DataError
from orthobench.parameters import parameter
from orthobench.problem import Instance, Oracle, Problem
from orthobench.solution import Solution

SYMMETRIC = 1e-10
"""Largest asymmetry, relative to the largest entry, of a tensor that counts as symmetric."""


class TensorOracle(Oracle):
    """A symmetric (n, n, n) tensor, of which n orthonormal factors are sought: k = n.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric. Do not write into it.
    """

    def __init__(self, T: Array) -> None:
        self.T = np.ascontiguousarray(T)
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
        The largest objective, where it is known.
    """

    def __init__(
        self, T: Array, factors: Array | None = None, optimum: float | None = None
    ) -> None:
        self.T, self.factors, self.optimum = T, factors, optimum
        self.norm = float(np.linalg.norm(T))

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics.

        ``residual`` is |T - sum_i T(u_i, u_i, u_i) u_i ⊗ u_i ⊗ u_i| / |T|, the smallest for these
        factors; ``objective`` is sum_i T(u_i, u_i, u_i). Where they are known also
        ``objective_gap``, relative to the optimum, and ``recovery_error``, the largest distance
        of a true factor from the factor matched to it, up to permutation and sign.
        """
        diagonal = contracted(self.T, solution.point)
        captured = float(diagonal @ diagonal)
        metrics = {
            "residual": math.sqrt(max(self.norm**2 - captured, 0.0)) / self.norm,
            "objective": float(diagonal.sum()),
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
    """
    if start == "random":
        return oracle.start.copy()
    if start == "identity":
        return np.eye(oracle.n)
    w = rng.standard_normal(oracle.n)
    return np.ascontiguousarray(np.linalg.eigh(oracle.T @ (w / np.linalg.norm(w)))[1])


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


def contracted(T: Array, U: Array) -> Array:
    """Return T(u, u, u) for each column u of `U`.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
    U : ndarray, shape (n, k)

    Notes
    -----
    2n³k flops.
    """
    first = (T.reshape(-1, len(T)) @ U).reshape(len(T), len(T), -1)
    values: Array = np.einsum("abk,ak,bk->k", first, U, U, optimize=True)
    return values


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
        Symmetric up to rounding; it is symmetrized exactly.
    factors : ndarray, shape (n, r), optional
        The true orthonormal factors, for the judge.
    weights : ndarray, shape (r,), optional
        Their weights; their sum is the optimum.

    Returns
    -------
    Instance
        Its metrics are those of `Judge`.

    Raises
    ------
    DataError
        Where T is no finite cubic real tensor, or is not symmetric; says by how much and where.
    """
    symmetric = _checked(T)
    optimum = None if weights is None else float(np.sum(weights))
    best: Mapping[str, float] = {} if optimum is None else {"objective_gap": 0.0}
    return Instance(TensorOracle(symmetric), Judge(symmetric, factors, optimum), best)


def _checked(T: NDArray[np.generic]) -> Array:
    if np.ndim(T) != 3 or len(set(np.shape(T))) != 1 or not np.size(T):
        raise DataError(f"the tensor must be cubic (n, n, n), not of shape {np.shape(T)}")
    if np.asarray(T).dtype.kind not in "fiub":
        raise DataError(f"the tensor must hold real numbers, not {np.asarray(T).dtype}")
    tensor = np.asarray(T, dtype=np.float64)
    if not np.isfinite(tensor).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(tensor))[0])
        raise DataError(f"entry {at} of the tensor is {tensor[at]}; clean the data")
    if not tensor.any():
        raise DataError("the tensor is zero: there is nothing to decompose")
    return symmetrized(tensor)


def symmetrized(T: Array) -> Array:
    """Return the mean over all six permutations of the indices of an almost symmetric tensor.

    Raises
    ------
    DataError
        Where an entry differs from its mean by more than 1e-10 of the largest entry.
    """
    permutations = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    mean: Array = np.mean([T.transpose(p) for p in permutations], axis=0)
    off = np.abs(T - mean)
    if off.max() > SYMMETRIC * np.abs(T).max():
        at = tuple(int(i) for i in np.unravel_index(off.argmax(), off.shape))
        raise DataError(
            f"the tensor is not symmetric: entry {at} differs by {off.max():.3g} from the mean "
            "over the permutations of its indices; pass that mean"
        )
    return mean
