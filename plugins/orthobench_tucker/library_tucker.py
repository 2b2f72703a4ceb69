"""The base of the methods of other libraries, which use the whole tensor."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from orthobench_kit.peer import Peer, finite

from orthobench.contract import (
    AnyProblem,
    Array,
    Solution,
    State,
    Status,
    flops,
    orthonormalize,
    parameter,
)
from orthobench_tucker import MomentOracle, SymmetricTensorOracle
from orthobench_tucker.sample_moments import integer_power
from orthobench_tucker.whole_tensor import refusal

ROWS = 256
"""Number of samples whose products with all others are formed at once."""


class Factors(NamedTuple):
    """A factor (n, r) for each mode, and |X̂ - X| / |X|; NaN before the first iteration."""

    modes: list[Array]
    error: float = float("nan")


@dataclass(slots=True, kw_only=True)
class FactorsState(State):
    """The tensor of the library, and its factors."""

    tensor: object
    factors: Factors


def tolerance_parameter() -> Any:
    """Declare the parameter ``tolerance`` of an alternating method."""
    return parameter(1e-14, help="change of the relative error to end at", low=0.0)


def hoevd(oracle: SymmetricTensorOracle) -> tuple[Array, int]:
    """Return the leading eigenvectors of mat(X) mat(X)', (n, r), and their flops.

    4p²n + 2pn² flops from p samples, or 2n^(d+1), and 9n³. Jin, Kileel, Kolda and Ward 2022,
    equations 7 and 17.
    """
    n, rank, order = oracle.n, oracle.k, oracle.order
    if isinstance(oracle, MomentOracle):
        X, p = oracle.X, len(oracle.X)
        blocks = (X[begin : begin + ROWS] for begin in range(0, p, ROWS))
        G = sum(block.T @ (integer_power(block @ X.T, order - 1) @ X) for block in blocks) / p**2
        count = 2 * flops.gemm(p, p, n) + flops.gemm(n, n, p)
    else:
        unfolded = oracle.T.reshape(n, -1)
        G, count = unfolded @ unfolded.T, flops.gemm(n, n, unfolded.shape[1])
    _, vectors = np.linalg.eigh(G)
    return np.ascontiguousarray(vectors[:, : -rank - 1 : -1]), count + flops.eigh(n)


class WholeTensor(Peer[SymmetricTensorOracle, FactorsState]):
    """Base of methods of libraries with a factor for each mode, on all n^d entries: HOOI and HOSVD.

    The basis Q is the factor of the last mode. A step of HOOI is one iteration, a call of the
    library from the last factors. HOSVD takes a single step.

    Attributes
    ----------
    tolerance : float or None
        An iteration ends once the error changes by less. None if there is only one step.
    """

    converges: ClassVar[bool] = True

    tolerance: float | None = None

    def refuses(self, problem: AnyProblem) -> str | None:
        return super().refuses(problem) or refusal(problem, "explicit")

    def begin(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> FactorsState:
        del rng
        tensor = self.tensor(finite(oracle.T, "entries of the tensor"))
        state = FactorsState(tensor=tensor, factors=self.first(oracle, tensor))
        state.work.flops = oracle.forming_flops + self.first_flops(*oracle.sizes)
        return state

    def step(self, oracle: SymmetricTensorOracle, state: FactorsState) -> None:
        before = state.factors.error
        state.factors = self.updated(oracle, state)
        state.work.steps += 1
        state.work.flops += self.step_flops(*oracle.sizes)
        if self.tolerance is None:
            state.status = Status.COMPLETE
        elif abs(before - state.factors.error) < self.tolerance:
            state.status = Status.CONVERGED

    def solution(self, state: FactorsState) -> Solution:
        return Solution(orthonormalize(state.factors.modes[-1]))

    @abstractmethod
    def tensor(self, T: Array) -> object:
        """Return the tensor in the form of the library."""

    def first(self, oracle: SymmetricTensorOracle, tensor: object) -> Factors:
        """Return the first factors, by default the common start."""
        del tensor
        return Factors([oracle.start.copy()])

    def first_flops(self, n: int, rank: int, order: int) -> int:
        """Return the flops of `first`."""
        del n, rank, order
        return 0

    @abstractmethod
    def updated(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        """Return the factors after one more step."""

    @abstractmethod
    def step_flops(self, n: int, rank: int, order: int) -> int:
        """Return the flops of a step."""


def products_flops(n: int, rank: int, order: int, modes: int) -> int:
    """Return the flops of contracting some modes of a tensor with (n, r) factors."""
    return int(sum(2 * n ** (order - j + 1) * rank**j for j in range(1, modes + 1)))
