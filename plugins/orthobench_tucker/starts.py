"""Where methods that see the whole tensor begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthobench import flops
from orthobench.arrays import Array
from orthobench.errors import UsageError
from orthobench.families.sample_moments import integer_power
from orthobench.families.tucker_oracles import MomentOracle, SymmetricTensorOracle
from orthobench.geometry import complete, orthonormalize
from orthobench.parameters import parameter
from orthobench_tucker.unfoldings import Unfolding

STARTS = ("hoevd", "hoevd-single", "shoevd", "random")

BATCHES, BATCH = 20, 50
"""What the start "shoevd" sees: Phase I of Figure 3b of Jin et al. 2022."""

SMALL = 1e-5
"""gamma_0 of AdaGrad, in units of the first gradient."""


def start_parameter(default: str = "hoevd") -> Any:
    """Declare the parameter ``start`` of a solver of this family."""
    return parameter(
        default,
        help="first basis: leading eigenvectors of the unfolding (HOEVD), from samples also in "
        "single precision, in half the time, or by stochastic gradients on the first 1,000 of them "
        "(SHOEVD); or the common random one",
        choices=STARTS,
    )


def first_basis(oracle: SymmetricTensorOracle, start: str, form: str) -> Array:
    """Return the basis (n, r) that a method begins with, a fresh array, in C order.

    Parameters
    ----------
    oracle : SymmetricTensorOracle
    start : str
        One of `STARTS`.
    form : str

    Raises
    ------
    UsageError
        Where SHOEVD has no samples.
    """
    if start == "random":
        return oracle.start.copy()
    if start == "shoevd":
        return shoevd_basis(_samples(oracle), oracle.order, oracle.start)
    if start == "hoevd-single":
        return _completed(oracle, Unfolding(oracle, form).single_basis)
    return hoevd_basis(oracle, form)


def first_basis_flops(oracle: SymmetricTensorOracle, start: str, form: str) -> int:
    """Return the flops of `first_basis`."""
    if start == "random":
        return 0
    if start == "shoevd":
        return shoevd_flops(len(_samples(oracle)), oracle.n, oracle.k, oracle.order)
    return Unfolding(oracle, form).flops


def hoevd_basis(oracle: SymmetricTensorOracle, form: str) -> Array:
    """Return the leading r eigenvectors of mat(X) mat(X)': equation 7, or 17 from samples.

    Signs are such that the largest entry of each is positive, whichever the form. Where fewer
    than r eigenvalues are above rounding, the other directions are the oracle's random ones:
    eigenvectors of zero are arbitrary.

    Notes
    -----
    Costs: `orthobench_tucker.unfoldings`, and 9n³ flops.
    """
    return _completed(oracle, Unfolding(oracle, form).basis)


def _completed(oracle: SymmetricTensorOracle, found: Array) -> Array:
    """Return the eigenvectors, largest entries positive, and what the oracle's start adds."""
    largest = found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]
    return complete(np.ascontiguousarray(np.copysign(1.0, largest) * found), oracle.start, oracle.k)


def shoevd_basis(X: Array, order: int, start: Array) -> Array:
    """Return the basis after 20 steps of streaming HOEVD on the first 20 batches of 50 samples.

    Parameters
    ----------
    X : ndarray, shape (p, n)
        Where p < 1,000 there are fewer batches, the last of fewer samples.
    order : int
    start : ndarray, shape (n, r)
        Q_0.

    Returns
    -------
    ndarray, shape (n, r)

    Notes
    -----
    Jin et al. 2022, Algorithm 3, with c1 = 1. Line 6 has gamma_{t-1} on its right-hand side, where
    gamma_t is printed. gamma_0 is 1e-5 times the first gradient, so that scaling the samples
    changes nothing.
    """
    Q, squares = start, np.zeros(start.shape[1])
    for begin in range(0, min(len(X), BATCHES * BATCH), BATCH):
        rows = X[begin : begin + BATCH]
        weights = integer_power(rows @ rows.T, order - 1)
        G = 2 * (rows.T @ (weights @ (rows @ Q))) / len(rows) ** 2
        if begin == 0:
            squares += (SMALL * np.linalg.norm(G)) ** 2
        squares += np.einsum("ij,ij->j", G, G)
        Q = orthonormalize(Q + G / np.sqrt(np.where(squares > 0, squares, 1.0)))
    return np.ascontiguousarray(Q)


def shoevd_flops(p: int, n: int, rank: int, order: int) -> int:
    """Return the flops of `shoevd_basis`, 4nbr + 2nb² + 2rb² + (d - 2)b² + QR a batch of b."""
    total, left = 0, min(p, BATCHES * BATCH)
    while left > 0:
        b = min(BATCH, left)
        total += 2 * flops.gemm(n, rank, b) + flops.gemm(b, b, n) + flops.gemm(b, rank, b)
        total += (order - 2) * b * b + flops.qr(n, rank)
        left -= b
    return total


def _samples(oracle: SymmetricTensorOracle) -> Array:
    if isinstance(oracle, MomentOracle):
        return oracle.X
    raise UsageError("the start shoevd needs samples, and there is a tensor: take hoevd or random")
