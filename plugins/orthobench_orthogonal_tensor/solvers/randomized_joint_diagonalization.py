"""Factors as the eigenvectors of random contractions, refined by one power iteration on all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench_kit.symmetric_tensors import norm

from orthobench.contract import Array, Solution, Solver, State, Status, flops, parameter, polar
from orthobench_orthogonal_tensor import AnyOrderOracle, decomposition
from orthobench_orthogonal_tensor.any_order import (
    column_products,
    images,
    images_flops,
    random_matrix,
    random_matrix_flops,
)

EXACT = 1e-12
"""Share of |T|² that factors may leave out to be taken as exact: their error is about its root."""


@dataclass(slots=True, kw_only=True)
class JointDiagonalizationState(State):
    """The best factors so far, with their contractions.

    Attributes
    ----------
    order : int
        That of the tensor.
    square : float
        |T|².
    trials, refinements : int
        How many are left.
    rng : numpy.random.Generator
        Draws the contractions.
    U : ndarray, shape (n, n)
        The best orthonormal factors so far; the oracle's start before the first trial.
    images : ndarray, shape (n, n)
        The columns T(I, u_i, ..., u_i).
    weights : ndarray, shape (n,)
        T(u_i, ..., u_i).
    """

    order: int
    square: float
    trials: int
    refinements: int
    rng: np.random.Generator
    U: Array
    images: Array
    weights: Array


@dataclass(frozen=True)
class RandomizedJointDiagonalization(Solver[AnyOrderOracle, JointDiagonalizationState]):
    """Randomized joint diagonalization: eigenvectors of random contractions, and one refinement.

    The slices of T = sum_i w_i u_i ⊗ ... ⊗ u_i are diagonal in the same basis, and so is any of
    their linear combinations: the factors are the eigenvectors of T(I, I, mu, ..., mu) for a random
    vector mu, unless two of its eigenvalues w_i (u_i'mu)^(d - 2) are equal. A trial draws a
    Gaussian mu; of `trials` trials those eigenvectors are kept whose sum of squared weights
    T(u_i, ..., u_i)² is largest. That sum is |T|² where they are the factors: then no other is
    tried. Nothing is iterated.

    With noise the error is of the order of the noise, but larger than it by one over the gaps
    between the eigenvalues. So a step of the power iteration on all factors at once,
    U <- polar([w_i T(I, u_i, ..., u_i)]_i), follows: where the error was small it is squared, and
    what remains is that of the noise.

    A step is a trial, or a refinement; then the method has converged. Of order 4 weights may be
    negative.

    Parameters
    ----------
    trials : int
        Most contractions tried. Several make it unlikely that close eigenvalues mix two factors.
    refinements : int
        Power iterations after that; 0 is the method as published.

    Notes
    -----
    2n^(d + 1)/3 + 9n³ flops a trial, up to lower terms, and 2n^(d + 1)/3 + 28n³ a refinement, where
    only a third of the entries of T is read. Memory:
    4n² doubles beside the tensor.

    References
    ----------
    He and Kressner 2024, "Randomized joint diagonalization of symmetric matrices", Algorithm 1,
    on the slices of a tensor. The refinement is that of `polar-power`, weighted.
    """

    trials: int = parameter(3, help="most random contractions, of which the best is kept", low=1)
    refinements: int = parameter(1, help="power iterations on all factors afterwards", low=0)

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "randomized-joint-diagonalization"
    source: ClassVar[str] = "He and Kressner 2024, Algorithm 1, on the slices of a tensor"

    def init(self, oracle: AnyOrderOracle, rng: np.random.Generator) -> JointDiagonalizationState:
        """Return the common start, of no weight."""
        n, order = oracle.n, oracle.T.ndim
        state = JointDiagonalizationState(
            order=order,
            square=norm(oracle.T) ** 2,
            trials=self.trials,
            refinements=self.refinements,
            rng=rng,
            U=oracle.start.copy(),
            images=np.zeros((n, n)),
            weights=np.zeros(n),
        )
        state.work.flops += 2 * n**order // 3
        return state

    def step(self, oracle: AnyOrderOracle, state: JointDiagonalizationState) -> None:
        """Make the next trial, or refine."""
        if state.trials:
            self._try(oracle.T, state)
        else:
            self._refine(oracle.T, state)
        state.work.steps += 1
        state.work.flops += images_flops(oracle.n, oracle.n, state.order) + 2 * oracle.n**2
        if not np.isfinite(state.weights).all():
            state.status, state.reason = Status.FAILED, "a contraction of the tensor is not finite"
        elif state.trials == state.refinements == 0:
            state.status = Status.COMPLETE

    def solution(self, state: JointDiagonalizationState) -> Solution:
        """Return the factors, and T(u, ..., u) of each as its weight."""
        return decomposition(state.U, state.weights, state.order)

    def _try(self, T: Array, state: JointDiagonalizationState) -> None:
        """Keep the eigenvectors of a random contraction if they are better than those so far."""
        n = len(T)
        U = np.ascontiguousarray(np.linalg.eigh(random_matrix(T, state.rng))[1])
        contracted = images(T, U)
        weights = column_products(U, contracted)
        found = weights @ weights
        if not found < state.weights @ state.weights:
            state.U, state.images, state.weights = U, contracted, weights
        state.trials = 0 if state.square - found <= EXACT * state.square else state.trials - 1
        state.work.flops += random_matrix_flops(n, state.order) + flops.eigh(n) + 4 * n

    def _refine(self, T: Array, state: JointDiagonalizationState) -> None:
        """Take the polar factor of the weighted contractions."""
        n = len(T)
        state.U = polar(state.images * state.weights)
        state.images = images(T, state.U)
        state.weights = column_products(state.U, state.images)
        state.refinements -= 1
        state.work.flops += n * n + flops.polar(n, n)
