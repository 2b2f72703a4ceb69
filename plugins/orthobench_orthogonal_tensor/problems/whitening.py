"""Whitening of second and third moments.

If M2 = sum_i w_i m_i ⊗ m_i and M3 = sum_i w_i m_i ⊗ m_i ⊗ m_i with linearly independent m_i, and
W'M2W = I, the vectors u_i = w_i^(1/2) W'm_i are orthonormal. The whitened third moment is M3(W, W,
W) = sum_i w_i^(-1/2) u_i ⊗ u_i ⊗ u_i. Its weights lambda_i = w_i^(-1/2) and factors u_i give back
w_i = lambda_i^-2 and m_i = lambda_i (W')^+ u_i (Anandkumar et al. 2012, "Tensor decompositions for
learning latent variable models", section 4.3 and Theorem 4.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from orthobench_kit.second_moments import DenseMoment

from orthobench.errors import DataError
from orthobench.tools.arrays import Array

SINGULAR = 1e-12
"""Minimum eigenvalue, relative to the largest, of a second moment that can be whitened."""


@dataclass(frozen=True)
class Whitening:
    """The k leading eigenpairs of a second moment M2, and the maps to and from whitened vectors.

    `basis` (d, k) has orthonormal eigenvectors, `values` (k,) their positive eigenvalues,
    descending.
    """

    basis: Array
    values: Array

    @cached_property
    def matrix(self) -> Array:
        """The whitening matrix W = basis diag(values)^(-1/2), shape (d, k): W'M2W = I."""
        W: Array = self.basis / np.sqrt(self.values)
        return W

    def vectors(self, U: Array, weights: Array) -> Array:
        """Return the vectors lambda_i (W')^+ u_i in the coordinates of `basis`, as rows (k, k).

        Times ``basis.T`` they are the vectors themselves. `weights` are the lambda_i.
        """
        vectors: Array = (np.sqrt(self.values)[:, None] * U * weights).T
        return vectors


def whitening(M2: Array, k: int) -> Whitening:
    """Return the whitening of a symmetric second moment (d, d) of rank k, 1 <= k <= d.

    DataError if one of the k leading eigenvalues is not positive.
    """
    values, basis = DenseMoment(M2).leading(k)
    positive = int(np.count_nonzero(values > SINGULAR * values[0])) if values[0] > 0 else 0
    if positive < k:
        hint = f"at most {positive} fit these data" if positive else "these data hold no component"
        raise DataError(
            f"eigenvalue {positive + 1} of the second moment that is to be whitened is "
            f"{values[positive]:.3g}, which must be positive: {k} components need {k} linearly "
            f"independent vectors; {hint}"
        )
    return Whitening(basis, values)


def third_power_sum(blocks: Iterable[Array], k: int) -> Array:
    """Return the sum over all rows y (k,) of y ⊗ y ⊗ y.

    k²(k + 1) flops a row, in one matrix product for each block.
    """
    i, j = np.triu_indices(k)
    packed = np.zeros((len(i), k))
    for Y in blocks:
        packed += (Y[:, i] * Y[:, j]).T @ Y
    return unpacked(packed)


def unpacked(packed: Array) -> Array:
    """Return the tensor (k, k, k) that is symmetric in its first two indices, from entries a <= b.

    Row by row the entries T[a, b], pairs (a, b) in the order of ``numpy.triu_indices(k)``.
    """
    k = packed.shape[1]
    i, j = np.triu_indices(k)
    T = np.empty((k, k, k))
    T[i, j] = T[j, i] = packed
    return T


def cyclic_sum(T: Array) -> Array:
    """Return T_abc + T_acb + T_bca of a tensor that is symmetric in its first two indices."""
    total: Array = T + T.transpose(0, 2, 1) + T.transpose(2, 0, 1)
    return total


def exactly_symmetric(T: Array) -> Array:
    """Return a tensor that is symmetric up to rounding, made symmetric to the last bit."""
    a, b, c = np.sort(np.indices(T.shape), axis=0)
    symmetric: Array = T[a, b, c]
    return symmetric
