"""Canonical correlation by one singular value decomposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, Solver, State, Status, UsageError, parameter
from orthobench_cca.canonical import canonical, whitened
from orthobench_cca.oracle import PairsMatrices


@dataclass(slots=True, kw_only=True)
class ExactState(State):
    """The weights, A above B; the common start before the only step."""

    point: Array


@dataclass(frozen=True)
class Exact(Solver[PairsMatrices, ExactState]):
    """Canonical variables from the singular value decomposition of the whitened covariance.

    ``by = "shape"`` whitens by Gram if there are at
    least as many pairs as columns, and else by QR.

    Notes
    -----
    By Gram 2Np² + 2p³/3 flops a side, or 2Np² + 9p³ if its covariance is ill-conditioned; by QR
    2Npm - 2m³/3 and a singular value decomposition (m, m) with m = min(N, p). Then 2pq(N + p + q),
    or 2N²(p + q + N) with more columns than pairs, and leading singular vectors. Memory: 2(p² +
    q²) + pq doubles, with more columns than pairs 2N(p + q).

    References
    ----------
    Hotelling 1936, "Relations between two sets of variates"; by QR Björck and Golub 1973,
    "Numerical methods for computing angles between linear subspaces"; by Gram Mardia, Kent and
    Bibby 1979, theorem 10.2.1.
    """

    by: str = parameter("shape", help="how sides are whitened", choices=("shape", "gram", "qr"))

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "cca-exact"
    source: ClassVar[str] = "Hotelling 1936"

    def init(self, oracle: PairsMatrices, rng: np.random.Generator) -> ExactState:
        if self.by == "qr" and any(hasattr(side.data, "toarray") for side in oracle.sides):
            raise UsageError("by=qr makes sparse data dense; pass by=gram")
        return ExactState(point=oracle.start.copy())

    def step(self, oracle: PairsMatrices, state: ExactState) -> None:
        left, right = (whitened(side, oracle.ridge, self.by) for side in oracle.sides)
        found = canonical(oracle, left, right)
        state.point = np.vstack([found.A, found.B])
        state.work.steps += 1
        state.work.flops += left.flops + right.flops + found.flops
        state.status = Status.CONVERGED

    def solution(self, state: ExactState) -> Solution:
        return Solution(state.point.copy())
