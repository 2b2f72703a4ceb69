"""Approximate eigenpairs of AA' from a subspace, and the next subspace, product by product."""

from __future__ import annotations

from typing import Any, NamedTuple

from orthobench.contract import flops, namespace, orthonormalize
from orthobench.tools.arrays import in_rows

NULL = 450
"""A singular value up to this times the rounding unit times the largest is rounding."""


class Space(NamedTuple):
    """A subspace whose last directions are to be multiplied by AA'.

    Attributes
    ----------
    basis : array, shape (s, m)
        Orthonormal columns.
    last : array, shape (s, width)
        The last of them, as an array of its own: products with it are faster.
    T : array, shape (m - width, m - width)
        Q'AA'Q of those before.
    """

    basis: Any
    last: Any
    T: Any


class Pairs(NamedTuple):
    """Approximate eigenpairs of AA', leading first.

    Attributes
    ----------
    values : array, shape (k,)
    vectors : array, shape (m, k)
        In the basis of the subspace.
    residuals : array, shape (k,)
        |AA'u - value u|.
    T : array, shape (m, m)
        Q'AA'Q.
    rest : array, shape (s, width)
        The product less its part in a subspace that grows; the product where it does not grow.
    """

    values: Any
    vectors: Any
    residuals: Any
    T: Any
    rest: Any

    def done(self, tolerance: float) -> bool:
        """Return whether all residuals are at most so much of the largest eigenvalue."""
        return bool(namespace(self.values).max(self.residuals) <= tolerance * self.values[0])

    @property
    def rank(self) -> int:
        """The number of values above rounding."""
        least = null(self.values) * self.values[0]
        return int(namespace(self.values).count_nonzero(self.values > least))


def beginning(Q: Any) -> Space:
    """Return the subspace of orthonormal columns, none of them multiplied yet."""
    return Space(Q, Q, Q[:0, :0])


def krylov_pairs(space: Space, W: Any, k: int) -> Pairs:
    """Return the k leading pairs of a Krylov space, of whose last directions W is the product."""
    xp = namespace(W)
    T = _bordered(space.T, space.basis.T @ W)
    values, Y = _leading(T, k)
    rest = W - space.basis @ T[:, -W.shape[1] :]
    residuals = xp.linalg.vector_norm(rest @ Y[-W.shape[1] :, :], axis=0)
    return Pairs(values, Y, residuals, T, rest)


def krylov_pairs_flops(s: int, m: int, width: int, k: int) -> int:
    """Return the flops of `krylov_pairs`, of m directions in all."""
    return 2 * flops.gemm(s, width, m) + flops.eigh(m) + flops.gemm(s, k, width)


def grown(space: Space, pairs: Pairs, most: int) -> Space | None:
    """Return the Krylov space with at most so many further directions; None where it is invariant.

    The product, once orthogonalized, is orthogonalized again: in directions where it is small,
    little of the basis that is left in it is much. Directions where it is rounding are dropped.
    """
    xp, (s, m) = namespace(pairs.rest), space.basis.shape
    most = min(most, s - m)
    if not most:
        return None
    left, values, _ = xp.linalg.svd(pairs.rest, full_matrices=False)
    least = null(pairs.rest) * pairs.values[0]
    Q = in_rows(left[:, : int(xp.count_nonzero(values > least))])
    Q = orthonormalize(Q - space.basis @ (space.basis.T @ Q))[:, :most]
    if not Q.shape[1]:
        return None
    return Space(xp.concat([space.basis, Q], axis=1), Q, pairs.T)


def grown_flops(s: int, m: int, width: int) -> int:
    """Return the flops of `grown`, from m directions in all."""
    if m == s:
        return 0
    return flops.svd(s, width) + 2 * flops.gemm(s, width, m) + flops.qr(s, width)


def subspace_pairs(space: Space, W: Any, k: int) -> Pairs:
    """Return the k leading pairs of a subspace, of which W is the product."""
    Q = space.basis
    T = Q.T @ W
    values, Y = _leading(T, k)
    residuals = namespace(W).linalg.vector_norm(W @ Y - Q @ (Y * values), axis=0)
    return Pairs(values, Y, residuals, T, W)


def subspace_pairs_flops(s: int, b: int, k: int) -> int:
    """Return the flops of `subspace_pairs`."""
    return flops.gemm(s, b, b) + flops.eigh(b) + 2 * flops.gemm(s, k, b)


def null(A: Any) -> float:
    """Return what a singular value of rounding is up to, relative to the largest."""
    return NULL * float(namespace(A).finfo(A.dtype).eps)


def _leading(T: Any, k: int) -> tuple[Any, Any]:
    """Return the k leading eigenpairs of a symmetric matrix, largest first."""
    xp = namespace(T)
    values, vectors = xp.linalg.eigh(T)
    return xp.flip(values[-k:]), xp.flip(vectors[:, -k:], axis=1)


def _bordered(T: Any, column: Any) -> Any:
    """Return a symmetric matrix with a further block, from the last columns of the result."""
    xp, m = namespace(column), T.shape[0]
    if not m:
        return column
    return xp.concat([xp.concat([T, column[:m, :].T]), column], axis=1)
