"""Bases of methods of one array library, which decompose all samples where they are."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.peer import Peer, finite
from orthobench_kit.rerun import SEEDS

from orthobench.contract import (
    AnyProblem,
    ArraySolver,
    SampleOracle,
    Solution,
    State,
    complete,
    copied,
    is_plain,
    namespace,
)
from orthobench.contract.solver import OracleT_contra, StateT


class ArrayPeer(Peer[OracleT_contra, StateT], ArraySolver[OracleT_contra, StateT]):
    """Base of methods of one array library, with arrays where that library has them.

    Attributes
    ----------
    library : str
        The array library, as a place names it.
    """

    library: ClassVar[str]

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: another array library, another oracle, or a library that is missing."""
        if self.place.library != self.library:
            return f"computes with {self.library} only, not on {self.on}"
        return super().refuses(problem)


@dataclass(slots=True, kw_only=True)
class ArrayBatchState(State):
    """All samples so far, and the basis fitted to them.

    Attributes
    ----------
    start : array, shape (d, k)
        The common start, which completes the solution while there are fewer than k samples.
    seed : int
        The seed of every fit.
    basis : array, shape (d, k)
    samples : list of array, shapes (rows, d)
    """

    start: Any
    seed: int
    basis: Any
    samples: list[Any] = field(default_factory=list)


class ArrayBatch(ArrayPeer[SampleOracle, ArrayBatchState]):
    """Base of methods that decompose all samples at once, on the device where they are.

    After s samples solution, time and counts are those of one decomposition of them.
    """

    reruns: ClassVar[bool] = True
    batch = 1

    def begin(self, oracle: SampleOracle, rng: np.random.Generator) -> ArrayBatchState:
        """Return a state without samples."""
        start = copied(oracle.start)
        return ArrayBatchState(start=start, seed=int(rng.integers(SEEDS)), basis=start)

    def advance(self, oracle: SampleOracle, state: ArrayBatchState, count: int) -> None:
        """Take `count` samples, and decompose all so far."""
        taken = oracle.take(count)
        state.samples.append(copied(finite(taken, "samples") if is_plain(taken) else taken))
        state.work.steps += count
        state.work.samples += count
        X = namespace(state.start).concat(state.samples)
        found, state.work.flops = self.fit(X, min(oracle.k, *X.shape), state.seed)
        full = found.shape[1] == oracle.k
        state.basis = found if full else complete(found, state.start, oracle.k)

    def solution(self, state: ArrayBatchState) -> Solution:
        """Return the basis, (d, k)."""
        return Solution(copied(state.basis))

    @abstractmethod
    def fit(self, X: Any, k: int, seed: int) -> tuple[Any, int]:
        """Return the k leading right singular vectors of X, and the flops.

        Parameters
        ----------
        X : array, shape (n, d)
        k : int
            1 <= k <= min(n, d).
        seed : int

        Returns
        -------
        basis : array, shape (d, k)
            Orthonormal columns.
        flops : int
        """
