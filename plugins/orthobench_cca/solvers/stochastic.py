"""Stochastic canonical correlation analysis."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, Solver, State, Status, flops, parameter
from orthobench_cca.oracle import PairsOracle, halves

GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
"""Step sizes that are tried, the same for all methods."""


@dataclass(slots=True, kw_only=True)
class StochasticState(State):
    """The weights Z (p + q, k), A above B, for data in `units`.

    These are the root mean square of the entries of x and y in the first batch; `average` is that
    of BZ over the batches, for `gamma-eigengame`.
    """

    Z: Array
    units: tuple[float, float] = (0.0, 0.0)
    average: Array


@dataclass(frozen=True)
class Stochastic(Solver[PairsOracle, StochasticState]):
    """Base: a step on the products of a batch.

    Each half is divided by the root mean square of its entries in the first batch. Beside products
    a step takes `entrywise` operations for each entry of Z, and `products` with a matrix (k, k).
    """

    step_size: float = parameter(
        0.03,
        name="step",
        help="step for data whose entries have mean square one",
        above=0.0,
        grid=GRID,
    )
    batch: int = parameter(100, help="pairs a step", low=1)

    entrywise: ClassVar[int] = 5
    products: ClassVar[int] = 3

    def init(self, oracle: PairsOracle, rng: np.random.Generator) -> StochasticState:
        return StochasticState(Z=oracle.start.copy(), average=np.zeros_like(oracle.start))

    def step(self, oracle: PairsOracle, state: StochasticState) -> None:
        pairs = oracle.take(self.batch)
        X, Y = pairs[:, : oracle.p], pairs[:, oracle.p :]
        if not state.work.steps:
            state.units = (_root_mean_square(X), _root_mean_square(Y))
        a, b = state.units
        count, (p, q, k) = len(pairs), oracle.sizes
        A, B = halves(state.Z, p)
        U, V = X @ (A / a), Y @ (B / b)
        ridge = oracle.ridge * np.repeat([1 / a / a, 1 / b / b], [p, q])[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            AZ = np.vstack([X.T @ V / a, Y.T @ U / b]) / count
            BZ = np.vstack([X.T @ U / a, Y.T @ V / b]) / count + ridge * state.Z
            state.Z = self.moved(state, AZ, BZ)
        state.work.steps += 1
        state.work.samples += count
        state.work.flops += 3 * flops.gemm(count, k, p + q)
        state.work.flops += self.products * flops.gemm(p + q, k, k)
        state.work.flops += self.entrywise * (p + q) * k
        if not np.abs(state.Z).max() < HUGE:
            state.status, state.reason = Status.FAILED, "the weights diverge: lower `step`"

    def solution(self, state: StochasticState) -> Solution:
        return Solution(state.Z.copy())

    @abstractmethod
    def moved(self, state: StochasticState, AZ: Array, BZ: Array) -> Array:
        """Return the weights after a step, from products AZ and BZ (p + q, k) of a batch.

        A = [0 S_xy; S_yx 0] and B = diag(S_xx, S_yy) + ridge I.
        """


@dataclass(frozen=True)
class CCAEY(Stochastic):
    """CCA-EY: stochastic gradients of -2 tr(Z'AZ) + tr((Z'BZ)²), whose minimizers span the answer.

    Z <- Z + step (AZ - BZ Z'BZ); the step absorbs a factor of 4. With a batch below about the
    number of columns, long steps diverge.

    Notes
    -----
    6b(p + q)k flops and 6(p + q)k² a step of b pairs. Memory: 3(p + q)k doubles, and the batch.

    References
    ----------
    Chapman, Wells and Aguila 2024, "Unconstrained stochastic CCA: unifying multiview and
    self-supervised learning".
    """

    name: ClassVar[str] = "cca-ey"
    source: ClassVar[str] = "Chapman, Wells and Aguila 2024"

    def moved(self, state: StochasticState, AZ: Array, BZ: Array) -> Array:
        return np.asarray(state.Z + self.step_size * (AZ - BZ @ (state.Z.T @ BZ)))


@dataclass(frozen=True)
class SGHA(Stochastic):
    """Stochastic generalized Hebbian algorithm: Z <- Z + step (AZ - BZ Z'AZ).

    The Lagrange multiplier of Z'BZ = I is replaced by its value at the optimum, Z'AZ. Costs are
    those of `cca-ey`.

    References
    ----------
    Chen, Li, Yang, Wang and Zhao 2019, "On constrained nonconvex stochastic optimization: a case
    study for generalized eigenvalue decomposition", equation 10.
    """

    name: ClassVar[str] = "sgha"
    source: ClassVar[str] = "Chen, Li, Yang, Wang and Zhao 2019"

    def moved(self, state: StochasticState, AZ: Array, BZ: Array) -> Array:
        return np.asarray(state.Z + self.step_size * (AZ - BZ @ (state.Z.T @ AZ)))


@dataclass(frozen=True)
class GammaEigengame(Stochastic):
    """Gamma-EigenGame: each vector climbs its own utility, given the ones before it.

    With a_i = z_i'Az_i, b_i = z_i'Bz_i and y_j = z_j / b_j^½ the direction of z_i is b_i Az_i -
    a_i Bz_i less, for each j < i, z_i'Ay_j (b_i By_j - z_i'By_j Bz_i). Then z_i is scaled to unit
    length. B y_j is an average over batches, which moves by `gamma`. Flops are those of `cca-ey`.
    Memory: 4(p + q)k doubles, and the batch.

    References
    ----------
    Gemp, Chen and McWilliams 2023, "The generalized eigenvalue problem as a Nash equilibrium",
    Algorithm 2.
    """

    gamma: float = parameter(0.1, help="share of the average that a batch replaces", above=0.0,
                             high=1.0)  # fmt: skip

    entrywise: ClassVar[int] = 36
    name: ClassVar[str] = "gamma-eigengame"
    source: ClassVar[str] = "Gemp, Chen and McWilliams 2023, Algorithm 2"

    def moved(self, state: StochasticState, AZ: Array, BZ: Array) -> Array:
        Z = state.Z
        share = self.gamma if state.work.steps else 1.0
        state.average = state.average + share * (BZ - state.average)
        a, b = (np.einsum("ij,ij->j", Z, M) for M in (AZ, BZ))
        own = np.maximum(np.einsum("ij,ij->j", Z, state.average), TINY)
        Y_A, Y_B = AZ / np.sqrt(own), state.average / np.sqrt(own)
        across, metric = np.triu((Z.T @ Y_A).T, 1), (Z.T @ Y_B).T
        pushed = b * (Y_B @ across) - BZ * (across * metric).sum(axis=0)
        moved = Z + self.step_size * (b * AZ - a * BZ - pushed)
        return np.asarray(moved / np.maximum(np.linalg.norm(moved, axis=0), TINY))


HUGE = 1e8
"""Entry of the weights, for data in units, that only divergence reaches."""

TINY = 1e-300
"""Minimum length and square for a division."""


def _root_mean_square(X: Array) -> float:
    largest = float(np.abs(X).max(initial=0.0)) or 1.0
    return largest * float(np.sqrt(np.mean((X / largest) ** 2))) or 1.0
