"""Brockett's function on the orthogonal group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_kit.angles import Trigonometric
from orthobench_kit.geometry import rotate

from orthobench.contract import Array, Instance, parameter
from orthobench.tools.flops import gemm
from orthobench_stiefel.orthogonal_group import OrthogonalGroup, OrthogonalGroupOracle, instance


class BrockettOracle(OrthogonalGroupOracle):
    """The oracle of -tr(U'AUN), for a symmetric A (n, n) and the diagonal `weights` (n,) of N.

    It carries S = U'AU. Along rotations of columns i and j the objective is, up to a constant, one
    harmonic of twice the angle, with the cosine and sine coefficients S_ii - S_jj and 2 S_ij times
    -(N_i - N_j)/2. O(1) flops for a restriction, 12n for a rotation.
    """

    def __init__(self, A: Array, weights: Array) -> None:
        self.A, self.weights = A, weights
        super().__init__(self._cost, len(A), self._gradient)
        self.carry_flops = 4 * self.n**3
        self.restriction_flops, self.rotation_flops = 6, 12 * self.n
        self.cost_flops = self.gradient_flops = gemm(len(A), len(A), len(A)) + 2 * A.size

    def carry(self, U: Array) -> Array:
        """Return U'AU; 4n³ flops."""
        return np.asfortranarray(U.T @ self.A @ U)

    def restricted(self, carried: Array, i: int, j: int) -> Trigonometric:
        S = carried
        weight = -float(self.weights[i] - self.weights[j])
        cosine, sine = weight * float(S[i, i] - S[j, j]) / 2, weight * float(S[i, j])
        return Trigonometric((0.0, 0.0, cosine), (0.0, 0.0, sine))

    def rotate(self, carried: Array, i: int, j: int, angle: float) -> None:
        rotate(carried, i, j, angle)
        rotate(carried.T, i, j, angle)

    def _cost(self, U: Array) -> float:
        return -float(np.einsum("ij,ij->j", U, self.A @ U) @ self.weights)

    def _gradient(self, U: Array) -> Array:
        gradient: Array = -2 * (self.A @ U) * self.weights
        return gradient


@dataclass(frozen=True)
class Brockett(OrthogonalGroup):
    """Minimize -tr(U'AUN) for a random symmetric A and N = diag(1, (n-1)/n, ..., 1/n).

    A is (G + G')/2 for a Gaussian G. Columns of the optimum are eigenvectors of A, by decreasing
    eigenvalue, with free signs: both components contain one. There are no other local minima.

    References
    ----------
    Brockett 1991, "Dynamical systems that sort lists, diagonalize matrices, and solve linear
    programming problems", Linear Algebra and its Applications 146.
    """

    name = "brockett"

    n: int = parameter(20, help="rows and columns of U", low=1)

    def build(self, rng: np.random.Generator) -> Instance[OrthogonalGroupOracle]:
        G = rng.standard_normal((self.n, self.n))
        oracle = BrockettOracle((G + G.T) / 2, np.arange(self.n, 0, -1) / self.n)
        optimum = Optimum(oracle.A, oracle.weights)
        return instance(oracle, optimum.value, optimum.gap)


class Optimum:
    """The minimum, `value`, of -tr(U'AUN) for decreasing weights (n,); about 9n³ flops."""

    def __init__(self, A: Array, weights: Array) -> None:
        values, vectors = np.linalg.eigh(A)
        values, self._vectors = values[::-1], vectors[:, ::-1]
        self.value = -float(values @ weights)
        both = values * weights
        self._loss = (both[:, None] + both) / 2 - np.multiply.outer(values, weights)

    def gap(self, U: Array) -> float:
        """Return the objective minus its minimum, without cancellation; 2n³ flops.

        With eigenvalues v, eigenvectors V and W = V'U it is sum_ij W_ij² (v_i N_i + v_j N_j - 2
        v_i N_j) / 2.
        """
        W = self._vectors.T @ U
        return float(np.sum(W * W * self._loss))
