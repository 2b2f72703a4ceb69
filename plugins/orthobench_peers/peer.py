"""What all peers have in common: a library, and what they keep from it or it from others."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from orthobench.contract import (
    AnyProblem,
    Array,
    DataError,
    OracleT_contra,
    Solver,
    StateT,
    UsageError,
)
from orthobench.tools.environment import version

UNAVAILABLE = "unavailable: install orthobench[peers]"
"""Why a peer refuses where a distribution that it calls is missing."""


def finite(data: Array, what: str) -> Array:
    """Return data for a library: each has its own way with what is not finite, or none.

    Parameters
    ----------
    data : ndarray
    what : str
        What the message calls them, in the plural.

    Raises
    ------
    DataError
        Where they hold NaN or an infinity.
    """
    if not np.isfinite(data).all():
        raise DataError(f"the {what} hold NaN or an infinity; clean or rescale the data")
    return data


@contextmanager
def drawn_from(seed: int) -> Iterator[None]:
    """Seed numpy's global generator, for libraries that draw from it, and put it back afterwards.

    Parameters
    ----------
    seed : int
        Below 2**32.
    """
    before = np.random.get_state()  # noqa: NPY002 - it is what they use
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


class Peer(Solver[OracleT_contra, StateT]):
    """A method of another library; subclasses name its distributions as `packages`.

    Write `begin` in place of `init`.
    """

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: another oracle, or a library that is not installed."""
        return super().refuses(problem) or self._missing()

    def init(self, oracle: OracleT_contra, rng: np.random.Generator) -> StateT:
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
    def begin(self, oracle: OracleT_contra, rng: np.random.Generator) -> StateT:
        """Return the first state; the library is there."""

    def _missing(self) -> str | None:
        return UNAVAILABLE if None in map(version, self.packages) else None
