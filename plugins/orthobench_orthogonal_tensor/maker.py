"""Makes instances of your own tensor, and judges them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.reading import real
from orthobench_kit.symmetric_tensors import (
    checked_orthonormal,
    checked_tensor,
    symmetrized,
)

from orthobench.contract.problem import Instance
from orthobench.errors import DataError
from orthobench.tools.arrays import Array
from orthobench_orthogonal_tensor.judge import Judge
from orthobench_orthogonal_tensor.oracle import AnyOrderOracle, FourthOrderOracle, TensorOracle
from orthobench_orthogonal_tensor.result import factorization

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
        With the metrics of `orthobench_orthogonal_tensor.judge.Judge`.

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
