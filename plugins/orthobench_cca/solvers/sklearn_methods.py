"""scikit-learn's CCA and PLSSVD."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, DataError, Solution, Solver, State, Status, flops, parameter
from orthobench_cca.oracle import PairsOracle

ROWS_OF_UNIT = 1000
"""Maximum number of rows for the unit of the data."""


@dataclass(slots=True, kw_only=True)
class FittedState(State):
    """The weights; the common start before the only step."""

    point: Array


class Fitted(Solver[PairsOracle, FittedState]):
    """Base: one fit, without a ridge."""

    packages: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    converges: ClassVar[bool] = True

    def init(self, oracle: PairsOracle, rng: np.random.Generator) -> FittedState:
        return FittedState(point=oracle.start.copy())

    def step(self, oracle: PairsOracle, state: FittedState) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has not converged: the judge says how far
            try:
                A, B, count = self.fit(oracle)
            except ValueError as error:  # data that are not finite
                raise DataError(f"scikit-learn: {' '.join(str(error).split())}") from error
        state.work.steps += 1
        state.work.flops += count
        state.point = np.vstack([A, B])
        state.status = Status.COMPLETE

    def solution(self, state: FittedState) -> Solution:
        return Solution(state.point.copy())

    @abstractmethod
    def fit(self, oracle: PairsOracle) -> tuple[Array, Array, int]:
        """Return A, B, and the flops."""


@dataclass(frozen=True)
class SklearnCCA(Fitted):
    """scikit-learn's CCA: components one after the other, by alternating regressions.

    Each component is found with the pseudo-inverses of both halves, and removed from them. The
    order need not be that of the correlations.

    Notes
    -----
    4N(p² + q²) flops for the pseudo-inverses of each component and 4N(p + q) for each alternation.
    Memory: the data three times more.

    References
    ----------
    Wegelin 2000, "A survey of partial least squares (PLS) methods".
    """

    most: int = parameter(500, help="alternations of a component", low=1)
    tolerance: float = parameter(1e-6, help="change of weights that ends them", low=0.0)

    name: ClassVar[str] = "sklearn-cca"
    source: ClassVar[str] = "scikit-learn: sklearn.cross_decomposition.CCA"

    def fit(self, oracle: PairsOracle) -> tuple[Array, Array, int]:
        from sklearn.cross_decomposition import CCA

        X, Y = _in_units(oracle)
        model = CCA(
            oracle.k, scale=False, max_iter=self.most, tol=self.tolerance, copy=False
        )  # fmt: skip
        model.fit(X, Y)
        N, (p, q, k) = oracle.count, oracle.sizes
        count = 2 * k * (flops.gemm(p, p, N) + flops.gemm(q, q, N))
        count += 2 * sum(model.n_iter_) * flops.gemm(N, 1, p + q)
        return _padded(model.x_rotations_, k), _padded(model.y_rotations_, k), count


@dataclass(frozen=True)
class SklearnPLSSVD(Fitted):
    """scikit-learn's PLSSVD: singular vectors of S_xy, the directions of largest covariance.

    These are canonical variables only if both halves are white.

    Notes
    -----
    2Npq flops and a singular value decomposition (p, q). Memory: the data once more, 3pq doubles.

    References
    ----------
    Wegelin 2000, "A survey of partial least squares (PLS) methods".
    """

    name: ClassVar[str] = "sklearn-plssvd"
    source: ClassVar[str] = "scikit-learn: sklearn.cross_decomposition.PLSSVD"

    def fit(self, oracle: PairsOracle) -> tuple[Array, Array, int]:
        from sklearn.cross_decomposition import PLSSVD

        X, Y = _in_units(oracle)
        model = PLSSVD(oracle.k, scale=False, copy=False).fit(X, Y)
        N, (p, q, _) = oracle.count, oracle.sizes
        count = flops.gemm(p, q, N) + flops.svd(p, q)
        return model.x_weights_, model.y_weights_, count


def _in_units(oracle: PairsOracle) -> tuple[Array, Array]:
    halves = []
    for M in (oracle.X, oracle.Y):
        some = M[:: -(-len(M) // ROWS_OF_UNIT)]
        largest = float(np.abs(some).max()) or float(np.abs(M).max()) or 1.0
        unit = 2.0 ** np.ceil(np.log2(largest)) if np.isfinite(largest) else 1.0
        halves.append(M / unit)
    return halves[0], halves[1]


def _padded(weights: Any, k: int) -> Array:
    found = np.zeros((len(weights), k))
    found[:, : weights.shape[1]] = np.nan_to_num(weights)
    return found
