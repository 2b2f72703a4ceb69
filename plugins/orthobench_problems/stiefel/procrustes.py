"""The unbalanced Procrustes problem with a planted optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.contract import Array, Instance, UsageError, parameter, random_point, rows_of
from orthobench.families.stiefel import FiniteSumOracle, Stiefel, StiefelOracle, instance
from orthobench.tools.flops import gemm
from orthobench.tools.scalars import inner
from orthobench_problems.stiefel.sizes import check_columns


class LeastSquaresOracle(FiniteSumOracle):
    """The oracle of |AX - B|²/N, the mean over N rows; value and gradient share AX - B.

    Parameters
    ----------
    A : ndarray, shape (N, n)
    B : ndarray, shape (N, p)
    """

    portable = True

    def __init__(self, A: Array, B: Array) -> None:
        self.A, self.B, (self.terms, self.n), self.k = A, B, A.shape, B.shape[1]
        product = gemm(self.terms, self.k, self.n)
        self.cost_flops = product + 3 * B.size + 1
        self.gradient_flops = 2 * product + B.size + self.n * self.k
        self.term_flops = self.gradient_flops // self.terms

    @property
    def both_flops(self) -> int:
        """Flops of one `value_and_gradient`."""
        return self.gradient_flops + 2 * self.terms * self.k + 1

    def value(self, X: Any) -> Any:
        """Return |AX - B|²/N."""
        residual = self.A @ X - self.B
        return inner(residual, residual) / self.terms

    def gradient(self, X: Any) -> Any:
        """Return 2A'(AX - B)/N."""
        return self._from(self.A @ X - self.B)

    def value_and_gradient(self, X: Any) -> tuple[Any, Any]:
        """Return both, from one residual."""
        residual = self.A @ X - self.B
        return inner(residual, residual) / self.terms, self._from(residual)

    def terms_gradient(self, X: Any, chosen: Any) -> Any:
        """Return the gradient of the mean over some rows."""
        A, B = rows_of(self.A, chosen), rows_of(self.B, chosen)
        return A.T @ (A @ X - B) * (2 / A.shape[0])

    def _from(self, residual: Any) -> Any:
        return (self.A.T @ residual) * (2 / self.terms)


@dataclass(frozen=True)
class StiefelProcrustes(Stiefel):
    """Minimize |AX - B|²/N for B = AZ + E, with noise E that leaves the optimum at a known Z.

    A has N Gaussian rows, Z is random. Unlike the square problem this one has no closed form, so
    the optimum is planted: E = noise H + AC⁻¹ZS, with C = A'A, a Gaussian H less its part in the
    range of A, and a random positive semidefinite S of size noise times N. Since A'E = ZS, the cost
    less that at Z is (|A(X - Z)|² + tr((X - Z)S(X - Z)'))/N >= 0 for every feasible X: Z is the
    only global minimum. There may be local ones.

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
        check_columns(self.n, self.p)
        if self.rows < self.n:
            raise UsageError(
                f"{self.name}: rows = {self.rows} are fewer than n = {self.n}, so that the optimum "
                "would not be unique"
            )

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        """Return the instance; `rng` draws A, Z and the noise."""
        A = rng.standard_normal((self.rows, self.n))
        Z = random_point(self.n, self.p, rng)
        H = rng.standard_normal((self.rows, self.p))
        F = rng.standard_normal((self.p, self.p))
        S = (self.noise * self.rows / self.p) * (F @ F.T)
        basis, R = np.linalg.qr(A)
        # A C⁻¹ = basis R'⁻¹
        E = self.noise * (H - basis @ (basis.T @ H)) + basis @ np.linalg.solve(R.T, Z @ S)
        oracle = LeastSquaresOracle(A, A @ Z + E)
        least = float(np.vdot(E, E)) / self.rows
        return instance(oracle, least, Gap(A, Z, S))


@dataclass(frozen=True)
class Gap:
    """The cost minus the least one, without cancellation: see `StiefelProcrustes`.

    Attributes
    ----------
    A, Z, S : ndarray
    """

    A: Array
    Z: Array
    S: Array

    def __call__(self, X: Array) -> float:
        """Return the gap at X."""
        missed = X - self.Z
        moved = self.A @ missed
        return float(np.vdot(moved, moved) + np.vdot(missed @ self.S, missed)) / len(self.A)
