"""Principal components, variances, mean and rank of a matrix, from a judged point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from orthobench_kit.signs import signs

from orthobench.contract import Array, Result, Solution
from orthobench_pca.matrices import Dense
from orthobench_pca.oracle import PCAOracle
from orthobench_pca.scatter import inner_products, scatter

SQUARED = 1e-9
"""Relative eigenvalue of a Gram matrix from which on a singular value is no rounding."""

DEAR = 3e10
"""Flops of a Gram matrix beyond which no rank is computed."""


@dataclass(frozen=True, repr=False, eq=False)
class PCAResult(Result):
    """Principal components of a matrix.

    Attributes
    ----------
    components : ndarray, shape (d, k)
        Orthonormal columns, the largest variance first. In each the entry of largest absolute value
        is positive.
    variance : ndarray, shape (k,)
        Of the scores, with the divisor n - 1, in the unit of X squared; of scaled columns, if they
        are scaled, and mean squares times n / (n - 1), if they are not centred.
    mean : ndarray, shape (d,)
        What was subtracted from X; zero if it was not centred.
    rank : int or None
        Of X as it was decomposed: the number of singular values beyond rounding. None if all
        components have variance, and the others take more than a second to compute.
    """

    components: Annotated[Array, "orthonormal columns, the largest variance first"]
    variance: Annotated[Array, "unit of X squared, divisor n - 1"]
    mean: Annotated[Array, "unit of X; zero if X was not centred"]
    rank: Annotated[int | None, "singular values beyond rounding; None: not computed"]


def principal_components(oracle: PCAOracle, unit: float, solution: Solution) -> PCAResult:
    """Return the principal components in the span of a point.

    Parameters
    ----------
    oracle : PCAOracle
        In float64.
    unit : float
        What X was divided by.
    solution : Solution

    Notes
    -----
    A pass with k columns, 4nk² flops and nk numbers. For the rank nr² flops, r the smaller side,
    and in doubt those of a singular value decomposition of X, of which it takes a copy.
    """
    scores = oracle.times(solution.point)
    _, sizes, rotation = np.linalg.svd(np.linalg.qr(scores, mode="r"))
    V = solution.point @ rotation.T
    k = V.shape[1]
    sizes = np.append(sizes, np.zeros(k - len(sizes)))
    return PCAResult(
        components=V * signs(V),
        variance=(unit * sizes) ** 2 / max(oracle.rows - 1, 1),
        mean=unit * oracle.mean(),
        rank=_rank(oracle, sizes),
    )


def _rank(oracle: PCAOracle, found: Array) -> int | None:
    """Return the number of singular values beyond rounding, with the k largest that are known."""
    eps = float(np.finfo(np.float32 if oracle.X.dtype == np.float32 else np.float64).eps)
    scale = 1.0 if oracle.scale is None else oracle.scale
    means = oracle.mean() / scale
    size = float(found[0]) + np.sqrt(oracle.rows) * float(np.linalg.norm(means))
    floor = max(oracle.rows, oracle.n) * eps * size
    side, other = sorted(oracle.matrix.shape)
    if found[-1] <= floor or len(found) == side:
        return int(np.count_nonzero(found > floor))
    if side**2 * other > DEAR:
        return None
    gram = scatter(oracle) if oracle.n == side else inner_products(oracle)
    values = np.linalg.eigvalsh(gram, UPLO="U")
    most = side - (oracle.center and oracle.rows == side)  # centred rows add up to zero
    doubtful = values[side - most] <= max(SQUARED * values[-1], floor**2)
    if doubtful and isinstance(oracle.matrix, Dense):
        Z = (oracle.matrix.rows(0, oracle.rows) - oracle.mean()) / scale
        return int(np.count_nonzero(np.linalg.svd(Z, compute_uv=False) > floor))
    return int(np.count_nonzero(values[side - most :] > max(SQUARED * values[-1], floor**2)))
