"""Bisection of the penalty for a cardinality."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from orthobench.contract import AnyProblem, AnySolver, Array, State, Status, UsageError, flops
from orthobench_sparse_pca.oracle import SparsePCAOracle, SparseSolution, settled

STEPS = 1000
"""Maximum number of steps with one penalty."""

TRIALS = 40
"""Maximum number of penalties for a component, or for all at once."""


def bisected(loadings: Callable[[float, SparsePCAOracle], Array], oracle: SparsePCAOracle) -> Array:
    """Return loadings of the problem's cardinality, from a method with a penalty, by bisection.

    Single components come from deflated data, A <- A - z (z'A), 4dN flops; all components from one
    penalty. It keeps the trial with the largest number of loadings that is not above the
    cardinality, of at most `TRIALS` for a component, or for all.

    Parameters
    ----------
    loadings : callable
        ``loadings(gamma, oracle)`` returns Z of a penalty between 0 and 1, larger for fewer
        loadings, and counts its work.
    oracle : SparsePCAOracle
        One that asks for a cardinality.
    """
    asked, width = oracle.cardinality or 0, 1 if oracle.each else oracle.k
    A, Z = oracle.A, np.zeros((oracle.n, oracle.k))
    for first in range(0, oracle.k, width):
        own, part = SparsePCAOracle(A, width), Z[:, first : first + width]
        low, high = 0.0, 1.0
        for _ in range(TRIALS):
            gamma = (low + high) / 2
            found = loadings(gamma, own)
            count = np.count_nonzero(found)
            if np.count_nonzero(part) <= count <= asked:
                part[:] = found
            if count == asked:
                break
            low, high = (gamma, high) if count > asked else (low, gamma)
        A = A - part @ (part.T @ A)
    return Z


SolverT = TypeVar("SolverT", bound=type[AnySolver])


@dataclass(slots=True, kw_only=True)
class SearchState(State):
    """The loadings Z (d, m) of a search, zero before its only step, and its generator."""

    Z: Array
    rng: np.random.Generator


def delivers(solver: SolverT) -> SolverT:
    """Let a solver search its penalty `gamma` for the problem's cardinality, in one step.

    All of its runs count as work. Without a cardinality the solver is unchanged.
    """
    init, advance, solution = solver.init, solver.advance, solver.solution
    refuses = solver.refuses

    def begin(self: AnySolver, oracle: SparsePCAOracle, rng: np.random.Generator) -> Any:
        if oracle.cardinality is None:
            return init(self, oracle, rng)
        if oracle.place.moves:
            raise UsageError("a problem that asks for a cardinality is solved on=numpy only")
        return SearchState(Z=np.zeros((oracle.n, oracle.k)), rng=rng)

    def go(self: AnySolver, oracle: SparsePCAOracle, state: Any, count: int) -> None:
        if not isinstance(state, SearchState):
            advance(self, oracle, state, count)
        elif state.status is Status.RUNNING:
            _search(self, oracle, state)

    def found(self: AnySolver, state: Any) -> Any:
        searched = isinstance(state, SearchState)
        return SparseSolution(state.Z.copy()) if searched else solution(self, state)

    def refused(self: AnySolver, problem: AnyProblem) -> str | None:
        return refuses(self, problem) or settled(self, problem, "gamma")

    changed = ((begin, "init"), (go, "advance"), (found, "solution"), (refused, "refuses"))
    for method, name in changed:
        method.__doc__ = getattr(solver, name).__doc__
        setattr(solver, name, method)
    return solver


def _search(solver: Any, oracle: SparsePCAOracle, state: SearchState) -> None:
    def loadings(gamma: float, own: SparsePCAOracle) -> Array:
        trial = replace(solver, gamma=gamma)
        run = trial.init(own, state.rng)
        trial.advance(own, run, STEPS)
        state.work.flops += run.work.flops
        point: Array = trial.solution(run).point
        return point

    state.Z = bisected(loadings, oracle)
    state.work.steps += 1
    state.work.flops += 2 * flops.gemm(oracle.n, oracle.samples, oracle.k - 1)
    state.status = Status.CONVERGED
