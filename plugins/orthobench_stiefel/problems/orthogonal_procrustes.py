"""The orthogonal Procrustes problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_kit.angles import Trigonometric

from orthobench.contract import Array, Instance, parameter, random_point
from orthobench.tools.flops import gemm
from orthobench_stiefel.orthogonal_group import OrthogonalGroup, OrthogonalGroupOracle, instance


class ProcrustesOracle(OrthogonalGroupOracle):
    """The oracle of |AU - B|_F², with A and B (rows, n) and M = A'B.

    It carries C = M'U. Along rotations of columns i and j tr(C) is, up to a constant, C_ii + C_jj
    times the cosine and C_ij - C_ji times the sine of the angle. O(1) flops for a restriction, 6n
    for a rotation.
    """

    def __init__(self, A: Array, B: Array) -> None:
        self.A, self.B, self.M = A, B, A.T @ B
        super().__init__(self._cost, A.shape[1], self._gradient)
        self.carry_flops, self.restriction_flops = 2 * self.n**3, 5
        rows, n = A.shape
        self.cost_flops = gemm(rows, n, n) + 3 * A.size
        self.gradient_flops = 2 * gemm(rows, n, n) + A.size + n * n

    def carry(self, U: Array) -> Array:
        """Return M'U; 2n³ flops."""
        return np.asfortranarray(self.M.T @ U)

    def restricted(self, carried: Array, i: int, j: int) -> Trigonometric:
        C = carried
        trace, skew = float(C[i, i] + C[j, j]), float(C[i, j] - C[j, i])
        return Trigonometric((0.0, -2 * trace), (0.0, -2 * skew))

    def _cost(self, U: Array) -> float:
        residual = self.A @ U - self.B
        return float(np.vdot(residual, residual))

    def _gradient(self, U: Array) -> Array:
        gradient: Array = 2 * (self.A.T @ (self.A @ U - self.B))
        return gradient


@dataclass(frozen=True)
class Procrustes(OrthogonalGroup):
    """Find the nearest rotation: minimize |AU - B|² over the orthogonal group, B = AQ + noise.

    A is Gaussian, Q random orthogonal of either determinant. With A'B = P S R' the optimum is U =
    PR'. The best point of the other component has the last column of P negated, and is worse by 4
    s_n, s_n the smallest singular value. There are no other local minima. ``component_gap`` is to
    the best point of U's component.

    References
    ----------
    Schönemann 1966, "A generalized solution of the orthogonal Procrustes problem", Psychometrika
    31.
    """

    name = "procrustes"

    n: int = parameter(20, help="rows and columns of U", low=1)
    rows: int = parameter(40, help="rows of A and B", low=1)
    noise: float = parameter(
        0.1, help="standard deviation of the noise in B; entries of A have 1", low=0.0, high=1e50
    )

    def build(self, rng: np.random.Generator) -> Instance[OrthogonalGroupOracle]:
        A = rng.standard_normal((self.rows, self.n))
        Q = random_point(self.n, self.n, rng)
        B = A @ Q + self.noise * rng.standard_normal(A.shape)
        oracle = ProcrustesOracle(A, B)
        optima = Optima(oracle.M)

        def component_gap(U: Array) -> dict[str, float]:
            return {"component_gap": optima.component_gap(U)}

        return instance(oracle, oracle.cost(optima.best), optima.gap, component_gap)


class Optima:
    """The maximizers of tr(M'U): `best`, and `reflected` on the other component."""

    def __init__(self, M: Array) -> None:
        P, values, Rt = np.linalg.svd(M)
        self._values, self._Rt = values, Rt
        self._signed = np.append(values[:-1], -values[-1])
        self.best: Array = P @ Rt
        self.reflected: Array = (P * np.append(np.ones(len(M) - 1), -1.0)) @ Rt

    def gap(self, U: Array) -> float:
        """Return |AU - B|² minus its minimum, without cancellation; 2n³ flops.

        With M = U* H, H = R S R', it is |(U - U*) R sqrt(S)|².
        """
        return self._loss(U, self.best, self._values)

    def component_gap(self, U: Array) -> float:
        """Return the gap to the best matrix of U's component."""
        if np.linalg.det(U) * np.linalg.det(self.best) > 0:
            return self.gap(U)
        return self._loss(U, self.reflected, self._signed)

    def _loss(self, U: Array, best: Array, values: Array) -> float:
        missed = (U - best) @ self._Rt.T
        return float(np.einsum("ij,ij->j", missed, missed) @ values)
