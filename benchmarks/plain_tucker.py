"""Algorithms 2 and 3 of the streaming Tucker methods as anyone would first write them in numpy.

The products are associated from the side of the short dimension, so that nothing n x n is formed;
arrays are in C order; powers are written with ``**``, which numpy makes a multiplication for an
exponent of two and calls pow for otherwise; Q comes from numpy's Householder QR.

Both take the start (n, r), samples (p, n), the order d, the batch size and a step size, and
return the basis.
"""

from __future__ import annotations

import numpy as np

from orthobench.tools.arrays import Array


def spgd(start: Array, X: Array, d: int, b: int, c: float) -> Array:
    """Phase II of Algorithm 2."""
    Q, gamma = start, None
    for begin in range(0, len(X) - b + 1, b):
        batch = X[begin : begin + b]
        Y = batch @ Q
        G = 2 * d / b**2 * (batch.T @ ((Y @ Y.T) ** (d - 1) @ Y))
        if gamma is None:
            gamma = 1e-5 * np.linalg.norm(G)
        gamma = np.sqrt(gamma**2 + np.sum(G**2, axis=0))
        Q = np.linalg.qr(Q + c * G / gamma)[0]
    return Q


def shoevd(start: Array, X: Array, d: int, b: int, c: float) -> Array:
    """Algorithm 3."""
    Q, gamma = start, None
    for begin in range(0, len(X) - b + 1, b):
        batch = X[begin : begin + b]
        G = 2 / b**2 * (batch.T @ ((batch @ batch.T) ** (d - 1) @ (batch @ Q)))
        if gamma is None:
            gamma = 1e-5 * np.linalg.norm(G)
        gamma = np.sqrt(gamma**2 + np.sum(G**2, axis=0))
        Q = np.linalg.qr(Q + c * G / gamma)[0]
    return Q
