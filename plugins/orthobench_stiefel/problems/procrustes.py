"""The unbalanced Procrustes problem."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from orthobench_kit.arrays import inner, rows_of
from orthobench_kit.stacks import sizes, transposed

from orthobench.contract import Array, Instance, UsageError, parameter, random_point
from orthobench.tools.flops import gemm
from orthobench_stiefel import (
    FiniteSumOracle,
    ProductOracle,
    Stiefel,
    StiefelOracle,
    instance,
)

SETTLED = 1e-9
"""Maximum |X'X - I| at which a multiplier has solved the problem."""

ROUNDING = 1e-13
"""|X'X - I| at which Newton's method ends."""

STEPS = 100
"""Maximum number of steps of Newton's method."""

HALVINGS = 50
"""Maximum number of halvings of one step."""

INSIDE = 1e-14
"""Minimum eigenvalue of L + cI, relative to the largest of A'A."""

GAIN = 1e-4
"""Share of the slope that a step must gain."""


class StackedLeastSquaresOracle(ProductOracle):
    """The oracle of the sum of |AX - B|²/N over a stack, A (m, N, n) and B (m, N, p)."""

    portable = True

    def __init__(self, A: Array, B: Array) -> None:
        self.A, self.B, self.stack = A, B, A.shape[:-2]
        m, self.rows, n = sizes(A)
        self.n, self.k = m * n, B.shape[-1]
        product = m * gemm(self.rows, self.k, n)
        self.cost_flops = product + 3 * B.size + 1
        self.gradient_flops = 2 * product + B.size + self.n * self.k
        self.both_flops = self.gradient_flops + 2 * prod(self.B.shape) + 1

    def value(self, X: Any) -> Any:
        residual = self.A @ X - self.B
        return inner(residual, residual) / self.rows

    def gradient(self, X: Any) -> Any:
        return self._from(self.A @ X - self.B)

    def value_and_gradient(self, X: Any) -> tuple[Any, Any]:
        residual = self.A @ X - self.B
        return inner(residual, residual) / self.rows, self._from(residual)

    def _from(self, residual: Any) -> Any:
        return (transposed(self.A) @ residual) * (2 / self.rows)


class LeastSquaresOracle(StackedLeastSquaresOracle, FiniteSumOracle):
    """The oracle of |AX - B|²/N, the mean over N rows, A (N, n) and B (N, p)."""

    def __init__(self, A: Array, B: Array) -> None:
        super().__init__(A, B)
        self.terms = self.rows
        self.term_flops = self.gradient_flops // self.terms

    def terms_gradient(self, X: Any, chosen: Any) -> Any:
        A, B = rows_of(self.A, chosen), rows_of(self.B, chosen)
        return A.T @ (A @ X - B) * (2 / A.shape[0])


@dataclass(frozen=True)
class StiefelProcrustes(Stiefel):
    """Minimize |AX - B|²/N for B = AZ + E, with noise E that leaves the optimum at a known Z.

    A has N Gaussian rows, Z is random. The optimum is planted: E = noise H + AC⁻¹ZS, with C = A'A,
    a Gaussian H less its part in the range of A, and a random positive semidefinite S of size
    noise times N. Since A'E = ZS, the cost less that at Z is (|A(X - Z)|² + tr((X - Z)S(X -
    Z)'))/N >= 0 for feasible X: Z is the only global minimum. There may be local ones.

    References
    ----------
    Eldén and Park 1999, "A Procrustes problem on the Stiefel manifold", Numerische Mathematik 82;
    Zhang and Du 2006, for the sufficient condition of a global minimum.
    """

    name = "stiefel-procrustes"
    offers = LeastSquaresOracle

    n: int = parameter(50, help="rows of X", low=1)
    p: int = parameter(5, help="columns of X", low=1)
    rows: int = parameter(200, help="rows of A and B, N", low=1)
    noise: float = parameter(0.1, help="size of the noise; entries of A have 1", low=0.0, high=1e3)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows < self.n:
            raise UsageError(
                f"{self.name}: rows = {self.rows} are fewer than n = {self.n}, so that the optimum "
                "would not be unique"
            )

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        A, Z, S, E = self.planted(rng)
        oracle = LeastSquaresOracle(A, A @ Z + E)
        return instance(oracle, float(np.vdot(E, E)) / self.rows, Gap(A, Z, S))

    def planted(self, rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
        """Return A, Z, S and E."""
        A = rng.standard_normal((self.rows, self.n))
        Z = random_point(self.n, self.p, rng)
        H = rng.standard_normal((self.rows, self.p))
        F = rng.standard_normal((self.p, self.p))
        S = (self.noise * self.rows / self.p) * (F @ F.T)
        basis, R = np.linalg.qr(A)
        # A C⁻¹ = basis R'⁻¹
        E = self.noise * (H - basis @ (basis.T @ H)) + basis @ np.linalg.solve(R.T, Z @ S)
        return A, Z, S, E


@dataclass(frozen=True)
class StiefelProcrustesBatch(Stiefel):
    """Minimize the sum of |AX - B|²/N over a batch of `StiefelProcrustes`.

    It is one point X (matrices, n, p).
    """

    name = "stiefel-procrustes-batch"
    offers = StackedLeastSquaresOracle

    matrices: int = parameter(10, help="matrices in the batch", low=1)
    n: int = parameter(64, help="rows of a matrix", low=1)
    p: int = parameter(16, help="columns of a matrix", low=1)
    rows: int = parameter(128, help="rows of each A and B, N", low=1)
    noise: float = parameter(0.1, help="size of the noise; entries of A have 1", low=0.0, high=1e3)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.single  # noqa: B018 - checks the sizes

    @property
    def single(self) -> StiefelProcrustes:
        """The problem of one matrix."""
        return StiefelProcrustes(self.n, self.p, self.rows, self.noise)

    def build(self, rng: np.random.Generator) -> Instance[ProductOracle]:
        drawn = (self.single.planted(rng) for _ in range(self.matrices))
        A, Z, S, E = (np.stack(parts) for parts in zip(*drawn, strict=True))
        oracle = StackedLeastSquaresOracle(A, A @ Z + E)
        return instance(oracle, float(np.vdot(E, E)) / self.rows, Gap(A, Z, S))


@dataclass(frozen=True)
class Gap:
    """The cost minus its minimum, without cancellation, summed over a stack."""

    A: Array
    Z: Array
    S: Array

    def __call__(self, X: Array) -> float:
        """Return the gap at X."""
        missed = X - self.Z
        moved, rows = self.A @ missed, int(self.A.shape[-2])
        return float(np.vdot(moved, moved) + np.vdot(missed @ self.S, missed)) / rows


@dataclass(frozen=True)
class Multiplier:
    """A symmetric multiplier L (p, p) of X'X = I, and the X that minimizes the Lagrangian.

    |AX - B|² + tr(L(X'X - I)) is convex in X if L + cI is positive definite, c the smallest
    eigenvalue of A'A. Its minimum, `bound`, where A'AX + XL = A'B, bounds all X with X'X = I, and
    is concave in L. `excess` is its gradient X'X - I.
    """

    L: Array
    X: Array
    bound: float
    excess: Array

    @property
    def solved(self) -> bool:
        """Whether X has orthonormal columns."""
        return bool(np.linalg.norm(self.excess) <= SETTLED)


def multiplier(A: Array, B: Array) -> Multiplier:
    """Return the multiplier of the largest bound, or one near it if there is no largest one.

    A has the shape (N, n), B (N, p). Newton's method with conjugate gradients: 2Nn(n + p) + 9n³
    flops, then about 4np² for each of at most p(p + 1)/2 iterations of a step.
    """
    values, Q = np.linalg.eigh(A.T @ A)
    dual = _Dual(values, Q.T @ (A.T @ B), float(np.vdot(B, B)))
    found = dual.at(dual.first())
    for _ in range(STEPS):
        better = dual.better(found) if np.linalg.norm(found.excess) > ROUNDING else None
        if better is None:
            break
        found = better
    return Multiplier(found.L, Q @ found.X, found.bound, found.excess)


@dataclass(frozen=True)
class _Dual:
    """The dual in the eigenvectors of A'A: its eigenvalues, A'B, and |B|²."""

    values: Array
    M: Array
    constant: float

    def first(self) -> Array:
        """Return a multiplier with a convex Lagrangian and |X| <= 1."""
        size = float(np.linalg.norm(self.M, 2)) + abs(float(self.values[0]))
        return (size or 1.0) * np.eye(self.M.shape[1])

    def at(self, L: Array) -> Multiplier:
        levels, V = np.linalg.eigh(L)
        X = ((self.M @ V) / np.add.outer(self.values, levels)) @ V.T
        bound = self.constant - float(np.vdot(self.M, X)) - float(levels.sum())
        return Multiplier(L, X, bound, X.T @ X - np.eye(len(L)))

    def better(self, found: Multiplier) -> Multiplier | None:
        E = self._direction(found)
        slope, length = float(np.vdot(E, found.excess)), 1.0
        slack = 4 * np.finfo(np.float64).eps * self.constant
        for _ in range(HALVINGS):
            L = found.L + length * E
            if np.linalg.eigvalsh(L)[0] + self.values[0] > INSIDE * self.values[-1]:
                new = self.at(L)
                if new.bound >= found.bound + GAIN * length * slope - slack:
                    return new
            length /= 2
        return None

    def _direction(self, found: Multiplier) -> Array:
        """Solve HE = X'X - I by conjugate gradients, with the negative Hessian H of the bound."""
        levels, V = np.linalg.eigh(found.L)
        X, R = found.X @ V, V.T @ found.excess @ V
        sums = np.add.outer(self.values, levels)
        E, D, size = np.zeros_like(R), R, float(np.vdot(R, R))
        for _ in range(R.size):
            change = X.T @ ((X @ D) / sums)
            HD = change + change.T
            t = size / float(np.vdot(D, HD))
            E, R = E + t * D, R - t * HD
            size, before = float(np.vdot(R, R)), size
            if size <= 1e-20 * float(np.vdot(found.excess, found.excess)):
                break
            D = R + (size / before) * D
        direction: Array = V @ E @ V.T
        return direction
