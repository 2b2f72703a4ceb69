"""Makes instances of your own tensor, and judges them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.symmetric_tensors import (
    checked_orthonormal,
    checked_tensor,
    contracted,
    norm,
    partly_contracted,
    residual_norm,
    symmetrized,
)

from orthobench.contract.problem import Instance, Solution
from orthobench.errors import DataError
from orthobench.tools.arrays import Array
from orthobench.tools.reading import real
from orthobench_orthogonal_tensor.oracle import AnyOrderOracle, FourthOrderOracle, TensorOracle
from orthobench_orthogonal_tensor.result import factorization


class Judge:
    """Measures decompositions of a tensor, and their factors if the true ones are known.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric.
    factors : ndarray, shape (n, r), optional
        The true factors, orthonormal columns.
    optimum : float, optional
        The maximum of the objective; not zero.

    Notes
    -----
    2n⁴ flops a call; memory n².
    """

    def __init__(
        self, T: Array, factors: Array | None = None, optimum: float | None = None
    ) -> None:
        self.T, self.factors, self.optimum = T, factors, optimum
        self.norm = norm(T)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``residual``, the primary one, first.

        ``residual`` is |T - sum_i T(u_i, u_i, u_i) u_i ⊗ u_i ⊗ u_i| / |T|, with the best weights
        for these factors; ``objective`` is sum_i T(u_i, u_i, u_i). If the optimum is known,
        ``objective_gap`` is relative to it. If the true factors are known, there is
        ``recovery_error`` (`recovery_error`). The gradient of the objective on the orthogonal
        group, |skew(U'[T(I, u_i, u_i)]_i)| / |T|, is ``relative_gradient``. It is not zero for
        methods that find one factor after the other, unless T has orthogonal factors.
        """
        weights = contracted(self.T, solution.point)
        metrics = {
            "residual": residual_norm(self.T, solution.point, weights) / self.norm,
            "objective": float(weights.sum()),
        }
        if self.optimum is not None:
            metrics["objective_gap"] = (self.optimum - metrics["objective"]) / abs(self.optimum)
        if self.factors is not None:
            metrics["recovery_error"] = recovery_error(solution.point, self.factors)
        inner = solution.point.T @ partly_contracted(self.T, solution.point)
        metrics["relative_gradient"] = float(np.linalg.norm(inner - inner.T)) / 2 / self.norm
        return metrics


def recovery_error(U: Array, factors: Array) -> float:
    """Return the maximum distance of a true factor (n, r) from its column of U (n, k), up to sign.

    Columns are matched one to one so that the sum of the absolute inner products is largest. 2nkr
    flops, and an assignment problem of size (r, k).
    """
    from scipy.optimize import linear_sum_assignment

    inner = factors.T @ U
    rows, columns = linear_sum_assignment(-np.abs(inner))
    signs = np.where(inner[rows, columns] < 0, -1.0, 1.0)
    return float(np.linalg.norm(factors[:, rows] - U[:, columns] * signs, axis=0).max())


LARGEST = 1e140
"""Bound on the largest entry of a tensor, and on its inverse, for finite norms."""


def orthogonal_tensor(
    T: NDArray[np.generic], *, factors: Array | None = None, weights: Array | None = None
) -> Instance[AnyOrderOracle]:
    """Make an instance of your own symmetric tensor of order 3 or 4.

    Parameters
    ----------
    T : ndarray, shape (n, n, n) or (n, n, n, n)
        Symmetric up to rounding in single precision; it is copied, and symmetrized.
    factors : ndarray, shape (n, r), optional
        The true orthonormal factors, for the judge.
    weights : ndarray, shape (r,), optional
        The true weights. The sum of their absolute values is the optimum, unless some are negative
        and the order is 4.

    Returns
    -------
    Instance
        Its metrics are those of `orthobench_orthogonal_tensor.maker.Judge`.

    Raises
    ------
    DataError
        If T is not a finite, real tensor of equal sides, is zero, or is not symmetric. If factors
        or weights are not real numbers, the factors are not orthonormal, or the weights do not
        match them.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> from orthobench_kit.symmetric_tensors import composed
    >>> from orthobench.tools.geometry import random_point
    >>> from orthobench.contract.problem import Solution
    >>> U, w = random_point(5, 5, np.random.default_rng(0)), np.arange(1.0, 6.0)
    >>> instance = ob.orthogonal_tensor(composed(U, w), factors=U, weights=w)
    >>> metrics = instance.measure(Solution(U))
    >>> bool(metrics["residual"] < 1e-14), round(metrics["objective"], 9)
    (True, 15.0)
    """
    tensor = checked_tensor(T, 3, 4, "cubic (n, n, n), or (n, n, n, n)")
    largest = np.abs(tensor).max()
    if not 1 / LARGEST <= largest <= LARGEST:
        raise DataError(
            f"the largest entry of the tensor is {largest:.3g}: rescale it, so that squares "
            "neither overflow nor vanish"
        )
    third = tensor.ndim == 3
    symmetric = symmetrized(tensor)
    known = None
    if factors is not None:
        known = checked_orthonormal(factors, len(symmetric), "the true factors")
    optimum = None if weights is None else _optimum(weights, known, len(symmetric), odd=third)
    best: Mapping[str, float] = {} if optimum is None else {"objective_gap": 0.0}
    oracle = (TensorOracle if third else FourthOrderOracle)(symmetric)
    judge = Judge(symmetric, known, optimum)
    return Instance(oracle, judge, best, result=partial(factorization, oracle))


def _optimum(weights: Array, factors: Array | None, n: int, *, odd: bool) -> float | None:
    """Return the sum of the absolute weights; None if there is no closed form.

    For odd order -u has the negative weight of u. For even order a negative weight lowers the
    objective, and other columns than the factors raise it.
    """
    known = real(weights, "the true weights")
    columns = f"at most {n}" if factors is None else str(factors.shape[1])
    fits = known.size <= n if factors is None else known.size == factors.shape[1]
    if known.ndim != 1 or not fits:
        raise DataError(f"there must be {columns} weights, not of shape {np.shape(weights)}")
    optimum = float(np.abs(known).sum())
    if not 0 < optimum < np.inf:
        raise DataError("the true weights must be finite and not all zero")
    return optimum if odd or known.min() >= 0 else None
