"""Solvers led by hand: from a start of one's own, as far as one likes, through the public API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.contract import AnyInstance, AnySolver, Array, Oracle, State, random_point
from orthobench.reproduce import catalogue


@dataclass
class Led:
    """A solver on its way.

    Attributes
    ----------
    solver : Solver
    oracle : Oracle
    state : State
    """

    solver: AnySolver
    oracle: Oracle
    state: State

    @property
    def basis(self) -> Array:
        """Q, shape (n, r)."""
        return self.solver.solution(self.state).point

    def go(self, steps: int) -> Array:
        """Take steps, or fewer where it ends; return the basis."""
        if self.solver.batch:
            self.oracle.prepare(steps * self.solver.batch)
        self.solver.advance(self.oracle, self.state, steps)
        return self.basis


def led(
    name: str, instance: AnyInstance, seed: int, at: Array | None = None, /, **parameters: Any
) -> Led:
    """Begin a run that is led by hand.

    Parameters
    ----------
    name : str
        Of the solver, in the catalogue.
    instance : Instance
    seed : int
        Of the start, where none is given, and of the solver.
    at : ndarray, shape (n, r), optional
        The start.
    **parameters
        Of the solver.
    """
    solver, oracle = catalogue().solver(name, parameters), instance.oracle
    rng = np.random.default_rng(seed)
    oracle.start = random_point(oracle.n, oracle.k, rng) if at is None else at
    oracle.rewind(rng)
    return Led(solver, oracle, solver.init(oracle, rng))
