"""Costs on the Stiefel manifold: linear ones, and PCA as two papers print or build it."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray
from orthobench_stiefel import StiefelOracle, instance, stiefel

from orthobench.contract import AnyInstance, Array, flops, random_point
from orthobench_papers.runs import DrivenRun

CONDITION = 1000
"""The printed condition number of A."""

CHECKED = 10
"""Steps between two measurements of the gap."""


class TraceOracle(StiefelOracle):
    """The oracle of -tr(X'AX)/2.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        Symmetric.
    """

    def __init__(self, A: Array, p: int) -> None:
        self.A, self.n, self.k = A, len(A), p
        self.gradient_flops = flops.gemm(self.n, p, self.n)
        self.cost_flops = self.gradient_flops + 2 * self.n * p

    @property
    def both_flops(self) -> int:
        """Flops of one `value_and_gradient`."""
        return self.cost_flops

    def value(self, X: Array) -> float:
        """Return -tr(X'AX)/2."""
        return -float(np.vdot(X, self.A @ X)) / 2

    def gradient(self, X: Array) -> Array:
        """Return -AX."""
        return -(self.A @ X)

    def value_and_gradient(self, X: Array) -> tuple[float, Array]:
        """Return both, which share AX."""
        G = self.gradient(X)
        return float(np.vdot(X, G)) / 2, G

    def gradient_rows(self, X: Array, rows: NDArray[np.intp]) -> Array:
        """Return rows of -AX, from the same rows of A."""
        return -(self.A[rows] @ X)

    def gradient_rows_flops(self, count: int) -> int:
        """Return the flops of `gradient_rows`."""
        return flops.gemm(count, self.k, self.n)


def linear(G: Array) -> AnyInstance:
    """Return the instance of tr(G'X), whose gradient is G everywhere."""
    return stiefel(lambda X: float(np.vdot(G, X)), lambda _: G, n=G.shape[0], p=G.shape[1])


def matrix(n: int, seed: int, *, printed: bool) -> Array:
    """Return A = QDQ' with eigenvalues from 10/1000 to 10, or the public code's version of it.

    That is the symmetric part of QDQ, with other eigenvalues.
    """
    Q = random_point(n, n, np.random.default_rng(seed))
    QD = Q * (10 * np.geomspace(1 / CONDITION, 1, n))
    A = QD @ (Q.T if printed else Q)
    symmetric: Array = (A + A.T) / 2
    return symmetric


def leading(A: Array, p: int) -> AnyInstance:
    """Return the instance of -tr(X'AX)/2 for p columns, with its minimum."""
    return instance(TraceOracle(A, p), -float(np.linalg.eigvalsh(A)[-p:].sum()) / 2)


def pca(n: int, p: int, seed: int, *, printed: bool) -> AnyInstance:
    """Return the instance of `matrix`."""
    return leading(matrix(n, seed, printed=printed), p)


def relative_gap(run: DrivenRun) -> float:
    """Return the relative distance of the cost from its minimum."""
    return run.metrics["objective_gap"] / abs(run.instance.best["objective"])


def until(run: DrivenRun, gap: float, most: int) -> float:
    """Advance a run to a relative gap; return its flops, infinite after `most` steps."""
    while relative_gap(run) > gap:
        if run.state.work.steps >= most:
            return inf
        run.advance(CHECKED)
    return float(run.state.work.flops)
