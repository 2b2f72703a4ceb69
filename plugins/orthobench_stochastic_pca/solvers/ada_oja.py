"""AdaOja: Oja's method in blocks with AdaGrad's step sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import (
    Array,
    SampleOracle,
    Solution,
    Solver,
    Status,
    flops,
    orthonormalize,
    parameter,
)
from orthobench_stochastic_pca.blocks import ModeratedState, batch_parameter, taken


@dataclass(slots=True, kw_only=True)
class AdaOjaState(ModeratedState):
    """The basis U (d, k), and the squares (k,) of its denominators."""

    U: Array
    squares: Array


@dataclass(frozen=True)
class AdaOja(Solver[SampleOracle, AdaOjaState]):
    """Oja's method in blocks whose step sizes need no tuning.

    G is X'XU / b for a block X of b samples. Each column has s_j² <- s_j² + |g_j|², as published,
    or all have s² <- s² + |G|², with a subspace independent of the basis of the start. Then U <-
    the Q factor of U + G diag(1/s). From 1e-8 to 1 times the largest eigenvalue of the moment the
    first s hardly matters.

    Notes
    -----
    4bdk + 5dk flops a step, and a QR (d, k). Memory: 3dk doubles.

    References
    ----------
    Henriksen and Ward 2019, "AdaOja: adaptive learning rates for streaming PCA", Algorithm 2.
    """

    batch: int = batch_parameter()
    rates: str = parameter(
        "column", help="a step size for each column, or one in common", choices=("column", "common")
    )
    start: float = parameter(1e-5, help="denominator of the step sizes at first", above=0.0)
    relative: bool = parameter(True, help="take start in units of the mean |x|²")

    name: ClassVar[str] = "ada-oja"
    source: ClassVar[str] = "Henriksen and Ward 2019, Algorithm 2"

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> AdaOjaState:
        del rng
        first = 0.0 if self.relative else self.start**2
        return AdaOjaState(U=oracle.start.copy(), squares=np.full(oracle.k, first))

    def step(self, oracle: SampleOracle, state: AdaOjaState) -> None:
        X = taken(oracle, state, self.batch)
        if state.status is Status.FAILED:
            return
        d, k = state.U.shape
        if not state.squares.any() and X.any():
            start = self.start * np.vdot(X, X) / len(X)
            state.squares = np.full(k, start**2)
        G = X.T @ (X @ state.U) / len(X)
        added = np.einsum("ij,ij->j", G, G)
        state.squares = state.squares + (added if self.rates == "column" else added.sum())
        if state.squares.all():
            state.U = orthonormalize(state.U + G / np.sqrt(state.squares))
        state.work.flops += 2 * flops.gemm(len(X), k, d) + 5 * d * k + flops.qr(d, k)

    def solution(self, state: AdaOjaState) -> Solution:
        return Solution(state.U.copy())
