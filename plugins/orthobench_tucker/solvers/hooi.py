"""Higher-order orthogonal iteration for symmetric tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, State, Status, complete, flops
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels.partial_cores import PartialCores, partial_cores, unfolded
from orthobench_tucker.objective import (
    count_returns,
    derivatives,
    derivatives_flops,
    fail_if_cycling,
    fail_if_vanishing,
    relative_gradient,
    tolerance_parameter,
)
from orthobench_tucker.whole_tensor import WholeTensorSolver, form_parameter, start_parameter

RETURNED = 1e-6
"""Maximum distance of a return, relative to the step (`count_returns`)."""

ADVICE = "symmetric HOOI may; take pgd, or jacobi-tucker"
"""Advice of the message of a cycle."""


@dataclass(slots=True, kw_only=True)
class HOOIState(State):
    """The basis Q, its partial core W, the two bases before it, and the returns."""

    Q: Array
    last: Array
    before: Array
    W: Array
    objective: float = np.nan
    relative_gradient: float = np.inf
    returns: int = 0


@dataclass(frozen=True)
class HOOI(WholeTensorSolver[HOOIState]):
    """Symmetric HOOI: Q <- the r leading left singular vectors of X ·(I, Q, ..., Q), unfolded.

    HOOI with one basis for all modes. Equal columns of the unfolding are combined: the singular
    vectors are those of W diag(multiplicities)^½. If the rank of W is below r, directions of the
    last Q complete the basis.

    F may fall. For some tensors the iteration ends in a cycle of two subspaces (Kofidis and Regalia
    2002, for r = 1). The run fails after eight iterations in a row that return to the subspace
    before the last, up to 1e-6 of the step, and if W vanishes at the first basis.

    Notes
    -----
    A step: one W (2pn(r + N) + pN flops from samples, about 2n^d r from a tensor), an SVD (n, N),
    and 6nrN + 4nr² + 2r²N flops, N = C(r + d - 2, d - 1). Memory: nN doubles.

    References
    ----------
    De Lathauwer, De Moor and Vandewalle 2000, "On the best rank-1 and rank-(R1, ..., RN)
    approximation of higher-order tensors", Algorithm 4.2, with one basis. Monomials, the completion
    and the detection of cycles are this project's.
    """

    form: str = form_parameter()
    start: str = start_parameter()
    tolerance: float = tolerance_parameter()

    name: ClassVar[str] = "hooi"
    source: ClassVar[str] = "De Lathauwer, De Moor and Vandewalle 2000, Algorithm 4.2"

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> HOOIState:
        Q = self.first_basis(oracle, rng)
        state = HOOIState(Q=Q, last=Q, before=Q, W=np.empty(0))
        state.work.flops += self.start_flops(oracle)
        self._evaluate(partial_cores(oracle, self.form), state)
        size = float(np.linalg.norm(unfolded(state.W, oracle.k, oracle.order)))
        fail_if_vanishing(state, oracle, Q, size, oracle.order - 1)
        return state

    def advance(self, oracle: SymmetricTensorOracle, state: HOOIState, count: int) -> None:
        cores = partial_cores(oracle, self.form)
        for _ in range(count):
            if state.status is not Status.RUNNING:
                return
            Q = leading_left(unfolded(state.W, oracle.k, oracle.order), state.Q)
            state.Q, state.last, state.before = Q, state.Q, state.last
            self._evaluate(cores, state)
            state.work.steps += 1
            state.work.flops += flops.svd(oracle.n, state.W.shape[1])
            bases = state.before, state.last, state.Q
            state.returns = count_returns(state.returns, bases, RETURNED)
            fail_if_cycling(state, state.returns, ADVICE)

    def solution(self, state: HOOIState) -> Solution:
        return Solution(state.Q.copy())

    def _evaluate(self, cores: PartialCores, state: HOOIState) -> None:
        """Compute W, F and the gradient; end the run if that is small."""
        n, rank = state.Q.shape
        state.W = cores.at(state.Q)
        S = state.Q.T @ state.W
        state.objective, G, *_ = derivatives(state.W, S, state.Q, cores.order)
        state.relative_gradient = relative_gradient(float(np.linalg.norm(G)), state.objective)
        state.work.flops += cores.at_flops(rank) + derivatives_flops(n, rank, state.W.shape[1])
        if self.tolerance > 0 and state.relative_gradient <= self.tolerance:
            state.status = Status.CONVERGED


def leading_left(A: Array, Q: Array) -> Array:
    """Return leading left singular vectors of A (n, N), completed by Q (n, r)."""
    left, values, _ = np.linalg.svd(A, full_matrices=False)
    rounding = max(A.shape) * np.finfo(np.float64).eps * values[0]
    rank = int(np.count_nonzero(values > rounding))
    return complete(left[:, :rank], Q, Q.shape[1])
