"""Bases of methods without steps, which run anew at each call of `advance`."""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from orthobench.contract import (
    SampleOracle,
    Solution,
    State,
    Status,
    complete,
    copied,
    is_plain,
    namespace,
)
from orthobench.contract.solver import OracleT_contra
from orthobench_kit.peer import Peer, finite

SEEDS = 2**31
"""Bound of the seeds of libraries."""


class Run(NamedTuple):
    """The result of a run from the start.

    Attributes
    ----------
    iterations : int
        Fewer than allowed if it ended by itself.
    failure : str
        Why there is no solution, a sentence; empty if there is one.
    samples : int
        Evaluations of a function on the Stiefel manifold.
    """

    solution: Solution
    iterations: int
    flops: int
    failure: str = ""
    samples: int = 0


@dataclass(slots=True, kw_only=True)
class RerunState(State):
    """The solution of the last run, and data and start of all runs."""

    prepared: Any
    seed: int
    solution: Solution
    prepare_flops: int


class Rerun(Peer[OracleT_contra, RerunState]):
    """Base of iterative methods that a library runs as a whole.

    After s steps solution, time and counts are those of one run from the start with at most s
    iterations. A run that ends by itself has converged.
    """

    converges: ClassVar[bool] = True
    reruns: ClassVar[bool] = True

    def begin(self, oracle: OracleT_contra, rng: np.random.Generator) -> RerunState:
        prepared, solution, flops = self.prepare(oracle)
        seed = int(rng.integers(SEEDS))
        state = RerunState(prepared=prepared, seed=seed, solution=solution, prepare_flops=flops)
        state.work.flops = flops
        return state

    def advance(self, oracle: OracleT_contra, state: RerunState, count: int) -> None:
        if state.status is not Status.RUNNING:
            return
        allowed = state.work.steps + count
        run = self.run(oracle, state, allowed)
        state.solution = run.solution
        state.work.steps = max(state.work.steps, min(run.iterations, allowed))
        state.work.flops = state.prepare_flops + run.flops
        state.work.samples = max(state.work.samples, run.samples)
        if run.failure:
            state.status, state.reason = Status.FAILED, run.failure
        elif run.iterations < allowed:
            state.status = Status.CONVERGED

    def solution(self, state: RerunState) -> Solution:
        return deepcopy(state.solution)

    @abstractmethod
    def prepare(self, oracle: OracleT_contra) -> tuple[Any, Solution, int]:
        """Return data and start of all runs, a first solution, and flops."""

    @abstractmethod
    def run(self, oracle: OracleT_contra, state: RerunState, iterations: int) -> Run:
        """Run from the start with at most `iterations` iterations."""


@dataclass(slots=True, kw_only=True)
class BatchState(State):
    """All samples X (n, d) so far, the basis fitted to them, and the start that completes it.

    `seed` is that of every fit.
    """

    start: Any
    seed: int
    X: Any
    basis: Any


class Batch(Peer[SampleOracle, BatchState]):
    """Base of methods that decompose all samples so far at once, not centred.

    After s samples solution, time and counts are those of one decomposition of them.
    """

    reruns: ClassVar[bool] = True
    batch = 1

    def begin(self, oracle: SampleOracle, rng: np.random.Generator) -> BatchState:
        start, seed = copied(oracle.start), int(rng.integers(SEEDS))
        return BatchState(start=start, seed=seed, X=start.T[:0, :], basis=start)

    def advance(self, oracle: SampleOracle, state: BatchState, count: int) -> None:
        taken = oracle.take(count)
        taken = finite(taken, "samples") if is_plain(taken) else copied(taken)
        known = state.X.shape[0] > 0
        state.X = namespace(taken).concat([state.X, taken]) if known else taken
        state.work.steps += count
        state.work.samples += count
        if not is_plain(taken) or state.X[:1].any() or state.X.any():
            found, state.work.flops = self.fit(state.X, min(oracle.k, *state.X.shape), state)
            state.basis = complete(found, state.start, oracle.k)

    def solution(self, state: BatchState) -> Solution:
        return Solution(copied(state.basis))

    @abstractmethod
    def fit(self, X: Any, k: int, state: BatchState) -> tuple[Any, int]:
        """Return the k leading right singular vectors of X, or fewer, and the flops.

        X (n, d) is not all zero, k <= min(n, d); `state` has a seed and a start.

        Returns
        -------
        basis : array, shape (d, <= k)
            Orthonormal columns.
        flops : int
        """
