"""Methods that cannot be stepped: each call of `advance` is a run from the start."""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from orthobench.contract import (
    Array,
    OracleT_contra,
    SampleOracle,
    Solution,
    State,
    Status,
    complete,
)
from orthobench_peers.peer import Peer, finite

SEEDS = 2**31
"""Libraries take seeds below this."""


class Run(NamedTuple):
    """What a run from the start gave.

    Attributes
    ----------
    solution : Solution
    iterations : int
        How many it did: fewer than it was allowed where it ended by itself.
    flops : int
    failure : str
        Why there is no solution, in a sentence; empty where there is one.
    """

    solution: Solution
    iterations: int
    flops: int
    failure: str = ""


@dataclass(slots=True, kw_only=True)
class RerunState(State):
    """The last run.

    Attributes
    ----------
    given : object
        What every run begins with: the data as the library wants them.
    seed : int
        What is random in every run.
    solution : Solution
    beginning : int
        Flops of `Rerun.ready`.
    """

    given: Any
    seed: int
    solution: Solution
    beginning: int = 0


class Rerun(Peer[OracleT_contra, RerunState]):
    """Base of iterative methods that a library only runs as a whole.

    After s steps the solution is that of one run from the start with s iterations at most, and
    so are clock and counts: the trace is made by re-running with growing budgets. All runs
    together take some four times as long as the last. A run that ends by itself has converged.
    """

    reruns: ClassVar[bool] = True

    def begin(self, oracle: OracleT_contra, rng: np.random.Generator) -> RerunState:
        """Prepare the data, and draw the seed of all runs."""
        given, solution, flops = self.ready(oracle)
        seed = int(rng.integers(SEEDS))
        state = RerunState(given=given, seed=seed, solution=solution, beginning=flops)
        state.work.flops = flops
        return state

    def step(self, oracle: OracleT_contra, state: RerunState) -> None:
        """Run from the start with one more iteration."""
        self.advance(oracle, state, 1)

    def advance(self, oracle: OracleT_contra, state: RerunState, count: int) -> None:
        """Run from the start with `count` more iterations."""
        if state.status is not Status.RUNNING:
            return
        allowed = state.work.steps + count
        run = self.run(oracle, state, allowed)
        state.solution = run.solution
        state.work.steps = max(state.work.steps, min(run.iterations, allowed))
        state.work.flops = state.beginning + run.flops
        if run.failure:
            state.status, state.reason = Status.FAILED, run.failure
        elif run.iterations < allowed:
            state.status = Status.CONVERGED

    def solution(self, state: RerunState) -> Solution:
        """Return a copy of what the last run gave."""
        return deepcopy(state.solution)

    @abstractmethod
    def ready(self, oracle: OracleT_contra) -> tuple[Any, Solution, int]:
        """Return what every run begins with, the solution before any, and the flops of both."""

    @abstractmethod
    def run(self, oracle: OracleT_contra, state: RerunState, iterations: int) -> Run:
        """Run from the start with so many iterations at most."""


@dataclass(slots=True, kw_only=True)
class BatchState(State):
    """All samples so far.

    Attributes
    ----------
    start : ndarray, shape (d, k)
        What the solution is completed from while the samples span fewer than k dimensions.
    seed : int
        What is random in every fit.
    X : ndarray, shape (n, d)
    basis : ndarray, shape (d, k)
    """

    start: Array
    seed: int
    X: Array
    basis: Array


class Batch(Peer[SampleOracle, BatchState]):
    """Base of methods that decompose all samples at once.

    After s samples the solution is that of one decomposition of them, and so are clock and
    counts. The second moment is not centred.
    """

    needs: ClassVar[type[SampleOracle]] = SampleOracle
    reruns: ClassVar[bool] = True
    batch = 1

    def begin(self, oracle: SampleOracle, rng: np.random.Generator) -> BatchState:
        """Begin with no samples."""
        start = oracle.start.copy()
        seed = int(rng.integers(SEEDS))
        return BatchState(start=start, seed=seed, X=np.empty((0, oracle.n)), basis=start)

    def step(self, oracle: SampleOracle, state: BatchState) -> None:
        """Take one sample, and decompose all."""
        self.advance(oracle, state, 1)

    def advance(self, oracle: SampleOracle, state: BatchState, count: int) -> None:
        """Take `count` samples, and decompose all so far."""
        state.X = np.concatenate([state.X, finite(oracle.take(count), "samples")])
        state.work.steps += count
        state.work.samples += count
        if state.X.any():
            found, state.work.flops = self.fit(state.X, min(oracle.k, *state.X.shape), state)
            state.basis = complete(found, state.start, oracle.k)

    def solution(self, state: BatchState) -> Solution:
        """Return the basis, (d, k)."""
        return Solution(state.basis.copy())

    @abstractmethod
    def fit(self, X: Array, k: int, state: BatchState) -> tuple[Array, int]:
        """Return the k leading right singular vectors of X, or fewer, and the flops.

        Parameters
        ----------
        X : ndarray, shape (n, d)
            Not all zero.
        k : int
            1 <= k <= min(n, d).
        state : BatchState
            Of which `seed` and `start` are of use.

        Returns
        -------
        basis : ndarray, shape (d, <= k)
            Orthonormal columns.
        flops : int
        """
