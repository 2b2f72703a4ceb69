"""Independent component analysis by fourth moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_kit.angles import Trigonometric, minimize
from orthobench_kit.geometry import rotate

from orthobench.contract import Array, DataError, Instance, UsageError, parameter, polar
from orthobench.tools.flops import gemm
from orthobench_stiefel.orthogonal_group import (
    ComponentsOracle,
    OrthogonalGroup,
    OrthogonalGroupOracle,
    instance,
)

SIGNS = {"uniform": 1.0, "binary": 1.0, "laplace": -1.0}
"""Sign of the objective: light tails minimize the fourth moments."""

SINGULAR = 1e-12
"""Minimum relative eigenvalue of a covariance that is not rounding."""

SWEEPS = 100
"""Maximum number of sweeps of the descent from the true unmixing."""


class KurtosisOracle(ComponentsOracle):
    """The oracle of sign · sum_j mean(y_j⁴), with Y = ZU for whitened samples Z.

    It carries Y. If a sample's two columns are r exp(i phi), rotation by t makes the sum of their
    fourth powers r⁴ (3 + cos(4 phi - 4t))/4 (Comon 1994). With `sign` 1 fourth moments are
    minimized, with -1 maximized.
    """

    def __init__(self, Z: Array, sign: float) -> None:
        self.Z, self.sign = Z, sign
        super().__init__(self._cost, Z.shape[1], self._gradient)
        self.carry_flops = 2 * len(Z) * self.n**2
        self.restriction_flops, self.rotation_flops = 10 * len(Z), 6 * len(Z)
        n = Z.shape[1]
        self.cost_flops = gemm(len(Z), n, n) + 3 * Z.size
        self.gradient_flops = 2 * gemm(len(Z), n, n) + 2 * Z.size + n * n

    def carry(self, U: Array) -> Array:
        """Return ZU, in Fortran order; 2n² flops a sample."""
        return np.asfortranarray(self.Z @ U)

    def restricted(self, carried: Array, i: int, j: int) -> Trigonometric:
        x, y = carried[:, i], carried[:, j]
        product, difference = x * y, x * x - y * y
        scale = self.sign / len(x)
        cosine = scale * float(difference @ difference / 4 - product @ product)
        sine = scale * float(product @ difference)
        return Trigonometric((0.0, 0.0, 0.0, 0.0, cosine), (0.0, 0.0, 0.0, 0.0, sine))

    def _cost(self, U: Array) -> float:
        squares = (self.Z @ U) ** 2
        return self.sign * float(np.vdot(squares, squares)) / len(self.Z)

    def _gradient(self, U: Array) -> Array:
        Y = self.Z @ U
        gradient: Array = 4 * self.sign / len(Y) * (self.Z.T @ (Y * Y * Y))
        return gradient


@dataclass(frozen=True)
class ICA(OrthogonalGroup):
    """Unmix independent sources: extreme fourth moments of whitened, rotated mixtures.

    The samples are X = SM' for independent sources S of unit variance and a random square M, then
    centred and whitened by C^(-1/2), C their covariance. The objective is sum_j mean(y_j⁴) for Y =
    ZU, the kurtosis contrast, negated if the sources have heavy tails.

    The reference is the local minimum that
    rotations reach from the true unmixing. ``amari_distance`` of U from the true unmixing does not
    vanish with the gap.

    References
    ----------
    Comon 1994, "Independent component analysis, a new concept?", Signal Processing 36.
    """

    name = "ica"
    offers = ComponentsOracle

    n: int = parameter(8, help="sources, and rows and columns of U", low=1)
    samples: int = parameter(2000, help="samples of each mixture", low=2)
    sources: str = parameter("uniform", help="distribution of the sources", choices=tuple(SIGNS))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples < 4 * self.n:
            raise UsageError(
                f"ica: {self.samples} samples are too few for {self.n} sources; "
                f"at least {4 * self.n} are needed to whiten them"
            )

    def build(self, rng: np.random.Generator) -> Instance[OrthogonalGroupOracle]:
        S = _draw_sources(self.sources, (self.samples, self.n), rng)
        mixing = rng.standard_normal((self.n, self.n))
        X = S @ mixing.T
        X -= X.mean(axis=0)
        whitening = _inverse_root(X.T @ X / len(X))
        if whitening is None:
            raise DataError(
                "ica: the sources drawn are linearly dependent, and cannot be whitened; take more "
                f"samples than {self.samples}"
            )
        oracle = KurtosisOracle(X @ whitening, SIGNS[self.sources])
        truth = Truth(whitening @ mixing)
        best = oracle.cost(_local_minimizer(oracle, truth.unmixing))
        return instance(oracle, best, further=truth)


@dataclass(frozen=True)
class Truth:
    """The true mixing of the sources: `mixed` (n, n), orthogonal up to sampling error."""

    mixed: Array

    @property
    def unmixing(self) -> Array:
        """The orthogonal matrix nearest to the true unmixing of the whitened samples."""
        return polar(self.mixed)

    def __call__(self, U: Array) -> dict[str, float]:
        """Return ``amari_distance``, of U' times `mixed` from a permutation."""
        return {"amari_distance": amari_distance(U.T @ self.mixed)}


def amari_distance(P: Array) -> float:
    """Return the distance of a matrix P (n, n) from a scaled permutation, between 0 and 1.

    P is the unmixing times the mixing matrix. The distance is sum_j |P_ij| / max_j |P_ij| - 1,
    summed over rows and likewise over columns, divided by its maximum 2n(n-1), unlike in the
    reference.

    References
    ----------
    Amari, Cichocki and Yang 1996, "A new learning algorithm for blind signal separation", Advances
    in Neural Information Processing Systems 8, the performance index of section 5.
    """
    n = len(P)
    if n == 1:
        return 0.0
    A = np.abs(P)
    rows = (A / A.max(axis=1, keepdims=True)).sum() - n
    columns = (A / A.max(axis=0)).sum() - n
    return float(rows + columns) / (2 * n * (n - 1))


def _draw_sources(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    if kind == "uniform":
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), shape)
    if kind == "laplace":
        heavy: Array = rng.laplace(scale=np.sqrt(0.5), size=shape)
        return heavy
    signs: Array = rng.choice([-1.0, 1.0], shape)
    return signs


def _inverse_root(C: Array) -> Array | None:
    """Return C^(-1/2); None if C is singular up to rounding."""
    values, V = np.linalg.eigh(C)
    if values[0] <= SINGULAR * values[-1]:
        return None
    root: Array = (V / np.sqrt(values)) @ V.T
    return root


def _local_minimizer(oracle: KurtosisOracle, U: Array) -> Array:
    U = U.copy(order="F")
    carried = oracle.carry(U)
    n, largest = len(U), 1.0
    for _ in range(SWEEPS):
        if largest < 1e-10:
            break
        largest = 0.0
        for j in range(n):
            for i in range(j):
                angle, _, _ = minimize(oracle.restricted(carried, i, j))
                oracle.rotate(carried, i, j, angle)
                rotate(U, i, j, angle)
                largest = max(largest, abs(angle))
    return U
