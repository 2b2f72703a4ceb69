"""PETRELS: recursive least squares from samples with missing entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, Solver, State, Status, orthonormalize, parameter
from orthobench_stochastic_pca import EntryOracle
from orthobench_stochastic_pca.blocks import fail_unless_finite


@dataclass(slots=True, kw_only=True)
class PETRELSState(State):
    """The factor D (d, k), and the memory of its rows.

    Attributes
    ----------
    inverses : ndarray, shape (d, k, k)
        For each row the inverse of the discounted sum of aa' over the samples that showed it.
    unit : float
        The length of the first sample that is not zero; 0 before it.
    """

    D: Array
    inverses: Array
    unit: float = 0.0


@dataclass(frozen=True)
class PETRELS(Solver[EntryOracle, PETRELSState]):
    """Parallel estimation and tracking by recursive least squares, from observed entries.

    For each sample, a are the least-squares coefficients of its observed entries in D. Then each
    observed row d_m of D moves to the least-squares fit of all entries x_m so far, those of t
    samples ago discounted by forgetting^t:

        R_m <- forgetting R_m + aa',    d_m <- d_m + (x_m - a'd_m) R_m^-1 a

    For rows that are not observed R_m <- forgetting R_m alone. R_m^-1 is `trust` I at first: with a
    small number the common start counts more.

    Notes
    -----
    dk² + 7mk² + 11mk flops a sample with m observed entries. Memory: dk² + dk doubles.

    References
    ----------
    Chi, Eldar and Calderbank 2013, "PETRELS: parallel subspace estimation and tracking by recursive
    least squares from partial observations", Algorithm 1.
    """

    forgetting: float = parameter(
        0.98, help="discount of a sample at each that follows; 1: none", above=0.0, high=1.0
    )
    trust: float = parameter(100.0, help="first inverse of each row's sum of aa'", above=0.0)
    relative: bool = parameter(True, help="divide samples by the length of the first")
    batch = 1

    name: ClassVar[str] = "petrels"
    source: ClassVar[str] = "Chi, Eldar and Calderbank 2013, Algorithm 1"

    def init(self, oracle: EntryOracle, rng: np.random.Generator) -> PETRELSState:
        del rng
        inverses = np.tile(self.trust * np.eye(oracle.k), (oracle.n, 1, 1))
        return PETRELSState(D=oracle.start.copy(), inverses=inverses)

    def step(self, oracle: EntryOracle, state: PETRELSState) -> None:
        sample = oracle.take(1)
        x, seen = sample[0], oracle.observed(sample)[0]
        state.work.steps += 1
        state.work.samples += 1
        state.work.flops += step_flops(oracle.n, oracle.k, int(np.count_nonzero(seen)))
        fail_unless_finite(state, x)
        if state.status is Status.FAILED:
            return
        if self.relative:
            state.unit = state.unit or float(np.linalg.norm(x))
            x = x / (state.unit or 1.0)
        a = np.linalg.lstsq(state.D[seen], x[seen], rcond=None)[0]
        state.inverses /= self.forgetting
        spread = state.inverses[seen] @ a
        growth = 1 + spread @ a
        # symmetric to the last bit: rounding that is not would grow with each discount
        state.inverses[seen] -= spread[:, :, None] * spread[:, None, :] / growth[:, None, None]
        state.D[seen] += ((x[seen] - state.D[seen] @ a) / growth)[:, None] * spread
        if not np.isfinite(state.D).all():
            state.status, state.reason = Status.FAILED, "the factor overflows: raise `forgetting`"

    def solution(self, state: PETRELSState) -> Solution:
        return Solution(orthonormalize(state.D))


def step_flops(d: int, k: int, entries: int) -> int:
    """Return the flops of a step."""
    return entries * (2 * k * k + 4 * k) + d * k * k + entries * (5 * k * k + 7 * k)
