"""The base class of methods of other libraries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

import numpy as np

from orthobench.contract import AnyProblem, Array, ArraySolver, DataError, Solver, UsageError
from orthobench.contract.solver import OracleT_contra, StateT


def finite(data: Array, what: str) -> Array:
    """Return data if they are finite; `what` is their name in the message, plural.

    Raises
    ------
    DataError
        If they contain NaN or an infinity.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = data.sum()  # without an array of truth values for all of them
    if not np.isfinite(total) and not np.isfinite(data).all():
        raise DataError(f"the {what} hold NaN or an infinity; clean or rescale the data")
    return data


@contextmanager
def numpy_seeded(seed: int) -> Iterator[None]:
    """Seed numpy's global generator, and restore it afterwards."""
    before = np.random.get_state()  # noqa: NPY002 - the libraries use it
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


class Peer(Solver[OracleT_contra, StateT]):
    """Base of the methods of other libraries.

    Subclasses name the distributions that they call as `packages`, the extra of orthobench with
    them as `extra`, and write `begin` in place of `init`.
    """

    extra: ClassVar[str] = "peers"

    @classmethod
    def unavailable(cls) -> str:
        """Return the message for a missing distribution."""
        return f"unavailable: install orthobench[{cls.extra}]"

    def missing_packages(self) -> str | None:
        return None if super().missing_packages() is None else self.unavailable()

    def init(self, oracle: OracleT_contra, rng: np.random.Generator) -> StateT:
        if self.missing_packages() is not None:
            raise UsageError(self.unavailable())
        return self.begin(oracle, rng)

    @abstractmethod
    def begin(self, oracle: OracleT_contra, rng: np.random.Generator) -> StateT:
        """Return the first state."""


class ArrayPeer(Peer[OracleT_contra, StateT], ArraySolver[OracleT_contra, StateT]):
    """Base of methods of one array library, by its name."""

    library: ClassVar[str]

    def refuses(self, problem: AnyProblem) -> str | None:
        if self.place.library != self.library:
            return f"computes with {self.library} only, not on {self.on}"
        return super().refuses(problem)
