"""Randomized joint diagonalization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench_kit.symmetric_tensors import contracted, norm

from orthobench.contract import Array, Solution, Solver, State, Status, flops, parameter, polar
from orthobench_orthogonal_tensor import AnyOrderOracle, decomposition

EXACT = 1e-12
"""Share of |T|² outside factors that are exact: their error is about its root."""


@dataclass(slots=True, kw_only=True)
class JointDiagonalizationState(State):
    """The best orthonormal factors U (n, n) so far, with their contractions.

    `images` (n, n) are the columns T(I, u_i, ..., u_i), `weights` (n,) T(u_i, ..., u_i), `square`
    is |T|². `trials` and `refinements` are the numbers left.
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

    The factors are the eigenvectors of T(I, I, mu, ..., mu) for a random mu, unless two of its
    eigenvalues w_i (u_i'mu)^(d - 2) are equal. The best of `trials` trials with Gaussian mu has
    the largest sum of T(u_i, ..., u_i)², which is |T|² for the true factors: then no other is
    tried. Power iterations, `refinements` of them, U <- polar([w_i T(I, u_i, ..., u_i)]_i) square
    a small error, up to that of the noise. Zero is the method as published. For order 4 weights
    may be negative.

    Notes
    -----
    2n^(d + 1)/3 + 9n³ flops a trial, up to lower terms, and 2n^(d + 1)/3 + 28n³ a refinement, if
    only a third of the entries of T is read. Memory: 4n² doubles beside the tensor.

    References
    ----------
    He and Kressner 2024, "Randomized joint diagonalization of symmetric matrices", Algorithm 1, on
    the slices of a tensor. The refinement is that of `polar-power`, weighted.
    """

    trials: int = parameter(3, help="maximum number of random contractions", low=1)
    refinements: int = parameter(1, help="power iterations on all factors afterwards", low=0)

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "randomized-joint-diagonalization"
    source: ClassVar[str] = "He and Kressner 2024, Algorithm 1, on the slices of a tensor"

    def init(self, oracle: AnyOrderOracle, rng: np.random.Generator) -> JointDiagonalizationState:
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
        return decomposition(state.U, state.weights, state.order)

    def _try(self, T: Array, state: JointDiagonalizationState) -> None:
        n = len(T)
        U = np.ascontiguousarray(np.linalg.eigh(random_matrix(T, state.rng))[1])
        found_images = images(T, U)
        weights = column_products(U, found_images)
        found = weights @ weights
        if not found < state.weights @ state.weights:
            state.U, state.images, state.weights = U, found_images, weights
        state.trials = 0 if state.square - found <= EXACT * state.square else state.trials - 1
        state.work.flops += random_matrix_flops(n, state.order) + flops.eigh(n) + 4 * n

    def _refine(self, T: Array, state: JointDiagonalizationState) -> None:
        n = len(T)
        state.U = polar(state.images * state.weights)
        state.images = images(T, state.U)
        state.weights = column_products(state.U, state.images)
        state.refinements -= 1
        state.work.flops += n * n + flops.polar(n, n)


def images(T: Array, U: Array) -> Array:
    """Return T(I, u, ..., u) for each column u of `U` (n, k), in plain NumPy.

    By symmetry only the slices T[a, a:, a:], a third of a third-order tensor, are read.
    `images_flops`; memory 3nk.
    """
    if T.ndim == 4:
        return np.array([contracted(slab, U) for slab in T])
    result, halved = np.zeros(U.shape), U.copy()
    for a, slab in enumerate(T):
        # the entries whose least index is a: all of them add to row a, to a later row i those with
        # one a, twice, or two
        halved[a] /= 2
        product = slab[a:, a:] @ halved[a:]
        result[a] += 1.5 * U[a] * product[0] + slab[a, a] / 4 * U[a] ** 2
        result[a] += column_products(product[1:], U[a + 1 :])
        product *= 2 * U[a]
        result[a + 1 :] += product[1:]
    return result


def column_products(A: Array, B: Array) -> Array:
    """Return the inner product of each column of A with that of B."""
    return np.asarray(np.einsum("nk,nk->k", A, B))


def images_flops(n: int, columns: int, order: int) -> int:
    """Return the flops of `images`: 2n^d k/3 and lower terms, k columns."""
    sizes = range(1, n + 1)
    if order == 4:
        return n * sum(flops.gemm(m, columns, m) + (2 * m + 7) * columns for m in sizes)
    return sum(flops.gemm(m, columns, m) + (4 * m + 6) * columns for m in sizes)


def random_matrix(T: Array, rng: np.random.Generator) -> Array:
    """Return T(I, I, mu, ..., mu) for a standard Gaussian vector mu."""
    mu, matrix = rng.standard_normal(len(T)), T
    while matrix.ndim > 2:
        matrix = matrix @ mu
    return matrix


def random_matrix_flops(n: int, order: int) -> int:
    """Return the flops of `random_matrix`: 2n^d + ... + 2n³."""
    return sum(2 * n**power for power in range(3, order + 1))
