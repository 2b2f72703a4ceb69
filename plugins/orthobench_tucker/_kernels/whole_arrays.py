"""Unfoldings, partial cores and gradient steps with arrays of any library.

The formulae are those of `orthobench_tucker._kernels.unfoldings`, `sample_cores`, `tensor_cores`
and `pgd_kernels`, which take NumPy's. Of symmetric results all entries are computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any, Self

from orthobench.contract import flops, identity, namespace, orthonormalize
from orthobench.tools.arrays import inner, like, norm, numbers
from orthobench_tucker import MomentOracle, SymmetricTensorOracle
from orthobench_tucker.sample_moments import monomials

BLOCK = 2**24
"""Most numbers that are computed from a block of samples."""


def gram_of_samples(X: Any, order: int) -> Any:
    """Return X'(XX')^[d-1] X / p², an entrywise power, from blocks of samples (p, n)."""
    total: Any = 0.0
    for rows in _blocks(X, X.shape[0]):
        total = total + rows.T @ ((rows @ X.T) ** (order - 1) @ X)
    return total / X.shape[0] ** 2


def gram_of_tensor(T: Any) -> Any:
    """Return mat(T) mat(T)'."""
    unfolded = namespace(T).reshape(T, (T.shape[0], -1))
    return unfolded @ unfolded.T


def leading_eigenpairs(A: Any, count: int) -> tuple[Any, Any]:
    """Return the largest eigenvalues of a symmetric matrix, descending, and their eigenvectors."""
    xp = namespace(A)
    values, vectors = xp.linalg.eigh(A)
    return xp.flip(values[-count:]), xp.flip(vectors[:, -count:], axis=1)


def with_positive_largest(vectors: Any) -> Any:
    """Return vectors (n, k) with signs that make the largest entry of each positive."""
    xp = namespace(vectors)
    low, high = xp.min(vectors, axis=0), xp.max(vectors, axis=0)
    return xp.where(high < -low, -vectors, vectors)


class ArrayCores:
    """Partial cores W = X ·(I, Q, ..., Q) of a moment of samples, or of a tensor.

    Parameters
    ----------
    samples : array, shape (p, n), optional
    tensor : array, shape (n,) * d, optional
        In the place of samples.
    order : int
        d.
    """

    def __init__(self, samples: Any, tensor: Any, order: int) -> None:
        self.samples, self.tensor, self.order = samples, tensor, order
        self.n = int((tensor if samples is None else samples).shape[-1])
        self._tables: dict[int, list[tuple[Any, Any]]] = {}

    @classmethod
    def of(cls, oracle: SymmetricTensorOracle, form: str) -> Self:
        """Return the partial cores of an oracle's tensor, explicit or from samples."""
        if form != "explicit" and isinstance(oracle, MomentOracle):
            return cls(oracle.X, None, oracle.order)
        return cls(None, oracle.T, oracle.order)

    def at(self, Q: Any) -> Any:
        """Return W, shape (n, N)."""
        if self.samples is None:
            return self._contracted(Q)
        W, size = 0.0, monomials(Q.shape[1], self.order - 1).size
        for rows in _blocks(self.samples, size):
            W = W + rows.T @ self._monomials(rows @ Q)
        return W / self.samples.shape[0]

    def multiplicities(self, rank: int) -> Any:
        """Return those of the monomials of degree d - 1, beside the samples or the tensor."""
        beside = self.tensor if self.samples is None else self.samples
        return like(monomials(rank, self.order - 1).multiplicities, beside)

    def at_flops(self, rank: int) -> int:
        """Return the flops of `at`, as the classes for NumPy count them."""
        n, d = self.n, self.order
        if self.samples is None:
            return sum(flops.gemm(n ** (d - i - 1) * rank**i, rank, n) for i in range(d - 1))
        p, N = self.samples.shape[0], comb(rank + d - 2, d - 1)
        return int(2 * p * n * rank + p * N + 2 * p * n * N)

    def _monomials(self, Z: Any) -> Any:
        """Return the monomials of degree d - 1 of each row of Z, shape (p, N)."""
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
    """Return P and V' of ∇F = QP + V, F, and |V|/F, for W' (N, n) and Q' (r, n); wait for both."""
    S = W @ basis.T
    weighted = S * multiplicities[:, None]
    objective = inner(weighted, S)
    weighted = 2 * order * weighted
    tangent = weighted.T @ (W - S @ basis)
    tangent = tangent - (tangent @ basis.T) @ basis
    value, slope = numbers(objective, norm(tangent))
    return weighted.T @ S, tangent, value, slope / value if value > 0 else float("inf")


def square_columns(P: Any, tangent: Any) -> Any:
    """Return the squared lengths of the columns of ∇F = QP + V, shape (r,)."""
    total = namespace(P).sum
    return total(P * P, axis=1) + total(tangent * tangent, axis=1)


def stepped(basis: Any, P: Any, tangent: Any, scales: Any) -> Any:
    """Return the transposed Q factor of Q + (QP + V) diag(scales)."""
    within = identity(P.shape[0], P) + scales[:, None] * P
    return orthonormalize((within @ basis + scales[:, None] * tangent).T).T


def stepped_by_length(basis: Any, P: Any, tangent: Any, squares: Any, size: float) -> Any:
    """Return `stepped` with scales `size` over the root of `squares` + |column of ∇F|²."""
    scales = size / namespace(P).sqrt(squares + square_columns(P, tangent))
    return stepped(basis, P, tangent, scales)


def _blocks(X: Any, width: int) -> Iterator[Any]:
    """Yield blocks of samples of which `width` numbers each are computed."""
    rows = max(1, BLOCK // width)
    for begin in range(0, X.shape[0], rows):
        yield X[begin : min(begin + rows, X.shape[0]), :]
