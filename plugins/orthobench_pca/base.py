"""State and base classes of the methods."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from orthobench.contract import Array, Solver, State, Status, complete
from orthobench_pca.judge import PCASolution
from orthobench_pca.oracle import PCAOracle


@dataclass(slots=True, kw_only=True)
class PCAState(State):
    """A basis (n, k), orthonormal, the leading component first, and its cost (`PCASolution`)."""

    basis: Array
    rng: np.random.Generator
    passes: float | None = 0.0
    products: int = 0
    tolerance: float | None = None


PCAStateT = TypeVar("PCAStateT", bound=PCAState)


class PCASolver(Solver[PCAOracle, PCAStateT]):
    """Base of all methods."""

    converges: ClassVar[bool] = True

    def solution(self, state: PCAStateT) -> PCASolution:
        return PCASolution(
            state.basis.copy(), tolerance=state.tolerance, passes=state.passes,
            products=state.products,
        )  # fmt: skip


class Found(NamedTuple):
    """The result of a method that is one step.

    Attributes
    ----------
    basis : array, shape (n, <= k), optional
        Orthonormal columns, the leading component first; None if the method failed.
    tolerance : float, optional
        See `Solution`.
    reason : str
        The failure, or a message at the end.
    """

    basis: Any
    flops: int
    tolerance: float | None = None
    reason: str = ""


class DirectSolver(PCASolver[PCAState]):
    """Base of methods with one step, whose subclasses write `components`."""

    known_passes: ClassVar[bool] = True
    """Whether the passes are known."""

    def init(self, oracle: PCAOracle, rng: np.random.Generator) -> PCAState:
        self.check(oracle)
        return PCAState(basis=oracle.start, rng=rng)

    def step(self, oracle: PCAOracle, state: PCAState) -> None:
        found = self.components(oracle, state.rng)
        state.status, state.reason = Status.COMPLETE, found.reason
        if found.basis is None:
            state.status = Status.FAILED
        else:
            basis = np.asarray(found.basis)
            state.basis = complete(basis, oracle.start.astype(basis.dtype), oracle.k)
        state.tolerance = found.tolerance
        state.work.steps += 1
        state.work.flops += found.flops
        state.passes = oracle.passes if self.known_passes else None
        state.products = oracle.products

    def check(self, oracle: PCAOracle) -> None:
        """Raise a `UsageError` if the method cannot take a matrix."""

    @abstractmethod
    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> Found:
        """Return the components, or why there are none."""
