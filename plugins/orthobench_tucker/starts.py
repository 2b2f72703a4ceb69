"""Where methods that see the whole tensor begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthobench import flops
from orthobench.arrays import Array
from orthobench.families.sample_moments import integer_power
from orthobench.families.tucker_oracles import MomentOracle, SymmetricTensorOracle
from orthobench.geometry import complete
from orthobench.parameters import parameter

STARTS = ("hoevd", "random")


def start_parameter(default: str = "hoevd") -> Any:
    """Declare the parameter ``start`` of a solver of this family."""
    return parameter(
        default,
        help="first basis: leading eigenvectors of the unfolding (HOEVD), or the common random one",
        choices=STARTS,
    )


def first_basis(oracle: SymmetricTensorOracle, start: str, form: str) -> Array:
    """Return the basis (n, r) that a method begins with, a fresh array, in C order."""
    return oracle.start.copy() if start == "random" else hoevd_basis(oracle, form)


def first_basis_flops(oracle: SymmetricTensorOracle, start: str, form: str) -> int:
    """Return the flops of `first_basis`."""
    if start == "random":
        return 0
    n, d = oracle.n, oracle.order
    if form != "explicit" and isinstance(oracle, MomentOracle):
        p = len(oracle.X)
        gram = flops.gemm(p, p, n) + (d - 2) * p * p
        return gram + flops.gemm(p, n, p) + flops.gemm(n, n, p) + flops.eigh(n)
    return flops.gemm(n, n, n ** (d - 1)) + flops.eigh(n)


def hoevd_basis(oracle: SymmetricTensorOracle, form: str) -> Array:
    """Return the leading r eigenvectors of mat(X) mat(X)': equation 7, or 17 from samples.

    Notes
    -----
    2n^(d+1) + 9n³ flops, or from samples 2p²n + 2p²n + 2pn² + 9n³.
    """
    if form != "explicit" and isinstance(oracle, MomentOracle):
        X = oracle.X
        M = X.T @ (integer_power(X @ X.T, oracle.order - 1) @ X) / len(X) ** 2
    else:
        unfolding = oracle.T.reshape(oracle.n, -1)
        M = unfolding @ unfolding.T
    vectors = np.linalg.eigh((M + M.T) / 2)[1][:, ::-1]
    return complete(np.ascontiguousarray(vectors[:, : oracle.k]), oracle.start, oracle.k)
