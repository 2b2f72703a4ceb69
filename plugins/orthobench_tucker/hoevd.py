"""HOEVD: leading eigenvectors of the unfolding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import AnyProblem, Array, Solution, Solver, State, Status
from orthobench.families.symmetric_tucker import SymmetricTensorOracle
from orthobench_tucker.partial_cores import form_parameter, forming_flops, refusal
from orthobench_tucker.starts import first_basis_flops, hoevd_basis


@dataclass(slots=True, kw_only=True)
class HOEVDState(State):
    """The basis.

    Attributes
    ----------
    basis : ndarray, shape (n, r)
        The oracle's start before the only step.
    """

    basis: Array


@dataclass(frozen=True)
class HOEVD(Solver[SymmetricTensorOracle, HOEVDState]):
    """HOEVD: the r leading eigenvectors of mat(X) mat(X)'; one step, and no iteration.

    Not a critical point of F in general, but |X - X^_hoevd| <= sqrt(d) |X - X^_best|.

    Where fewer than r eigenvalues are above rounding (fewer than r samples, say), the eigenvectors
    that remain are arbitrary; they are taken from the common random start instead.

    Parameters
    ----------
    form : str

    Notes
    -----
    Explicit: 2n^(d + 1) + 9n³ flops, memory n² doubles beside the tensor. Implicit: 9n³ and
    4p²n + (d - 2)p² + 2pn², or (2pn + p + 2n²)N with N = C(n + d - 2, d - 1) where that takes less;
    the p-by-p Gram matrix is held in tiles, and mat(M) in slices. What is symmetric is computed
    by halves, and counted in full.

    References
    ----------
    Jin, Kileel, Kolda and Ward 2022, equations 7 (explicit) and 17 (from samples); De Lathauwer,
    De Moor and Vandewalle 2000. The bound is that of Hackbusch 2012, Theorems 6.9 and 6.10.
    """

    form: str = form_parameter()

    name: ClassVar[str] = "hoevd"
    needs: ClassVar[type[SymmetricTensorOracle]] = SymmetricTensorOracle  # type: ignore[type-abstract]
    source: ClassVar[str] = "Jin, Kileel, Kolda and Ward 2022, equations 7 and 17"

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: no tensor, no samples for this form, or too large a tensor."""
        return super().refuses(problem) or refusal(problem, self.form)

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> HOEVDState:
        """Begin at the common random start."""
        del rng
        return HOEVDState(basis=oracle.start.copy())

    def step(self, oracle: SymmetricTensorOracle, state: HOEVDState) -> None:
        """Compute the basis, and be done."""
        state.basis = hoevd_basis(oracle, self.form)
        state.work.steps += 1
        state.work.flops += forming_flops(oracle, self.form)
        state.work.flops += first_basis_flops(oracle, "hoevd", self.form)
        state.status = Status.CONVERGED

    def solution(self, state: HOEVDState) -> Solution:
        """Return the basis."""
        return Solution(state.basis.copy())
