"""The result of PCA, from a judged point."""

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
"""Relative eigenvalue of a Gram matrix above which a singular value is not rounding."""

DEAR = 3e10
"""Maximum flops of a Gram matrix for which a rank is computed."""


@dataclass(frozen=True, repr=False, eq=False)
class PCAResult(Result):
    """Principal components of a matrix.

    Attributes
    ----------
    components : ndarray, shape (d, k)
        Orthonormal columns, the largest variance first; in each the entry of largest absolute
        value is positive.
    variance : ndarray, shape (k,)
        Variance of the scores, with the divisor n - 1, in the unit of X squared, or of scaled
        columns; mean squares times n / (n - 1) without centring.
    mean : ndarray, shape (d,)
        The mean that was subtracted from X; zero without centring.
    rank : int or None
        Number of singular values of X, as decomposed, beyond rounding. None if all components have
        variance and the others would take too long.
    """

    components: Annotated[Array, "orthonormal columns, the largest variance first"]
    variance: Annotated[Array, "unit of X squared, divisor n - 1"]
    mean: Annotated[Array, "unit of X; zero if X was not centred"]
    rank: Annotated[int | None, "singular values beyond rounding; None: not computed"]


def principal_components(oracle: PCAOracle, unit: float, solution: Solution) -> PCAResult:
    """Return the principal components in the span of a point, for an oracle in float64.

    X was divided by `unit`. A pass with k columns, 4nk² flops and nk numbers. For the rank nr²
    flops, r the smaller side, or those of a singular value decomposition of a copy of X.
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
