"""What checks that run no suite share: instances, starts, and solvers taken step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract import AnyInstance, AnySolver, Array, Oracle, Status, random_point, rotate
from orthobench.reproduce import catalogue, instance_of

Settings: TypeAlias = Mapping[str, Any]

TRIALS = 400
"""Trials of a check whose share must be all: Wilson's interval begins at 0.99 then."""


def instance(problem: str, seed: int, **settings: Any) -> AnyInstance:
    """Return the instance of a problem of the catalogue, with a uniformly random start."""
    made = instance_of(catalogue().problem(problem, settings), seed)
    oracle = made.oracle
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng([seed, 1]))
    return made


def stepped(solver: AnySolver, oracle: Oracle, seed: int, steps: int) -> Iterator[Any]:
    """Yield the state at the start and after each step, until the solver converges."""
    state = solver.init(oracle, np.random.default_rng([seed, 2]))
    yield state
    for _ in range(steps):
        if state.status is not Status.RUNNING:
            return
        solver.advance(oracle, state, 1)
        yield state


def ended(solver: AnySolver, oracle: Oracle, seed: int, steps: int = 1_000_000) -> Any:
    """Return the state in which a solver converges.

    Raises
    ------
    RuntimeError
        Where it has not after so many steps.
    """
    state = solver.init(oracle, np.random.default_rng([seed, 2]))
    solver.advance(oracle, state, steps)
    if state.status is not Status.CONVERGED:
        raise RuntimeError(f"{solver.name} has not converged after {steps} steps")
    return state


def nudged(U: Array, angle: float, rng: np.random.Generator) -> Array:
    """Return U after rotations of all pairs of columns by random angles of this size."""
    near = U.copy()
    for i in range(U.shape[1]):
        for j in range(i):
            rotate(near, i, j, angle * float(rng.standard_normal()))
    return near


def never_worse(values: Callable[[Any], float], states: Iterator[Any]) -> list[bool]:
    """Return for each step whether a value that is minimized did not rise, but for rounding."""
    found = [values(state) for state in states]
    scale = max(map(abs, found))
    return [after <= before + 1e-12 * scale for before, after in pairwise(found)]
