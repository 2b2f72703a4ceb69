"""Augmented approximate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, Solver, State, Status, UsageError, flops, parameter
from orthobench_cca.covariances import small_root_flops
from orthobench_cca.oracle import PairsOracle, halves


@dataclass(slots=True, kw_only=True)
class AppGradState(State):
    """The augmented weights (p, k) and (q, k), and those normalized on the last batch.

    Data are in `units`: the root of the mean |x|² and |y|² of the first batch, or 1.
    """

    free_a: Array
    free_b: Array
    A: Array
    B: Array
    units: tuple[float, float] | None = None


@dataclass(frozen=True)
class AppGrad(Solver[PairsOracle, AppGradState]):
    """Stochastic AppGrad: least-squares gradient steps on batches, normalized separately.

    The augmented weights are F <- F - (step / L)
    (X'(XF - YB) / b + ridge F). Then A = F (F'S F)^-½ with S = X'X / b + ridge I of the batch;
    likewise G and B with the previous A. L is the mean |x|² of the batch, |y|² for the other half.

    Notes
    -----
    8b(p + q)k flops and lower terms a step of b pairs. Memory: 4(p + q)k doubles, and the batch.

    References
    ----------
    Ma, Lu and Foster 2015, "Finding linear structure in large datasets with scalable canonical
    correlation analysis", the stochastic form of AppGrad. The division by L is this project's.
    """

    step_size: float = parameter(
        1.0,
        name="step",
        help="step in units of 1 / E|x|²",
        above=0.0,
        grid=(0.1, 0.3, 1.0, 3.0, 10.0),
    )
    batch: int = parameter(100, help="pairs a step, at least k", low=1)
    relative: bool = parameter(
        True, help="take data in units of the first batch; without it, as they are"
    )

    name: ClassVar[str] = "cca-appgrad"
    source: ClassVar[str] = "Ma, Lu and Foster 2015"

    def init(self, oracle: PairsOracle, rng: np.random.Generator) -> AppGradState:
        if self.batch < oracle.k:
            raise UsageError(f"batch must be at least k = {oracle.k}, not {self.batch}")
        A, B = halves(oracle.start, oracle.p)
        return AppGradState(free_a=A.copy(), free_b=B.copy(), A=A.copy(), B=B.copy())

    def step(self, oracle: PairsOracle, state: AppGradState) -> None:
        pairs = oracle.take(self.batch)
        X, Y = pairs[:, : oracle.p], pairs[:, oracle.p :]
        if state.units is None:
            state.units = (_size(X), _size(Y)) if self.relative else (1.0, 1.0)
        a, b = state.units
        X, Y = X / a, Y / b
        old_A, old_B = X @ state.A, Y @ state.B
        if len(X) < oracle.k:  # what is left at the end spans too little to normalize on
            state.work.steps += 1
            state.work.samples += len(X)
            return
        state.free_a, state.A = self._half(X, old_B, state.free_a, oracle.ridge / a / a)
        state.free_b, state.B = self._half(Y, old_A, state.free_b, oracle.ridge / b / b)
        state.work.steps += 1
        state.work.samples += len(X)
        state.work.flops += step_flops(len(X), *oracle.sizes)
        if not (np.isfinite(state.A).all() and np.isfinite(state.B).all()):
            state.status, state.reason = Status.FAILED, "the weights diverge: lower `step`"

    def _half(self, X: Array, target: Array, free: Array, ridge: float) -> tuple[Array, Array]:
        count = len(X)
        scale = self.step_size / (float(np.vdot(X, X)) / count + ridge)
        free = free - scale * (X.T @ (X @ free - target) / count + ridge * free)
        inside = X @ free
        values, vectors = np.linalg.eigh(inside.T @ inside / count + ridge * (free.T @ free))
        with np.errstate(divide="ignore", invalid="ignore"):
            root = (vectors / np.sqrt(values)) @ vectors.T
        return free, np.asarray(free @ root)

    def solution(self, state: AppGradState) -> Solution:
        a, b = state.units or (1.0, 1.0)
        return Solution(np.vstack([state.free_a / a, state.free_b / b]))


def _size(X: Array) -> float:
    largest = float(np.abs(X).max(initial=0.0)) or 1.0
    return largest * float(np.linalg.norm(X / largest)) / len(X) ** 0.5 or 1.0


def step_flops(b: int, p: int, q: int, k: int) -> int:
    """Return the flops of a step."""
    total = 0
    for m in (p, q):
        total += 4 * flops.gemm(b, k, m) + flops.gemm(k, k, b) + 2 * flops.gemm(m, k, k)
        total += 2 * b * m + b * k + 5 * m * k + 3 * k * k + small_root_flops(k)
    return total
