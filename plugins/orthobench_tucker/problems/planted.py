"""Random symmetric tensors of low multilinear rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Instance, UsageError, parameter, random_point
from orthobench_tucker import (
    GivenTensorOracle,
    SymmetricTucker,
    TuckerOracle,
    symmetric_tucker,
    tensor_refusal,
)
from orthobench_tucker.oracle import check_ranks


@dataclass(frozen=True)
class RandomSymmetric(SymmetricTucker):
    """A random symmetric tensor of low multilinear rank, plus symmetric Gaussian noise.

    T = C ·(Q*', ..., Q*') + E with a uniformly random Q* (n, true_rank). C is a Gaussian tensor
    averaged over the permutations of its indices. E is another, with `noise` times the norm of the
    rest. ``subspace_error`` and ``objective_ratio`` compare with Q*, which is near the best basis
    only if the noise is small and `rank` is `true_rank`.
    """

    name = "random-symmetric"
    offers: ClassVar[type[TuckerOracle]] = GivenTensorOracle

    n: int = parameter(30, help="dimension", low=1)
    order: int = parameter(3, help="order d of the tensor", low=2)
    rank: int = parameter(5, help="columns of the basis sought", low=1)
    true_rank: int = parameter(5, help="multilinear rank of the tensor without noise", low=1)
    noise: float = parameter(
        0.1, help="norm of the noise over that of the tensor without", low=0.0, high=1e6
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ranks(self.n, rank=self.rank, true_rank=self.true_rank)

    @property
    def tensor_shape(self) -> tuple[int, ...]:
        return (self.n,) * self.order

    def build(self, rng: np.random.Generator) -> Instance[TuckerOracle]:
        """Return the instance; `rng` draws the basis, the core and the noise.

        Raises
        ------
        UsageError
            If the tensor does not fit into memory.
        """
        refusal = tensor_refusal(self.n, self.order)
        if refusal is not None:
            raise UsageError(refusal)
        Q = random_point(self.n, self.true_rank, rng)
        T = symmetric_gaussian(self.true_rank, self.order, rng)
        for _ in range(self.order):
            T = np.tensordot(T, Q, axes=([0], [1]))
        if self.noise:
            E = symmetric_gaussian(self.n, self.order, rng)
            T += E * (self.noise * np.linalg.norm(T) / np.linalg.norm(E))
        instance = symmetric_tucker(tensor=T, rank=self.rank, basis=Q)
        exact = not self.noise and self.rank >= self.true_rank
        best = {"relative_error": 0.0, "subspace_error": 0.0} if exact else {}
        return replace(instance, best=best)


def symmetric_gaussian(n: int, order: int, rng: np.random.Generator) -> Array:
    """Return a Gaussian tensor (n,) * order, averaged over all permutations of its indices.

    A tensor symmetric in its first k indices becomes symmetric in one more by averaging over the k
    swaps and itself.
    """
    T: Array = rng.standard_normal((n,) * order)
    for last in range(1, order):
        swapped = sum(np.swapaxes(T, first, last) for first in range(last + 1))
        T = np.asarray(swapped) / (last + 1)
    return T
