"""The distinct columns of the unfolded moment, summed over blocks of samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, UsageError, flops
from orthobench.tools.machine import refusal_of
from orthobench_tucker._kernels.block_sums import BlockSum, added, in_double
from orthobench_tucker._kernels.leading_eigenpairs import leading_eigenpairs
from orthobench_tucker._kernels.unfoldings import CANCELLED, NULL
from orthobench_tucker.sample_moments import BLOCK_BYTES, monomials
from orthobench_tucker.starts import signed


@dataclass(frozen=True, kw_only=True)
class MomentEntries(BlockSum):
    """The sum of x ⊗ ... ⊗ x over samples, with one of equal columns each.

    `total` has shape (n, N), a column for each monomial of degree d - 1.

    Attributes
    ----------
    lengths : float
        The sum of |x|^d.
    """

    lengths: float


def moment_entries(block: NDArray[np.floating[Any]], order: int) -> MomentEntries:
    """Return the sum over the samples of a block; p(2n + 1)N flops.

    Raises
    ------
    UsageError
        Where the sum, with as much to work on it, does not fit into memory.
    """
    rows, n = block.shape
    entries = comb(n + order - 2, order - 1)
    why = refusal_of(2 * 8 * n * entries, f"the moment of {n} features and order {order}")
    if why is not None:
        raise UsageError(f"{why}: take khatri-rao-sketch, which does not form it")
    table, total, lengths = monomials(n, order - 1), np.zeros((n, entries)), 0.0
    for part in in_double(block, max(1, BLOCK_BYTES // (8 * entries))):
        total += part.T @ table.of(part.T).T
        lengths += float((np.einsum("ij,ij->i", part, part) ** (order / 2)).sum())
    spent = rows * (2 * n + 1) * entries
    return MomentEntries(rows=rows, total=total, lengths=lengths, flops=spent)


def merged(a: MomentEntries, b: MomentEntries) -> MomentEntries:
    """Return the sum of two sums."""
    return replace(added(a, b), lengths=a.lengths + b.lengths)


def leading_basis(summary: MomentEntries, start: Array, order: int) -> Array:
    """Return the leading eigenvectors of mat(M) mat(M)', completed from a start.

    The largest entry of each is positive. Those whose eigenvalues are rounding are left out.
    """
    n, k = start.shape
    columns = summary.mean * np.sqrt(monomials(n, order - 1).multiplicities)
    values, vectors = leading_eigenpairs(columns @ columns.T, k)
    bound = (summary.lengths / summary.rows) ** 2
    basis: Array = signed(vectors[:, values > max(NULL * values[0], CANCELLED * bound)], start)
    return basis


def leading_basis_flops(n: int, order: int) -> int:
    """Return the flops of `leading_basis`."""
    return flops.gemm(n, n, comb(n + order - 2, order - 1)) + flops.eigh(n)
