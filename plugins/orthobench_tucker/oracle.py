"""The oracles, a kind of solution, and the base class of problems."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from math import comb
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.memory import refusal_of
from orthobench_kit.sources import ArraySource

from orthobench.contract.parameters import ParameterError
from orthobench.contract.problem import Oracle, Problem, Solution, Work
from orthobench.contract.samples import SampleOracle, SampleSource
from orthobench.errors import UsageError
from orthobench.tools.arrays import Array
from orthobench.tools.flops import gemm
from orthobench.tools.geometry import random_point
from orthobench_tucker import sample_moments
from orthobench_tucker.sample_moments import core_norm_squared, moment_tensor, tensor_core

FEW = 1024
"""Maximum number of samples of a warm-up, and of their variables beyond the rank."""


class ComponentSolution(Solution):
    """A symmetric CP decomposition sum_i w_i v_i ⊗ ... ⊗ v_i; ``point`` has the unit columns v."""


class TuckerOracle(Oracle):
    """A symmetric tensor of order d, for which a basis (n, r) is sought, r = ``k``."""

    order: int

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.n, self.k, self.order)


class SymmetricTensorOracle(TuckerOracle):
    """A tensor with all its entries.

    `forming_flops` is the cost of forming `T` at its first use in a run; zero if the tensor was
    given.
    """

    forming_flops: int = 0
    shows: ClassVar[Mapping[str, str]] = {
        "T": "the symmetric tensor (n, ..., n)",
        "order": "its number of axes",
    }

    @property
    @abstractmethod
    def T(self) -> Array:
        """The symmetric tensor, shape (n,) * d, read-only."""

    def on_host(self, values: Any) -> Any:
        """Return an array of the oracle's place in NumPy."""
        return self.place.to_numpy(values) if self.place.moves else values

    def partial_core(self, Q: Array) -> tuple[Array, Work]:
        """Return W = T ·(I, Q, ..., Q), shape (n, N), and the work."""
        n, d, r = self.n, self.order, Q.shape[1]
        flops = sum(2 * n ** (d - j + 1) * r**j for j in range(1, d))
        return tensor_core(self.on_host(self.T), Q), Work(flops=flops)

    def objective(self, solution: Solution) -> tuple[float, Work]:
        Q = self.on_host(solution.point)
        W, work = self.partial_core(Q)
        work.flops += gemm(Q.shape[1], W.shape[1], self.n)
        return -core_norm_squared(Q.T @ W, self.order), work


class GivenTensorOracle(SymmetricTensorOracle):
    """A tensor that is given with all its entries, in C order."""

    portable: ClassVar[bool] = True

    def __init__(self, T: Array, rank: int) -> None:
        self._tensor = T.view()
        self._tensor.flags.writeable = False
        self.n, self.k, self.order = len(T), rank, T.ndim

    @property
    def T(self) -> Array:
        return self._tensor


class MomentStream(TuckerOracle, SampleOracle):
    """A stream of samples; the tensor is their moment E[x ⊗ ... ⊗ x]."""

    def __init__(self, source: SampleSource, order: int, rank: int) -> None:
        self.order = order
        super().__init__(source, rank)


class MomentOracle(MomentStream, SymmetricTensorOracle):
    """The moment of p samples: as the samples `X` (p, n), as a stream of them, or as a tensor `T`.

    Samples are contiguous in memory, read-only, and streamed `passes` times. The tensor is formed
    at its first use in a run, on the clock of the solver.
    """

    shows: ClassVar[Mapping[str, str]] = {
        "X": "the samples (p, n) in rows, whose moment the tensor is",
        "T": "the tensor (n, ..., n), formed at its first use",
        "order": "its number of axes",
    }

    def __init__(self, X: Array, order: int, rank: int, passes: int = 1) -> None:
        self.X = np.ascontiguousarray(X).view()
        self.X.flags.writeable = False
        self._tensor: Array | None = None
        super().__init__(ArraySource(self.X, passes=passes), order, rank)
        self.forming_flops = 2 * len(X) * comb(self.n + order - 1, order)

    def miniature(self) -> Oracle:
        n = FEW + self.k
        if self.n > n and not self.place.moves:
            fewer = MomentOracle(self.X[:FEW, :n], self.order, self.k, passes=FEW)
            fewer.start = random_point(n, self.k, np.random.default_rng(0))
            return fewer
        small = copy(self)
        small.X = self.X[: min(FEW, self.X.shape[0]), :]  # some libraries refuse more
        return small

    def partial_core(self, Q: Array) -> tuple[Array, Work]:
        d, r, X = self.order, Q.shape[1], self.on_host(self.X)
        work = Work(flops=2 * len(X) * self.n * (r + comb(r + d - 2, d - 1)))
        return sample_moments.partial_core(X, Q, d), work

    def rewind(self, rng: np.random.Generator) -> None:
        self._tensor = None
        super().rewind(rng)

    @property
    def T(self) -> Array:
        """The moment as a tensor, formed at the first use; 2p C(n + d - 1, d) flops.

        Raises
        ------
        UsageError
            If it does not fit into memory.
        """
        if self._tensor is None:
            refusal = tensor_refusal(self.n, self.order)
            if refusal is not None:
                raise UsageError(refusal)
            self._tensor = moment_tensor(self.X, self.order)
        return self._tensor


def tensor_refusal(n: int, order: int) -> str | None:
    """Return why a tensor of n^d entries does not fit into memory, or None."""
    what = f"the explicit tensor of {n}^{order} entries, with as much to work on it,"
    why = refusal_of(2 * 8 * n**order, what)
    return why and f"{why}; take a solver that is implicit or streams"


class SymmetricTucker(Problem[TuckerOracle]):
    """Base of the problems of this family."""

    family: ClassVar[str] = "symmetric Tucker"
    offers: ClassVar[type[TuckerOracle]] = MomentOracle
    primary: ClassVar[str] = "relative_error"
    tuned_by: ClassVar[str] = "relative_error"

    @property
    @abstractmethod
    def tensor_shape(self) -> tuple[int, ...] | None:
        """(n,) * d; None before data are read."""

    @property
    def streamed(self) -> bool:
        """Whether solvers get samples only as a stream."""
        return False


def check_ranks(n: int, **ranks: int) -> None:
    """Raise `ParameterError` if a rank, by its name, is above the dimension n."""
    for name, value in ranks.items():
        if value > n:
            raise ParameterError(name, f"{name} = {value} is more than n = {n}")
