"""HOEVD: the leading eigenvectors of the unfolding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import (
    AnyProblem,
    ArraySolver,
    BlockOracle,
    Solution,
    State,
    Status,
    SummarySolver,
    copied,
)
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels.moment_entries import (
    MomentEntries,
    leading_basis,
    leading_basis_flops,
    merged,
    moment_entries,
)
from orthobench_tucker._kernels.partial_cores import form_parameter, forming_flops
from orthobench_tucker.starts import first_basis_flops, hoevd_basis
from orthobench_tucker.whole_tensor import WholeTensorSolver, refusal_of_blocks


@dataclass(slots=True, kw_only=True)
class HOEVDState(State):
    """The basis.

    Attributes
    ----------
    basis : array, shape (n, r)
        The oracle's start before the only step.
    """

    basis: Any


@dataclass(frozen=True)
class HOEVD(
    SummarySolver[SymmetricTensorOracle, HOEVDState, MomentEntries],
    WholeTensorSolver[HOEVDState],
    ArraySolver[SymmetricTensorOracle, HOEVDState],
):
    """HOEVD: the r leading eigenvectors of mat(X) mat(X)'; one step, and no iteration.

    They are not a critical point of F in general, but |X - X^_hoevd| <= sqrt(d) |X - X^_best|.

    Where fewer than r eigenvalues are above rounding (such as with fewer than r samples), the other
    eigenvectors are arbitrary, and are taken from the common random start instead. Elsewhere than
    in NumPy it reads four numbers to know how many they are.

    With blocks the distinct columns of mat(M) are summed, nN numbers for N = C(n + d - 2, d - 1),
    and merging loses nothing. Where they do not fit into memory the run fails.

    Parameters
    ----------
    form : str
        Not used with blocks.

    Notes
    -----
    Explicit: 2n^(d + 1) + 9n³ flops, memory n² doubles besides the tensor. Implicit: 9n³ and
    4p²n + (d - 2)p² + 2pn², or (2pn + p + 2n²)N with N = C(n + d - 2, d - 1) where that is less;
    the p-by-p Gram matrix is held in tiles, and mat(M) in slices. Of symmetric results only half
    is computed, but all is counted.

    References
    ----------
    Jin, Kileel, Kolda and Ward 2022, equations 7 (explicit) and 17 (from samples); De Lathauwer,
    De Moor and Vandewalle 2000. The bound is that of Hackbusch 2012, Theorems 6.9 and 6.10.
    """

    form: str = form_parameter()

    name: ClassVar[str] = "hoevd"
    source: ClassVar[str] = "Jin, Kileel, Kolda and Ward 2022, equations 7 and 17"
    readings: ClassVar[float] = 4

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: no tensor; or, with blocks, no samples."""
        if self.place.reduces:
            return refusal_of_blocks(problem) or self.place.missing()
        return super().refuses(problem)

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> HOEVDState:
        """Return the common random start."""
        del rng
        return HOEVDState(basis=copied(oracle.start))

    def step(self, oracle: SymmetricTensorOracle, state: HOEVDState) -> None:
        """Compute the basis, which ends the run."""
        state.basis = hoevd_basis(oracle, self.form)
        state.work.steps += 1
        state.work.flops += forming_flops(oracle, self.form)
        state.work.flops += first_basis_flops(oracle, "hoevd", self.form)
        state.status = Status.COMPLETE

    def solution(self, state: HOEVDState) -> Solution:
        """Return the basis."""
        return Solution(copied(state.basis))

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> MomentEntries:
        """Return the sum of x ⊗ ... ⊗ x over a block."""
        return moment_entries(block, oracle.sizes[2])

    def merge(self, a: MomentEntries, b: MomentEntries) -> MomentEntries:
        """Return the sum of two sums."""
        return merged(a, b)

    def finish(self, oracle: BlockOracle, summary: MomentEntries) -> Solution:
        """Return the leading eigenvectors of the unfolded mean."""
        return Solution(leading_basis(summary, oracle.start, oracle.sizes[2]))

    def flops(self, oracle: BlockOracle, summary: MomentEntries) -> int:
        """Return the flops of a pass."""
        return summary.flops + leading_basis_flops(oracle.n, oracle.sizes[2])
