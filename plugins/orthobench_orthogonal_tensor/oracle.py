"""What orthogonal tensor decomposition poses: oracles, solutions, first points, the base class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from orthobench.contract.parameters import parameter
from orthobench.contract.problem import Oracle, Problem, Solution, Work
from orthobench.tools import flops
from orthobench.tools.arrays import Array, copied, identity, in_rows, like, namespace


class AnyOrderOracle(Oracle):
    """A symmetric tensor, of which n orthonormal factors are sought: k = n.

    Parameters
    ----------
    T : ndarray, shape (n,) * d
        Symmetric to the last bit, as `orthobench_kit.symmetric_tensors.symmetrized` makes
        it.

    Attributes
    ----------
    T : ndarray, shape (n,) * d
        A read-only view.
    """

    portable: ClassVar[bool] = True
    shows: ClassVar[Mapping[str, str]] = {
        "T": "the symmetric tensor (n, ..., n); its factors are the columns of the point",
    }

    def __init__(self, T: Array) -> None:
        self.T = np.ascontiguousarray(T).view()
        self.T.flags.writeable = False
        self.n = self.k = len(T)

    def objective(self, solution: Solution) -> tuple[float, Work]:
        """Return minus the sum of the squares of the weights: the residual, up to a constant."""
        w: Any = solution.weights
        return -float(namespace(w).sum(w * w)), Work(flops=2 * self.n)


class TensorOracle(AnyOrderOracle):
    """A symmetric (n, n, n) tensor, which most methods of this family need."""


class FourthOrderOracle(AnyOrderOracle):
    """A symmetric (n, n, n, n) tensor."""


def decomposition(U: Any, weights: Any, order: int = 3) -> Solution:
    """Return the solution with these factors and weights, of odd order made positive by flips.

    Parameters
    ----------
    U : array, shape (n, n)
        Orthonormal columns u.
    weights : array, shape (n,)
        T(u, ..., u) of each; of odd order that of -u is the negative.
    order : int
        That of T.
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
    """Return the orthogonal matrix that a solver starts from, a fresh array.

    Parameters
    ----------
    oracle : TensorOracle
    start : {"random", "identity", "contraction"}
        ``"random"`` is the oracle's common start. ``"contraction"`` are the eigenvectors of
        T(I, I, w) for a random unit vector w: the factors themselves where T = sum_i w_i u_i ⊗ u_i
        ⊗ u_i and the eigenvalues w_i u_i'w differ.
    rng : numpy.random.Generator
        Draws w.

    Returns
    -------
    array, shape (n, n)
        Of the library of the oracle.

    Notes
    -----
    `first_point_flops`; memory n².
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
    """Base of the problems of this family: its oracle, and the metrics that rank and tune."""

    family: ClassVar[str] = "orthogonal tensor"
    offers: ClassVar[type[AnyOrderOracle]] = TensorOracle
    primary: ClassVar[str] = "residual"
    tuned_by: ClassVar[str] = "residual"
