"""Starting points for solvers of orthogonal tensor decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthobench.contract.parameters import parameter
from orthobench.families.orthogonal_tensor.oracle import TensorOracle
from orthobench.tools import flops
from orthobench.tools.arrays import copied, identity, in_rows, like, namespace

STARTS = ("random", "identity", "contraction")
"""The values of the parameter ``start``: see `first_point`."""


def start_parameter(default: str = "random") -> Any:
    """Declare the parameter ``start`` of a solver of this family."""
    return parameter(
        default,
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
