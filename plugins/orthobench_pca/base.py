"""What all methods of this plugin share: a basis, and what was read for it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from orthobench.contract import Array, Solver, State, Status, complete
from orthobench_pca.judge import PCASolution
from orthobench_pca.oracle import PCAOracle


@dataclass(slots=True, kw_only=True)
class PCAState(State):
    """A basis, and what was read for it.

    Attributes
    ----------
    basis : ndarray, shape (n, k)
        Orthonormal, the leading component first.
    rng : numpy.random.Generator
    passes, products
        As of `PCASolution`.
    """

    basis: Array
    rng: np.random.Generator
    passes: float | None = 0.0
    products: int = 0


PCAStateT = TypeVar("PCAStateT", bound=PCAState)


class PCASolver(Solver[PCAOracle, PCAStateT]):
    """Base of all methods."""

    converges: ClassVar[bool] = True
    exact: ClassVar[bool] = False
    """Whether it has all digits, as direct methods have."""

    def solution(self, state: PCAStateT) -> PCASolution:
        """Return the basis."""
        return PCASolution(
            state.basis.copy(), passes=state.passes, products=state.products, exact=self.exact
        )


class DirectSolver(PCASolver[PCAState]):
    """Base of methods whose one step is all of it; each of their settings is a run of its own.

    Subclasses write `components`.
    """

    known_passes: ClassVar[bool] = True
    """Whether what is read is known."""

    def init(self, oracle: PCAOracle, rng: np.random.Generator) -> PCAState:
        """Begin at the common start."""
        self.check(oracle)
        return PCAState(basis=oracle.start, rng=rng)

    def step(self, oracle: PCAOracle, state: PCAState) -> None:
        """Do all of it, which ends the run."""
        found, spent = self.components(oracle, state.rng)
        state.basis = complete(np.asarray(found), oracle.start.astype(found.dtype), oracle.k)
        state.work.steps += 1
        state.work.flops += spent
        state.passes = oracle.passes if self.known_passes else None
        state.products = oracle.products
        state.status = Status.COMPLETE

    def check(self, oracle: PCAOracle) -> None:
        """Raise a `UsageError` where the method cannot take a matrix."""

    @abstractmethod
    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> tuple[Any, int]:
        """Return orthonormal columns (n, <= k), the leading component first, and the flops."""
