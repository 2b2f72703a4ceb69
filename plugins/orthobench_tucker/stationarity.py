"""How far a basis is from a critical point of F, and whether F is there at all."""

from __future__ import annotations

import numpy as np

from orthobench import flops
from orthobench.arrays import Array
from orthobench.families.monomials import monomials
from orthobench.families.sample_moments import core_square, gradient
from orthobench.families.tucker_oracles import MomentOracle, SymmetricTensorOracle

VANISHING = 1e-13
"""A partial core this small, relative to what it would be without cancellation, is rounding."""

VANISHED = (
    "the objective vanishes around the first basis, X ·(I, Q, ..., Q) is rounding: samples that "
    "are symmetric about zero have no moments of odd order"
)


def objective_and_gradient(W: Array, Q: Array, order: int) -> tuple[float, Array]:
    """Return F(Q) and its Riemannian gradient (I - QQ')∇F(Q), shape (n, r).

    Parameters
    ----------
    W : ndarray, shape (n, N)
        X ·(I, Q, ..., Q).
    Q : ndarray, shape (n, r)
    order : int

    Notes
    -----
    6nrN flops and lower terms. The gradient is formed from what W has outside of Q, and so
    without cancellation.
    """
    S = Q.T @ W
    G = gradient(W - Q @ S, S, order)
    return core_square(S, order), G - Q @ (Q.T @ G)


def gradient_flops(n: int, rank: int, size: int) -> int:
    """Return the flops of `objective_and_gradient`: 6nrN + 4nr², N = `size`."""
    return 3 * flops.gemm(n, rank, size) + 2 * flops.gemm(n, rank, rank)


def relative(length: float, objective: float) -> float:
    """Return |grad F| / F (section 4.2 of Jin et al. 2022); infinite where F vanishes.

    Where F does, its gradient does too: there F is least, and a method must not end.
    """
    return length / objective if objective > 0 else np.inf


def vanishes(oracle: SymmetricTensorOracle, W: Array, Q: Array) -> bool:
    """Return whether W = X ·(I, Q, ..., Q) is zero but for rounding.

    Of samples x, W is rounding where it is below 1e-13 of the mean of |x| |Q'x|^(d - 1).
    """
    counts = monomials(Q.shape[1], oracle.order - 1).counts
    size = float(np.sqrt(np.einsum("ij,ij,j->", W, W, counts)))
    if not isinstance(oracle, MomentOracle):
        return size == 0
    rows = oracle.X[:: max(1, len(oracle.X) // 64)]
    inside = np.linalg.norm(rows @ Q, axis=1) ** (oracle.order - 1)
    return size <= VANISHING * float((np.linalg.norm(rows, axis=1) * inside).mean())
