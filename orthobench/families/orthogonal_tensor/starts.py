"""The starting points that solvers of a tensor may choose from."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthobench.contract.parameters import parameter
from orthobench.families.orthogonal_tensor.oracle import TensorOracle
from orthobench.tools import flops
from orthobench.tools.arrays import Array

STARTS = ("random", "identity", "contraction")


def start_parameter(default: str = "random") -> Any:
    """Declare the parameter ``start`` of a solver of this family."""
    return parameter(
        default,
        help="first U: the common random one, identity, or eigenvectors of a random T(I, I, w)",
        choices=STARTS,
    )


def first_point(oracle: TensorOracle, start: str, rng: np.random.Generator) -> Array:
    """Return the orthogonal matrix that a solver begins with, a fresh array.

    Parameters
    ----------
    oracle : TensorOracle
    start : {"random", "identity", "contraction"}
        ``"contraction"``: the eigenvectors of T(I, I, w) for a random unit vector w, which
        are the factors themselves where T has a decomposition with distinct weights u_i'w w_i.
    rng : numpy.random.Generator
        Draws w.

    Notes
    -----
    `first_point_flops`.
    """
    if start == "random":
        return oracle.start.copy()
    if start == "identity":
        return np.eye(oracle.n)
    w = rng.standard_normal(oracle.n)
    return np.ascontiguousarray(np.linalg.eigh(oracle.T @ (w / np.linalg.norm(w)))[1])


def first_point_flops(n: int, start: str) -> int:
    """Return the flops of `first_point`: of a contraction 2n³ and an eigendecomposition, 9n³."""
    return flops.gemm(n**2, 1, n) + flops.eigh(n) if start == "contraction" else 0
