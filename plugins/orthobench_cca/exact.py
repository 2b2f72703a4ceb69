"""Canonical correlation analysis by one singular value decomposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, Solver, State, Status, flops
from orthobench_cca.covariances import covariance_flops, covariances
from orthobench_cca.judge import canonical
from orthobench_cca.oracle import PairsOracle


@dataclass(slots=True, kw_only=True)
class ExactState(State):
    """The weights.

    Attributes
    ----------
    point : ndarray, shape (p + q, k)
        A above B; the common start before the only step.
    """

    point: Array


@dataclass(frozen=True)
class Exact(Solver[PairsOracle, ExactState]):
    """Canonical variables from the singular value decomposition of S_xx^-½ S_xy S_yy^-½.

    Its singular values are the canonical correlations; A = S_xx^-½ U and B = S_yy^-½ V.

    Notes
    -----
    2N(p² + q² + pq) flops for the covariances of N pairs, 11p³ + 11q³ for their inverse roots, and
    a singular value decomposition (p, q). Memory: 3(p² + q²) doubles.

    References
    ----------
    Hotelling 1936, "Relations between two sets of variates"; in this form Mardia, Kent and Bibby
    1979, theorem 10.2.1.
    """

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "cca-exact"
    source: ClassVar[str] = "Hotelling 1936"

    def init(self, oracle: PairsOracle, rng: np.random.Generator) -> ExactState:
        """Return the common start."""
        del rng
        return ExactState(point=oracle.start.copy())

    def step(self, oracle: PairsOracle, state: ExactState) -> None:
        """Compute the weights, which ends the run."""
        p, q, k = oracle.sizes
        A, _, B = canonical(covariances(oracle.X, oracle.Y, oracle.ridge), k)
        state.point = np.vstack([A, B])
        state.work.steps += 1
        state.work.flops += covariance_flops(len(oracle.pairs), p, q) + canonical_flops(p, q, k)
        state.status = Status.CONVERGED

    def solution(self, state: ExactState) -> Solution:
        """Return A above B."""
        return Solution(state.point.copy())


def canonical_flops(p: int, q: int, k: int) -> int:
    """Return the flops of `orthobench_cca.judge.canonical`."""
    roots = sum(flops.eigh(m) + flops.gemm(m, m, m) + m * m + m for m in (p, q))
    products = flops.gemm(p, q, p) + flops.gemm(p, q, q)
    return roots + products + flops.svd(p, q) + flops.gemm(p, k, p) + flops.gemm(q, k, q)
