"""Methods with a penalty on problems that ask for a cardinality."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from orthobench.contract import AnyProblem, AnySolver, Array, State, Status, UsageError, flops
from orthobench_sparse_pca import SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.loadings import bisected
from orthobench_sparse_pca.oracle import settled

STEPS = 1000
"""Most steps of a method with one penalty."""

SolverT = TypeVar("SolverT", bound=type[AnySolver])


@dataclass(slots=True, kw_only=True)
class SearchState(State):
    """The loadings that a search for penalties has found.

    Attributes
    ----------
    Z : ndarray, shape (d, m)
        Zeros before the only step.
    rng : numpy.random.Generator
        Draws what the method draws.
    """

    Z: Array
    rng: np.random.Generator


def delivers(solver: SolverT) -> SolverT:
    """Have a solver with a penalty `gamma` search for the one that delivers what is asked for.

    The only step is then the whole search, whose runs all count as work. Where no cardinality is
    asked for, the solver is as it was.
    """
    init, advance, solution = solver.init, solver.advance, solver.solution
    refuses = solver.refuses

    def begin(self: AnySolver, oracle: SparsePCAOracle, rng: np.random.Generator) -> Any:
        return init(self, oracle, rng) if oracle.cardinality is None else _begun(oracle, rng)

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


def _begun(oracle: SparsePCAOracle, rng: np.random.Generator) -> SearchState:
    if oracle.place.moves:
        raise UsageError("a problem that asks for a cardinality is solved on=numpy only")
    return SearchState(Z=np.zeros((oracle.n, oracle.k)), rng=rng)


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
