"""What all peers have in common: they need a library, and say so where it is missing."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from orthobench.environment import version
from orthobench.errors import UsageError
from orthobench.problem import AnyProblem
from orthobench.solver import O_contra, S, Solver

UNAVAILABLE = "unavailable: install orthobench[peers]"
"""Why a peer refuses where a distribution that it calls is missing."""


class Peer(Solver[O_contra, S]):
    """A method of another library; subclasses name its distributions as `packages`.

    Write `begin` in place of `init`.
    """

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: another oracle, or a library that is not installed."""
        return super().refuses(problem) or self._missing()

    def init(self, oracle: O_contra, rng: np.random.Generator) -> S:
        """Return the first state.

        Raises
        ------
        UsageError
            Where the library is not installed.
        """
        missing = self._missing()
        if missing is not None:
            raise UsageError(missing)
        return self.begin(oracle, rng)

    @abstractmethod
    def begin(self, oracle: O_contra, rng: np.random.Generator) -> S:
        """Return the first state; the library is there."""

    def _missing(self) -> str | None:
        return UNAVAILABLE if None in map(version, self.packages) else None
