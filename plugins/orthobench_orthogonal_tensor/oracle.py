"""Orthogonal tensor decomposition: oracles, solutions, first points."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.arrays import like
from orthobench_kit.symmetric_tensors import composed

from orthobench.contract.parameters import parameter
from orthobench.contract.problem import Oracle, Problem, Solution, Work
from orthobench.tools import flops
from orthobench.tools.arrays import Array, copied, identity, in_rows, namespace
from orthobench.tools.geometry import random_point

SMALL = 16
"""Maximum side of the tensor of a warm-up."""


class AnyOrderOracle(Oracle):
    """A symmetric tensor T (read-only) with n orthonormal factors to find: k = n."""

    portable: ClassVar[bool] = True
    shows: ClassVar[Mapping[str, str]] = {
        "T": "the symmetric tensor (n, ..., n); its factors are the columns of the point",
    }

    def __init__(self, T: Array) -> None:
        self.T = np.ascontiguousarray(T).view()
        self.T.flags.writeable = False
        self.n = self.k = len(T)

    def miniature(self) -> AnyOrderOracle:
        """Return an oracle of the same kind with a small tensor, on the host."""
        if self.place.moves:
            return self
        rng, small, n = np.random.default_rng(0), copy(self), min(self.n, SMALL)
        factors = random_point(n, n, rng)
        AnyOrderOracle.__init__(small, composed(factors, np.arange(1.0, n + 1), self.T.ndim))
        small.start = random_point(n, n, rng)
        return small

    def objective(self, solution: Solution) -> tuple[float, Work]:
        """Return minus the sum of the squares of the weights: the residual, up to a constant."""
        w: Any = solution.weights
        return -float(namespace(w).sum(w * w)), Work(flops=2 * self.n)


class TensorOracle(AnyOrderOracle):
    """A symmetric (n, n, n) tensor, which most methods of this family need."""


class FourthOrderOracle(AnyOrderOracle):
    """A symmetric (n, n, n, n) tensor."""


def decomposition(U: Any, weights: Any, order: int = 3) -> Solution:
    """Return the solution with these factors (n, n) and weights (n,).

    For odd order columns are flipped so that no weight is negative.
    """
    if order % 2 == 0:
        return Solution(copied(U), weights=copied(weights))
    ones = namespace(weights).ones_like(weights)
    signs = namespace(weights).where(weights < 0, -ones, ones)
    return Solution(U * signs, weights=weights * signs)


STARTS = ("random", "identity", "contraction")
"""The values of the parameter ``start``: see `first_point`."""


def start_parameter() -> Any:
    """Declare the parameter ``start`` of a solver of this family."""
    return parameter(
        "random",
        help="first U: the common random one, identity, or eigenvectors of a random T(I, I, w)",
        choices=STARTS,
    )


def first_point(oracle: TensorOracle, start: str, rng: np.random.Generator) -> Any:
    """Return the orthogonal matrix (n, n) that a solver starts from, a fresh array.

    ``"random"`` is the oracle's common start. ``"contraction"`` are the eigenvectors of T(I, I, w)
    for a random unit vector w: the factors if T = sum_i w_i u_i ⊗ u_i ⊗ u_i and the eigenvalues
    w_i u_i'w differ. `first_point_flops`.
    """
    if start == "random":
        return copied(oracle.start)
    if start == "identity":
        return copied(identity(oracle.n, oracle.T))
    w = rng.standard_normal(oracle.n)
    slices = oracle.T @ like(w / np.linalg.norm(w), oracle.T)
    return in_rows(namespace(slices).linalg.eigh(slices)[1])


def first_point_flops(n: int, start: str) -> int:
    """Return the flops of `first_point`: 2n³ + 9n³ for a contraction and its eigenvectors, or 0."""
    return flops.gemm(n**2, 1, n) + flops.eigh(n) if start == "contraction" else 0


class OrthogonalTensor(Problem[AnyOrderOracle]):
    """Base of the problems of this family."""

    family: ClassVar[str] = "orthogonal tensor"
    offers: ClassVar[type[AnyOrderOracle]] = TensorOracle
    primary: ClassVar[str] = "residual"
    tuned_by: ClassVar[str] = "residual"
