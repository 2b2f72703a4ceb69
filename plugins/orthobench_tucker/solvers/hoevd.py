"""HOEVD: the leading eigenvectors of the unfolding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.memory import refusal_of

from orthobench.contract import (
    AnyProblem,
    ArraySolver,
    BlockOracle,
    Solution,
    State,
    Status,
    SummarySolver,
    UsageError,
    copied,
    flops,
)
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels.unfoldings import CANCELLED, NULL, Unfolding, leading_eigenpairs
from orthobench_tucker.sample_moments import BLOCK_BYTES, monomials
from orthobench_tucker.streaming import BlockSum, added, in_double
from orthobench_tucker.whole_tensor import (
    WholeTensorSolver,
    form_parameter,
    forming_flops,
    hoevd_basis,
    refusal_of_blocks,
    signed,
)


@dataclass(slots=True, kw_only=True)
class HOEVDState(State):
    """The basis."""

    basis: Any


@dataclass(frozen=True, kw_only=True)
class MomentEntries(BlockSum):
    """The sum of x ⊗ ... ⊗ x, (n, N), and that of |x|^d."""

    lengths: float


@dataclass(frozen=True)
class HOEVD(
    SummarySolver[SymmetricTensorOracle, HOEVDState, MomentEntries],
    WholeTensorSolver[HOEVDState],
    ArraySolver[SymmetricTensorOracle, HOEVDState],
):
    """HOEVD: the r leading eigenvectors of mat(X) mat(X)'; one step, and no iteration.

    The common random start completes the basis if fewer than r eigenvalues are above rounding. With
    blocks the distinct columns of mat(M) are summed, which is exact; a sum that does not fit into
    memory fails the run.

    Notes
    -----
    9n³ flops and 2n^(d + 1) from a tensor, or from samples 4p²n + (d - 2)p² + 2pn², or (2pn + p +
    2n²)N if that is less, N = C(n + d - 2, d - 1). Memory: n² doubles; nN with blocks.

    References
    ----------
    Jin, Kileel, Kolda and Ward 2022, equations 7 (explicit) and 17 (from samples); De Lathauwer, De
    Moor and Vandewalle 2000. The bound is that of Hackbusch 2012, Theorems 6.9 and 6.10.
    """

    form: str = form_parameter()

    name: ClassVar[str] = "hoevd"
    source: ClassVar[str] = "Jin, Kileel, Kolda and Ward 2022, equations 7 and 17"
    readings: ClassVar[float] = 4

    def refuses(self, problem: AnyProblem) -> str | None:
        if self.place.reduces:
            return refusal_of_blocks(problem) or self.place.missing()
        return super().refuses(problem)

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> HOEVDState:
        del rng
        return HOEVDState(basis=copied(oracle.start))

    def step(self, oracle: SymmetricTensorOracle, state: HOEVDState) -> None:
        state.basis = hoevd_basis(oracle, self.form)
        state.work.steps += 1
        state.work.flops += forming_flops(oracle, self.form) + Unfolding(oracle, self.form).flops
        state.status = Status.COMPLETE

    def solution(self, state: HOEVDState) -> Solution:
        return Solution(copied(state.basis))

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> MomentEntries:
        """Return the sum of x ⊗ ... ⊗ x over a block; p(2n + 1)N flops.

        Raises
        ------
        UsageError
            If the sum and its work array do not fit into memory.
        """
        (rows, n), order = block.shape, oracle.sizes[2]
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

    def merge(self, a: MomentEntries, b: MomentEntries) -> MomentEntries:
        return replace(added(a, b), lengths=a.lengths + b.lengths)

    def finish(self, oracle: BlockOracle, summary: MomentEntries) -> Solution:
        weights = np.sqrt(monomials(oracle.n, oracle.sizes[2] - 1).multiplicities)
        columns = summary.mean * weights
        values, vectors = leading_eigenpairs(columns @ columns.T, oracle.k)
        bound = (summary.lengths / summary.rows) ** 2
        found = vectors[:, values > max(NULL * values[0], CANCELLED * bound)]
        return Solution(signed(found, oracle.start))

    def flops(self, oracle: BlockOracle, summary: MomentEntries) -> int:
        del oracle
        n, entries = summary.total.shape
        return summary.flops + flops.gemm(n, n, entries) + flops.eigh(n)
