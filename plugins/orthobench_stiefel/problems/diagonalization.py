"""Joint diagonalization of symmetric matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from orthobench_kit.arrays import inner, rows_of

from orthobench.contract import Array, DataError, Instance, namespace, parameter, random_point
from orthobench_stiefel import FiniteSumOracle, Stiefel, StiefelOracle, instance

SWEEPS = 60
"""Maximum number of sweeps of Jacobi rotations."""

STILL = 1e-12
"""Largest angle of the last sweep."""


class OffDiagonalOracle(FiniteSumOracle):
    """The oracle of the mean of |off(X'C_kX)|², off without the diagonal.

    The C (K, n, n) are symmetric.
    """

    portable = True

    def __init__(self, C: Array) -> None:
        self.C, (self.terms, self.n, _), self.k = C, C.shape, C.shape[1]
        self.off = 1 - np.eye(self.n)
        self.cost_flops = self.terms * (4 * self.n**3 + 3 * self.n**2)
        self.term_flops = 6 * self.n**3 + 3 * self.n**2
        self.gradient_flops = self.terms * self.term_flops
        self.both_flops = self.gradient_flops + 2 * self.terms * self.n**2

    def value(self, X: Any) -> Any:
        M = (X.T @ (self.C @ X)) * self.off
        return inner(M, M) / self.terms

    def gradient(self, X: Any) -> Any:
        return self._both(X, self.C)[1]

    def value_and_gradient(self, X: Any) -> tuple[Any, Any]:
        return self._both(X, self.C)

    def terms_gradient(self, X: Any, chosen: Any) -> Any:
        return self._both(X, rows_of(self.C, chosen))[1]

    def _both(self, X: Any, C: Any) -> tuple[Any, Any]:
        products = C @ X
        M = (X.T @ products) * self.off
        gradient = namespace(X).sum(products @ M, axis=0) * (4 / C.shape[0])
        return inner(M, M) / C.shape[0], gradient


@dataclass(frozen=True)
class JointDiagonalization(Stiefel):
    """Minimize the mean of |off(X'C_kX)|² for C_k = QD_kQ' + noise over orthogonal X.

    Without noise the minimum is 0, at Q up to signs and order. With noise the reference is the
    minimum that Jacobi rotations reach from Q; a run may find a lower one, with negative
    ``objective_gap``.

    References
    ----------
    Cardoso and Souloumiac 1996, "Jacobi angles for simultaneous diagonalization", SIAM Journal on
    Matrix Analysis and Applications 17.
    """

    name = "joint-diagonalization"
    offers = OffDiagonalOracle

    n: int = parameter(20, help="rows and columns of X", low=1)
    matrices: int = parameter(10, help="number of matrices", low=1)
    noise: float = parameter(
        0.01, help="standard deviation of the noise; eigenvalues have 1", low=0.0, high=1e3
    )

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        Q = random_point(self.n, self.n, rng)
        D = rng.standard_normal((self.matrices, 1, self.n))
        E = rng.standard_normal((self.matrices, self.n, self.n))
        C = (Q * D) @ Q.T + self.noise * (E + E.transpose(0, 2, 1)) / np.sqrt(2)
        oracle = OffDiagonalOracle((C + C.transpose(0, 2, 1)) / 2)
        return instance(oracle, 0.0 if self.noise == 0 else least_off_diagonal(oracle.C, Q))


def least_off_diagonal(C: Array, Q: Array) -> float:
    """Return the mean of |off(X'C_kX)|² that Jacobi rotations reach from Q, or raise DataError."""
    M = Q.T @ C @ Q
    n = len(Q)
    for _ in range(SWEEPS):
        largest = max((_rotate(M, i, j) for j in range(n) for i in range(j)), default=0.0)
        if largest < STILL:
            M[:, np.arange(n), np.arange(n)] = 0
            return float(np.vdot(M, M)) / len(C)
    raise DataError("joint-diagonalization: the reference does not settle; take less noise")


def _rotate(M: Array, i: int, j: int) -> float:
    """Rotate i and j so that their off-diagonal entries are minimal; return the angle."""
    g = np.stack([M[:, i, i] - M[:, j, j], 2 * M[:, i, j]])
    G = g @ g.T
    on, off = float(G[0, 0] - G[1, 1]), float(2 * G[0, 1])
    angle = 0.5 * float(np.arctan2(off, on + np.hypot(on, off)))
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    M[:, :, [i, j]] = M[:, :, [i, j]] @ turn
    M[:, [i, j], :] = turn.T @ M[:, [i, j], :]
    return abs(angle)
