"""The formulas of the other kernels with arrays of any library, without symmetry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from orthobench_kit.arrays import inner, like, norm, numbers

from orthobench.contract import identity, is_plain, namespace, orthonormalize
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels.partial_cores import (
    sample_core_flops,
    samples_of,
    tensor_core_flops,
)
from orthobench_tucker.sample_moments import monomials

BLOCK = 2**24
"""Maximum number of entries computed from a block of samples."""

GAMMA_0 = 1e-5
"""AdaGrad's initial denominators, relative to the norm of the first gradient that is not zero.

Jin et al. (2022) have the plain 1e-5, which stops all motion on small data.
"""


def gram_of_samples(X: Any, order: int) -> Any:
    """Return X'(XX')^[d-1] X / p² from blocks of samples (p, n)."""
    total: Any = 0.0
    for rows in _blocks(X, X.shape[0]):
        total = total + rows.T @ ((rows @ X.T) ** (order - 1) @ X)
    return total / X.shape[0] ** 2


def gram_of_tensor(T: Any) -> Any:
    """Return mat(T) mat(T)'."""
    unfolded = namespace(T).reshape(T, (T.shape[0], -1))
    return unfolded @ unfolded.T


def leading_eigenpairs(A: Any, count: int) -> tuple[Any, Any]:
    """Return the largest eigenvalues, descending, and their eigenvectors."""
    xp = namespace(A)
    values, vectors = xp.linalg.eigh(A)
    return xp.flip(values[-count:]), xp.flip(vectors[:, -count:], axis=1)


def with_positive_largest(vectors: Any) -> Any:
    xp = namespace(vectors)
    low, high = xp.min(vectors, axis=0), xp.max(vectors, axis=0)
    return xp.where(high < -low, -vectors, vectors)


class ArrayCores:
    """Partial cores W = X ·(I, Q, ..., Q)."""

    def __init__(self, oracle: SymmetricTensorOracle, form: str) -> None:
        self.n, self.order, self.samples = oracle.n, oracle.order, samples_of(oracle, form)
        self.tensor = oracle.T if self.samples is None else None
        self._tables: dict[int, list[tuple[Any, Any]]] = {}

    def at(self, Q: Any) -> Any:
        """Return W, shape (n, N)."""
        if self.samples is None:
            return self._contracted(Q)
        W, size = 0.0, monomials(Q.shape[1], self.order - 1).size
        for rows in _blocks(self.samples, size):
            W = W + rows.T @ self._monomials(rows @ Q)
        return W / self.samples.shape[0]

    def multiplicities(self, rank: int) -> Any:
        beside = self.tensor if self.samples is None else self.samples
        return like(monomials(rank, self.order - 1).multiplicities, beside)

    def at_flops(self, rank: int) -> int:
        if self.samples is None:
            return tensor_core_flops(self.n, rank, self.order)
        return sample_core_flops(self.samples.shape[0], self.n, rank, self.order)

    def _monomials(self, Z: Any) -> Any:
        take, found, rank = namespace(Z).take, Z, Z.shape[1]
        if rank not in self._tables:
            tables = [monomials(rank, degree) for degree in range(2, self.order)]
            self._tables[rank] = [(like(one.parents, Z), like(one.last, Z)) for one in tables]
        for parents, last in self._tables[rank]:
            found = take(found, parents, axis=1) * take(Z, last, axis=1)
        return found

    def _contracted(self, Q: Any) -> Any:
        xp, W = namespace(Q), self.tensor
        for _ in range(self.order - 1):
            W = xp.tensordot(W, Q, axes=((1,), (0,)))
        positions = monomials(Q.shape[1], self.order - 1).positions
        return xp.take(xp.reshape(W, (self.n, -1)), like(positions, Q), axis=1)


def evaluated(W: Any, basis: Any, multiplicities: Any, order: int) -> tuple[Any, Any, float, float]:
    """Return P and V' of ∇F = QP + V, F, and |V|/F, for W' (N, n) and Q' (r, n)."""
    S = W @ basis.T
    weighted = S * multiplicities[:, None]
    objective = inner(weighted, S)
    weighted = 2 * order * weighted
    tangent = weighted.T @ (W - S @ basis)
    tangent = tangent - (tangent @ basis.T) @ basis
    value, slope = numbers(objective, norm(tangent))
    return weighted.T @ S, tangent, value, slope / value if value > 0 else float("inf")


def square_columns(P: Any, tangent: Any) -> Any:
    total = namespace(P).sum
    return total(P * P, axis=1) + total(tangent * tangent, axis=1)


def stepped(basis: Any, P: Any, tangent: Any, scales: Any) -> Any:
    """Return the transposed Q factor of Q + (QP + V) diag(scales)."""
    within = identity(P.shape[0], P) + scales[:, None] * P
    return orthonormalize((within @ basis + scales[:, None] * tangent).T).T


def stepped_by_length(basis: Any, P: Any, tangent: Any, squares: Any, size: float) -> Any:
    scales = size / namespace(P).sqrt(squares + square_columns(P, tangent))
    return stepped(basis, P, tangent, scales)


def ascend(
    X: Any, batch: int, rows: Any, gamma: Any, step: float, weights: Callable[[Any, Any], Any]
) -> tuple[Any, Any]:
    """Do an AdaGrad step for each batch of samples; return the basis and the denominators.

    X is (count * batch, n), `rows` Q' (r, n), `gamma` (r,). `weights` maps a batch and Q'X' (r, b)
    to the weights R (r, b) of the gradient RX. The device need not wait.
    """
    for begin in range(0, X.shape[0], batch):
        samples = X[begin : begin + batch, :]
        G = weights(samples, rows @ samples.T) @ samples
        rows, gamma = _stepped(rows, gamma, G, step)
    return rows, gamma


def hoevd_weights(order: int, batch: int) -> Callable[[Any, Any], Any]:
    """Return the weights (2/b²) Y (XX')^[d-1] of Algorithm 3."""
    return lambda X, Y: (2 / batch**2) * (Y @ (X @ X.T) ** (order - 1))


def tucker_weights(order: int, batch: int) -> Callable[[Any, Any], Any]:
    """Return the weights (2d/b²) Y (Y'Y)^[d-1] of Algorithm 2."""
    return lambda _, Y: (2 * order / batch**2) * (Y @ (Y.T @ Y) ** (order - 1))


def _stepped(rows: Any, gamma: Any, G: Any, step: float) -> tuple[Any, Any]:
    xp = namespace(G)
    squares = xp.sum(G * G, axis=1)
    total = xp.sum(squares)
    first = xp.where(gamma == 0, GAMMA_0 * xp.sqrt(total), gamma)
    longer = xp.sqrt(first * first + squares)
    moves = total > 0
    scale = step / xp.where(moves, longer, xp.ones_like(longer))
    moved = orthonormalize((rows + scale[:, None] * G).T).T
    return xp.where(moves, moved, rows), xp.where(moves, longer, gamma)


def _blocks(X: Any, width: int) -> Iterator[Any]:
    rows = max(1, BLOCK // width)
    for begin in range(0, X.shape[0], rows):
        yield X[begin : min(begin + rows, X.shape[0]), :]


def units(A: Any) -> float:
    """Return the rounding unit of an array in units of that of float64."""
    if is_plain(A):
        return 1.0
    return float(namespace(A).finfo(A.dtype).eps) / float(np.finfo(np.float64).eps)
