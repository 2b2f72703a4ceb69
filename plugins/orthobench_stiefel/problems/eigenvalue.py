"""The discretized Kohn-Sham energy in one dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from orthobench_kit.arrays import inner

from orthobench.contract import Array, DataError, Instance, is_plain, namespace, parameter
from orthobench_stiefel import Stiefel, StiefelOracle, instance

ITERATIONS = 1000
"""Maximum number of self-consistent iterations of the reference."""

RESIDUAL = 1e-12
"""Maximum change of a self-consistent density, for each column."""

MIXED = 8
"""Number of densities in a mixed one."""

DAMPING = 0.3
"""Share of the last change in a mixed density."""


class KohnShamOracle(StiefelOracle):
    """The oracle of tr(X'LX)/2 + alpha/4 r'L⁻¹r with r_i = |row i of X|².

    L is tridiagonal with -1, 2, -1; a solution of a system with it takes 8n flops.
    """

    portable = True

    def __init__(self, n: int, p: int, alpha: float) -> None:
        self.n, self.k, self.alpha = n, p, alpha
        self.bands = np.stack([np.full(n, -1.0), np.full(n, 2.0)])
        size = n * p
        self.cost_flops = 7 * size + 10 * n
        self.gradient_flops = 7 * size + 9 * n
        self.both_flops = 9 * self.n * self.k + 11 * self.n

    def value(self, X: Any) -> Any:
        return self.value_and_gradient(X)[0]

    def gradient(self, X: Any) -> Any:
        return self.value_and_gradient(X)[1]

    def value_and_gradient(self, X: Any) -> tuple[Any, Any]:
        plain = is_plain(X)
        density = np.einsum("ij,ij->i", X, X) if plain else namespace(X).sum(X * X, axis=1)
        potential = self.alpha * (self._solved(density) if plain else solved_by_sums(density))
        curved = self._curved(X)
        energy = inner(X, curved) / 2 + inner(density, potential) / 4
        return energy, curved + potential[:, None] * X

    def _curved(self, X: Any) -> Any:
        if not is_plain(X):
            xp, none = namespace(X), 0 * X[:1, :]
            return 2 * X - xp.concat([none, X[:-1, :]]) - xp.concat([X[1:, :], none])
        curved = 2 * X
        curved[1:] -= X[:-1]
        curved[:-1] -= X[1:]
        return curved

    def _solved(self, density: Array) -> Array:
        """Return L⁻¹r; not finite if r is not."""
        from scipy.linalg import solveh_banded

        solved: Array = solveh_banded(self.bands, density, check_finite=False)
        return solved

    def lowest(self, density: Array) -> Array:
        """Return the p lowest eigenvectors of L + alpha diag(L⁻¹r) for a density r."""
        from scipy.linalg import eigh_tridiagonal

        diagonal = 2 + self.alpha * self._solved(density)
        below = np.full(self.n - 1, -1.0)
        _, vectors = eigh_tridiagonal(diagonal, below, select="i", select_range=(0, self.k - 1))
        lowest: Array = vectors
        return lowest


@dataclass(frozen=True)
class NonlinearEigenvalue(Stiefel):
    """Minimize tr(X'LX)/2 + alpha/4 r'L⁻¹r, r_i = |row i of X|², for a discrete Laplacian L.

    At a minimum the columns span eigenvectors of H(X) = L + alpha diag(L⁻¹r). The energy is convex
    in XX': if they are the p lowest eigenvectors, the minimum is global. The reference is such a
    point, found by self-consistent iteration with Anderson mixing to 1e-12.

    References
    ----------
    Liu, Wang, Wen and Yuan 2014, "On the convergence of the self-consistent field iteration in
    Kohn-Sham density functional theory", SIAM Journal on Matrix Analysis and Applications 35.
    """

    name = "nonlinear-eigenvalue"
    offers = KohnShamOracle

    n: int = parameter(100, help="rows of X", low=2)
    p: int = parameter(10, help="columns of X", low=1)
    alpha: float = parameter(1.0, help="weight of the nonlinear term", low=0.0, high=1e6)

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        oracle = KohnShamOracle(self.n, self.p, self.alpha)
        return instance(oracle, oracle.value(self_consistent(oracle)))


def solved_by_sums(density: Any) -> Any:
    """Return L⁻¹r from sums: u_i = i u_1 - sum_{j < i} (r_1 + ... + r_j), and u_(n + 1) = 0."""
    n, sums = density.shape[0], namespace(density).cumulative_sum
    twice = sums(sums(density))
    i = sums(1 + 0 * density)
    return (i / (n + 1)) * twice[-1] - (twice - sums(density))


def self_consistent(oracle: KohnShamOracle) -> Array:
    """Return the p lowest eigenvectors for their own density; DataError if they do not settle."""
    density = np.full(oracle.n, oracle.k / oracle.n)
    densities, changes = list[Array](), list[Array]()
    for _ in range(ITERATIONS):
        X = oracle.lowest(density)
        change = np.einsum("ij,ij->i", X, X) - density
        if float(np.linalg.norm(change)) <= RESIDUAL * oracle.k:
            return X
        densities = [*densities[1 - MIXED :], density]
        changes = [*changes[1 - MIXED :], change]
        density = _mixed(np.array(densities), np.array(changes))
    raise DataError(
        f"nonlinear-eigenvalue: the reference for alpha = {oracle.alpha:g} is not self-consistent "
        f"after {ITERATIONS} iterations; take a smaller alpha"
    )


def _mixed(densities: Array, changes: Array) -> Array:
    stepped: Array = densities + DAMPING * changes
    if len(changes) == 1:
        last: Array = stepped[-1]
        return last
    weights, *_ = np.linalg.lstsq(np.diff(changes, axis=0).T, changes[-1], rcond=1e-12)
    mixed: Array = stepped[-1] - weights @ np.diff(stepped, axis=0)
    return mixed
