"""Solvers of the generalized eigenvalue problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, Solver, State, Status, flops, parameter
from orthobench_cca.covariances import normalized, normalized_flops
from orthobench_cca.pencil import PencilOracle, leading

SHIFT = 1.1
"""Shift relative to a negative Ritz value, above one."""


@dataclass(slots=True, kw_only=True)
class PencilState(State):
    """The eigenvectors X (n, k) so far, and the `shift` times B that `genelink` adds to A."""

    X: Array
    shift: float = 0.0


class PencilSolver(Solver[PencilOracle, PencilState]):
    """Base of the methods."""

    converges: ClassVar[bool] = True

    def solution(self, state: PencilState) -> Solution:
        return Solution(state.X.copy())


@dataclass(frozen=True)
class GeneralizedExact(PencilSolver):
    """Eigenvectors of B^-½ A B^-½, multiplied by B^-½.

    Notes
    -----
    9n³ flops for each of the two eigendecompositions, and 6n³ for products. Memory: 4n² doubles.

    References
    ----------
    Golub and Van Loan 2013, "Matrix computations", section 8.7.2, with the symmetric root of B in
    place of its Cholesky factor.
    """

    name: ClassVar[str] = "generalized-exact"
    source: ClassVar[str] = "Golub and Van Loan 2013, section 8.7.2"

    def init(self, oracle: PencilOracle, rng: np.random.Generator) -> PencilState:
        return PencilState(X=oracle.start.copy())

    def step(self, oracle: PencilOracle, state: PencilState) -> None:
        n, k = oracle.n, oracle.k
        state.X = leading(oracle.A, oracle.B, k)
        state.work.steps += 1
        state.work.flops += 2 * flops.eigh(n) + 3 * flops.gemm(n, n, n) + n * n + n
        state.work.flops += flops.gemm(n, k, n)
        state.status = Status.CONVERGED


@dataclass(frozen=True)
class GenELinK(PencilSolver):
    """Inverse-free subspace iteration: X <- B^-1 A X approximately, normalized in the metric B.

    The linear systems BZ = AX are solved by `inner` conjugate gradients from X (X'BX)^-1 X'AX;
    then X <- Z (Z'BZ)^-½. If a Ritz value of X is negative, A becomes A + shift B, with a shift of
    1.1 times its size. It ends if X moves by at most `tolerance` in the metric B, beyond its span;
    with tolerance 0 never.

    Notes
    -----
    2n²k (`inner` + 4) flops and lower terms a step. Memory: 6nk doubles.

    References
    ----------
    Ge, Jin, Kakade, Netrapalli and Sidford 2016, "Efficient algorithms for large-scale generalized
    eigenvector computation and canonical correlation analysis", GenELinK. It leaves the solver of
    linear systems open.
    """

    inner: int = parameter(5, help="conjugate gradients a step", low=1, grid=(1, 2, 5, 10, 20))
    tolerance: float = parameter(1e-12, help="distance that X moves in the last step", low=0.0)

    name: ClassVar[str] = "genelink"
    source: ClassVar[str] = "Ge, Jin, Kakade, Netrapalli and Sidford 2016, GenELinK"

    def init(self, oracle: PencilOracle, rng: np.random.Generator) -> PencilState:
        state = PencilState(X=normalized(oracle.start, oracle.B))
        state.work.flops += normalized_flops(oracle.n, oracle.k)
        return state

    def step(self, oracle: PencilOracle, state: PencilState) -> None:
        n, k = oracle.n, oracle.k
        X, right = state.X, oracle.A @ state.X
        least = float(np.linalg.eigvalsh(X.T @ right)[0])
        shifted = -SHIFT * least > state.shift
        if shifted:
            state.shift = -SHIFT * least
        if state.shift:
            right = right + state.shift * (oracle.B @ X)
            state.work.flops += flops.gemm(n, k, n) + 2 * n * k
        Z = conjugate_gradients(oracle.B, right, X @ (X.T @ right), self.inner)
        state.X = normalized(Z, oracle.B)
        moved = state.X - X @ (X.T @ (oracle.B @ state.X))
        square = float(np.vdot(moved, oracle.B @ moved))
        state.work.steps += 1
        state.work.flops += (self.inner + 4) * flops.gemm(n, k, n) + 2 * flops.gemm(k, k, n)
        state.work.flops += 2 * flops.gemm(n, k, k) + (10 * self.inner + 6) * n * k
        state.work.flops += normalized_flops(n, k) + flops.gemm(k, k, n) + flops.eigh(k)
        if not np.isfinite(square):
            state.status, state.reason = Status.FAILED, "the eigenvectors are not finite"
        elif square <= self.tolerance**2 and not shifted:
            state.status = Status.CONVERGED


def conjugate_gradients(B: Array, right: Array, Z: Array, count: int) -> Array:
    """Return Z after some conjugate gradients on BZ = right, column by column."""
    R = right - B @ Z
    P, squares = R, np.sum(R * R, axis=0)
    for _ in range(count):
        BP = B @ P
        lengths = _ratio(squares, np.sum(P * BP, axis=0))
        Z, R = Z + lengths * P, R - lengths * BP
        before, squares = squares, np.sum(R * R, axis=0)
        P = R + _ratio(squares, before) * P
    return Z


def _ratio(over: Array, under: Array) -> Array:
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)
