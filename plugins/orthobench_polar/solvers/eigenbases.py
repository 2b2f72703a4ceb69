"""Bases of eigenvectors of a changing Gram matrix."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, Solver, State, Status, flops, parameter
from orthobench_polar.gram_stream import BasisSolution, GramStreamOracle


@dataclass(slots=True, kw_only=True)
class BasisState(State):
    """The matrix S and the basis Q (n, n) of the step `since`."""

    S: Array
    Q: Array
    since: int = 0


@dataclass(frozen=True)
class BasisSolver(Solver[GramStreamOracle, BasisState]):
    """Base: a step takes a gradient, and renews the basis after `every` steps."""

    every: int = parameter(10, low=1, help="steps that a basis serves", grid=(1, 3, 10, 30, 100))

    converges: ClassVar[bool] = True

    def init(self, oracle: GramStreamOracle, rng: np.random.Generator) -> BasisState:
        return BasisState(S=np.zeros((oracle.n, oracle.n)), Q=np.eye(oracle.n))

    def step(self, oracle: GramStreamOracle, state: BasisState) -> None:
        t, (steps, n, m) = state.work.steps, oracle.sizes
        G = oracle.gradients[t]
        state.S = oracle.decay * state.S + (1 - oracle.decay) * G @ G.T
        state.work.flops += flops.gemm(n, n, m) + 3 * n * n
        if t == 0:
            state.Q = np.linalg.eigh(state.S)[1]
            state.work.flops += flops.eigh(n)
        elif t % self.every == 0:
            state.Q, done = self.renewed(state.S, state.Q)
            state.work.flops += done
            state.since = t
        state.work.steps += 1
        if state.work.steps == steps:
            state.status = Status.COMPLETE

    def solution(self, state: BasisState) -> BasisSolution:
        return BasisSolution(state.Q.copy(), since=state.since, every=self.every)

    @abstractmethod
    def renewed(self, S: Array, Q: Array) -> tuple[Array, int]:
        """Return a basis of S, from the last basis, and its flops."""


@dataclass(frozen=True)
class BasisEigh(BasisSolver):
    """The eigenvectors of S, computed anew after `every` steps.

    Notes
    -----
    Flops: 9n³ for each basis, 2n²m for each gradient. Memory: 2n².

    References
    ----------
    Anil, Gupta, Koren, Regan and Singer 2020, "Scalable second order optimization for deep
    learning".
    """

    name: ClassVar[str] = "basis-eigh"
    source: ClassVar[str] = "Anil et al. 2020"

    def renewed(self, S: Array, Q: Array) -> tuple[Array, int]:
        return np.asarray(np.linalg.eigh(S)[1]), flops.eigh(len(S))


@dataclass(frozen=True)
class BasisQR(BasisSolver):
    """Q <- qr(SQ): a power step from the last basis, with columns in the order of diag(Q'SQ).

    Notes
    -----
    Flops: 2n³ and 8n³/3 for each basis, 2n²m for each gradient. Memory: 3n².

    References
    ----------
    Vyas et al. 2024, "SOAP: improving and stabilizing Shampoo using Adam", algorithm 4.
    """

    name: ClassVar[str] = "basis-qr"
    source: ClassVar[str] = "Vyas et al. 2024, algorithm 4"

    def renewed(self, S: Array, Q: Array) -> tuple[Array, int]:
        n = len(S)
        SQ = S @ Q
        order = np.argsort(-np.einsum("ij,ij->j", Q, SQ), kind="stable")
        done = flops.gemm(n, n, n) + 2 * n * n + flops.qr(n, n)
        return np.asarray(np.linalg.qr(SQ[:, order])[0]), done


@dataclass(frozen=True)
class BasisJacobi(BasisSolver):
    """Sweeps of Jacobi rotations on Q'SQ, which is nearly diagonal if S moved little.

    A sweep squares the error, if eigenvalues are apart.

    Notes
    -----
    Flops: 4n³ and 9n³ a sweep for each basis, 2n²m for each gradient. Memory: 4n².

    References
    ----------
    Jacobi 1846; Brent and Luk 1985, "The solution of singular-value and symmetric eigenvalue
    problems on multiprocessor arrays", for the order of pairs.
    """

    sweeps: int = parameter(1, low=1, help="sweeps for each basis")

    name: ClassVar[str] = "basis-jacobi"
    source: ClassVar[str] = "Jacobi 1846; Brent and Luk 1985"

    def renewed(self, S: Array, Q: Array) -> tuple[Array, int]:
        n = len(S)
        M, Q = Q.T @ S @ Q, Q.copy()
        for _ in range(self.sweeps):
            for p, q in rounds(n):
                rotate(M, Q, p, q)
        rotations = self.sweeps * (n * (n - 1) // 2)
        return Q, 2 * flops.gemm(n, n, n) + rotations * (18 * n + 10)


def rounds(n: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return rounds of disjoint pairs, with all pairs of n."""
    size = n + n % 2
    ring, found = np.arange(1, size), []
    for _ in range(size - 1):
        seats = np.concatenate([[0], ring])
        p, q = seats[: size // 2], seats[: size // 2 - 1 : -1]
        there = (p < n) & (q < n)
        found.append((np.minimum(p, q)[there], np.maximum(p, q)[there]))
        ring = np.roll(ring, 1)
    return found


def rotate(M: Array, Q: Array, p: NDArray[np.intp], q: NDArray[np.intp]) -> None:
    """Rotate disjoint pairs in place, so that M[p, q] is zero."""
    b = M[p, q]
    difference = M[p, p] - M[q, q]
    angle = np.where(b == 0, 0.0, 0.5 * np.arctan2(2 * b, np.abs(difference)))
    angle = np.where(difference < 0, -angle, angle)
    c, s = np.cos(angle), np.sin(angle)
    for A in (M, Q):
        A[:, p], A[:, q] = c * A[:, p] + s * A[:, q], c * A[:, q] - s * A[:, p]
    M[p], M[q] = c[:, None] * M[p] + s[:, None] * M[q], c[:, None] * M[q] - s[:, None] * M[p]
