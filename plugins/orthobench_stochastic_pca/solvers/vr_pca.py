"""VR-PCA: stochastic power steps with reduced variance."""

from __future__ import annotations

import math
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
    polar,
)
from orthobench_stochastic_pca.blocks import ModeratedState, batch_parameter, taken

ENDLESS = 1000
"""Number of samples of a pass if samples never repeat."""


@dataclass(slots=True, kw_only=True)
class VRState(ModeratedState):
    """The iterate W, its anchor at the beginning of the epoch, and the place in the current pass.

    Attributes
    ----------
    moment : ndarray, shape (d, k)
        The sum, and after the pass the mean, of xx' anchor.
    energy : float
        The sum of |x|² over the first pass.
    epoch, at : int
        Number of samples of a pass, and of the current pass so far.
    passes : int
        Number of passes done: a power iteration, then passes for the moment and stochastic ones.
    """

    W: Array
    anchor: Array
    moment: Array
    epoch: int
    energy: float = 0.0
    at: int = 0
    passes: int = 0


@dataclass(frozen=True)
class VRPCA(Solver[SampleOracle, VRState]):
    """Stochastic PCA with variance reduction, which converges linearly on data of finitely many.

    The first pass is a power iteration. An epoch is two passes over the n samples. The first finds
    M = CA for the anchor A, the iterate so far, with C the mean of all xx'. The second takes blocks
    X of b samples: W <- the polar factor of W + eta (X'X(W - AB)/b + MB), where B is the orthogonal
    matrix nearest to A'W. The step size eta is `step` in units of b / (the mean of |x|² times the
    root of n): for b = 1 that of the paper. A pass has 1,000 samples if they never repeat, which
    limits the reduction of the variance.

    Notes
    -----
    4bdk flops a step in a pass for the moment; 4bdk + 6dk² + 7dk and polar factors of (d, k) and
    (k, k) in the other. Memory: 6dk doubles.

    References
    ----------
    Shamir 2015, "A stochastic PCA and SVD algorithm with an exponential convergence rate",
    Algorithm 1; Shamir 2016, "Fast stochastic algorithms for SVD and PCA: convergence properties
    and convexity", Algorithm 1, for k > 1 and the first power iteration.
    """

    batch: int = batch_parameter()
    step_size: float = parameter(
        1.0, name="step", help="step size, relative to the default of the paper", above=0.0,
        grid=(0.1, 0.3, 1.0, 3.0, 10.0),
    )  # fmt: skip
    epoch: int | None = parameter(
        None, help="samples of a pass; by default all of the data", unit="samples", low=1
    )

    name: ClassVar[str] = "vr-pca"
    source: ClassVar[str] = "Shamir 2016, Algorithm 1"

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> VRState:
        del rng
        W = oracle.start.copy()
        length = int(oracle.length) if math.isfinite(oracle.length) else ENDLESS
        return VRState(W=W, anchor=W, moment=np.zeros_like(W), epoch=self.epoch or length)

    def step(self, oracle: SampleOracle, state: VRState) -> None:
        X = taken(oracle, state, min(self.batch, state.epoch - state.at))
        if state.status is Status.FAILED:
            return
        state.at += len(X)
        if state.passes == 0 or state.passes % 2:
            self._collect(state, X)
        else:
            self._move(state, X)
        if state.at == state.epoch:
            _end_pass(state)

    def solution(self, state: VRState) -> Solution:
        return Solution(state.W.copy())

    def _collect(self, state: VRState, X: Array) -> None:
        d, k = state.W.shape
        state.moment = state.moment + X.T @ (X @ state.anchor)
        state.work.flops += 2 * flops.gemm(len(X), k, d) + d * k
        if state.passes == 0:
            state.energy += float(np.vdot(X, X))
            state.work.flops += 2 * X.size

    def _move(self, state: VRState, X: Array) -> None:
        (d, k), W = state.W.shape, state.W
        B = polar(state.anchor.T @ W)
        noise = X.T @ (X @ (W - state.anchor @ B)) / len(X)
        state.W = polar(W + self._eta(state) * (noise + state.moment @ B))
        products = 2 * flops.gemm(len(X), k, d) + 3 * flops.gemm(d, k, k)
        state.work.flops += products + 5 * d * k + flops.polar(k, k) + flops.polar(d, k)

    def _eta(self, state: VRState) -> float:
        mean = state.energy / state.epoch
        unit = self.step_size * self.batch / math.sqrt(state.epoch)
        return unit / mean if mean else 0.0


def _end_pass(state: VRState) -> None:
    if state.passes == 0:
        state.W = orthonormalize(state.moment)
        state.work.flops += flops.qr(*state.W.shape)
    elif state.passes % 2:
        state.moment = state.moment / state.epoch
    if state.passes % 2 == 0:
        state.anchor, state.moment = state.W, np.zeros_like(state.W)
    state.at, state.passes = 0, state.passes + 1
