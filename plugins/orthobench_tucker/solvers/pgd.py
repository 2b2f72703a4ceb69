"""Projected gradient ascent for symmetric Tucker decomposition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.arrays import like, norm

from orthobench.contract import (
    AnyProblem,
    Array,
    ArraySolver,
    BlockOracle,
    Solution,
    Status,
    SummarySolver,
    copied,
    flops,
    namespace,
    parameter,
)
from orthobench.tools.arrays import in_rows
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels import arrays
from orthobench_tucker._kernels.partial_cores import SampleCores, partial_cores
from orthobench_tucker._kernels.unfoldings import Unfolding
from orthobench_tucker.ascending import (
    SMALLEST,
    Iterate,
    PGDState,
    accepts,
    first_state,
    unresolved,
)
from orthobench_tucker.objective import (
    count_returns,
    derivatives_flops,
    fail_if_cycling,
    fail_if_vanishing,
    perturbed,
    stop_at_rounding,
    tolerance_parameter,
)
from orthobench_tucker.sample_moments import monomials
from orthobench_tucker.solvers.khatri_rao_sketch import KhatriRaoSketch
from orthobench_tucker.streaming import BlockSum, added, in_double
from orthobench_tucker.whole_tensor import (
    WholeTensorSolver,
    form_parameter,
    refusal_of_blocks,
    start_parameter,
)

RULES = ("ascending", "adagrad", "constant")
"""Step-size rules: values of the parameter ``rule``."""

RAISED = 1e-12
"""Minimum relative gain of F of a step that raises it."""

RETURNED = 1e-3
"""Maximum distance of a return, relative to the step (`count_returns`)."""

BLOCK_STARTS = ("auto", "sketch", "random")
"""Starts for blocks."""

SKETCH = KhatriRaoSketch()
"""Makes the start in the first pass over blocks."""


@dataclass(frozen=True)
class PGD(
    SummarySolver[SymmetricTensorOracle, PGDState, BlockSum],
    WholeTensorSolver[PGDState],
    ArraySolver[SymmetricTensorOracle, PGDState],
):
    """Projected gradient ascent: Q <- orth(Q + ∇F(Q) diag(gamma)), on all data at once.

    - "ascending": gamma is s over the length of each column of ∇F, with s = `step` at first. With
      1000 it is practically the power iteration Q <- orth(∇F(Q)). A step that does not raise F
      enough is tried again with a tenth of s (`orthobench_tucker.ascending`): F never falls.

    - "adagrad": gamma is `step` over the root of the sum of all squared gradients so far, for each
      column (Algorithm 2, lines 4 to 6). Its denominators begin at 1e-5 times the first gradient,
      since 1e-5 itself stops all motion on small data. Large steps may alternate between two
      subspaces (Remark 8, which means Algorithm 1, not 2). The run fails after eight returns
      without a gain.

    - "constant": gamma is `step` / L with L = 2d(d - 1) sigma², sigma the spectral norm of mat(X).
      With `step` <= 1 F never falls (proof on the page of this method), which makes the bound of
      Theorem 6.1 explicit.

    "ascending" also ends if the gradient is rounding (`stop_at_rounding`). The run fails if F
    vanishes at the first basis. With blocks a pass tries one step. The first pass makes a
    Khatri-Rao sketch to start from, unless `start` is "random".

    Notes
    -----
    A step, accepted or not: one W (2pn(r + N) + pN flops from samples, about 2n^d r from a tensor)
    and 6nrN + 10nr² + 2r²N, N = C(r + d - 2, d - 1). Memory: nN + 6nr doubles, or nN + 8nr while a
    step is rejected.

    References
    ----------
    Jin, Kileel, Kolda and Ward 2022, Algorithm 1, with gradient (6), or (13), whose factor
    Algorithm 2 misprints (`sample_moments.gradient`). Section 2.3 speaks of the negative gradient,
    but it is ascent. The rule "ascending" is this project's.
    """

    form: str = form_parameter()
    start: str = start_parameter()
    rule: str = parameter(
        "ascending", help="steps that never lower F, AdaGrad, or constant steps", choices=RULES
    )
    step_size: float = parameter(
        1000.0,
        name="step",
        help="largest step over the gradient, c2 of AdaGrad, or constant step times L",
        above=0.0,
        grid=(0.1, 1.0, 10.0, 1000.0),
    )
    tolerance: float = tolerance_parameter()

    name: ClassVar[str] = "pgd"
    source: ClassVar[str] = "Jin, Kileel, Kolda and Ward 2022, Algorithm 1"
    readings: ClassVar[float] = 6
    passes = math.inf

    def refuses(self, problem: AnyProblem) -> str | None:
        if not self.place.reduces:
            return super().refuses(problem)
        why = refusal_of_blocks(problem)
        if why is None and self.rule != "ascending":
            why = f"steps by the rule ascending on blocks, not {self.rule}"
        if why is None and self.start not in BLOCK_STARTS:
            why = f"starts from auto, sketch or random on blocks, not from {self.start}"
        return why or self.place.missing()

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> PGDState:
        Q = self.first_basis(oracle, rng)
        lipschitz = 0.0
        if self.rule == "constant":
            square = float(Unfolding(oracle, self.form).leading[0][0])
            lipschitz = 2 * oracle.order * (oracle.order - 1) * square
        evaluate = _Evaluation(oracle, self.form)
        iterate = evaluate(in_rows(Q.T))
        state = first_state(iterate, self.step_size, lipschitz)
        state.work.flops += evaluate.flops + self.start_flops(oracle)
        self._stop_if_converged(state)
        fail_if_vanishing(state, oracle, Q, math.sqrt(iterate.objective), oracle.order)
        return state

    def advance(self, oracle: SymmetricTensorOracle, state: PGDState, count: int) -> None:
        evaluate = _Evaluation(oracle, self.form)
        step = self._ascending_step if self.rule == "ascending" else self._plain_step
        for _ in range(count):
            if state.status is not Status.RUNNING:
                return
            state.work.steps += 1
            state.work.flops += evaluate.flops
            step(evaluate, state)

    def solution(self, state: PGDState) -> Solution:
        return Solution(copied(state.basis.T))

    def start_flops(self, oracle: SymmetricTensorOracle) -> int:
        norm = Unfolding(oracle, self.form).flops if self.rule == "constant" else 0
        return super().start_flops(oracle) + norm

    def _ascending_step(self, evaluate: _Evaluation, state: PGDState) -> None:
        iterate = state.iterate
        moved = evaluate.kernels.stepped_by_length(*iterate[:3], state.squares, state.step_size)
        stuck = state.step_size <= SMALLEST
        if accepts(state, evaluate(moved), evaluate.order, self.step_size):
            self._stop_if_converged(state)
            return
        if self.tolerance > 0 and (stuck or unresolved(iterate)):
            near = evaluate(perturbed(iterate.basis))
            state.work.flops += evaluate.flops
            noise = float(norm(near.tangent - iterate.tangent))
            slope = iterate.relative_gradient * iterate.objective
            stop_at_rounding(state, noise, slope, iterate.objective, stuck=stuck)

    def _plain_step(self, evaluate: _Evaluation, state: PGDState) -> None:
        iterate, before, raised = state.iterate, state.before, state.raised
        kernels = evaluate.kernels
        if self.rule == "adagrad":
            squares = kernels.square_columns(iterate.inner, iterate.tangent)
            state.squares = state.squares + squares
            scales = self.step_size / namespace(squares).sqrt(state.squares)
        else:
            constant = np.full(iterate.basis.shape[0], self.step_size / state.lipschitz)
            scales = like(constant, iterate.basis)
        state.iterate, state.before = evaluate(kernels.stepped(*iterate[:3], scales)), iterate.basis
        self._stop_if_converged(state)
        state.raised = state.objective > iterate.objective * (1 + RAISED)
        if raised and state.raised:
            state.returns = 0
            return
        bases = before.T, iterate.basis.T, state.basis.T
        state.returns = count_returns(state.returns, bases, RETURNED)
        fail_if_cycling(state, state.returns, "lower `step`, or take the rule ascending")

    def _stop_if_converged(self, state: PGDState) -> None:
        if 0 < self.tolerance >= state.relative_gradient:
            state.status = Status.CONVERGED

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> BlockSum:
        if self._sketches(oracle):
            return SKETCH.summarize(oracle, block)
        basis, (n, rank, order) = _basis(oracle), oracle.sizes
        total, spent = np.zeros((monomials(rank, order - 1).size, n)), 0
        for samples in in_double(block):
            cores = SampleCores(samples, order)
            total += len(samples) * cores.at(basis.T).T
            spent += cores.at_flops(rank)
        return BlockSum(rows=len(block), total=total, flops=spent)

    def merge(self, a: BlockSum, b: BlockSum) -> BlockSum:
        return added(a, b)

    def finish(self, oracle: BlockOracle, summary: BlockSum) -> Solution:
        if self._sketches(oracle):
            return SKETCH.finish(oracle, summary)
        state, _ = self._evaluated(oracle, summary)
        return Solution(np.ascontiguousarray(state.basis.T))

    def flops(self, oracle: BlockOracle, summary: BlockSum) -> int:
        if self._sketches(oracle):
            return SKETCH.flops(oracle, summary)
        n, rank, order = oracle.sizes
        return summary.flops + step_flops(n, rank, monomials(rank, order - 1).size)

    def proceed(self, oracle: BlockOracle, summary: BlockSum) -> Mapping[str, Any] | None:
        from orthobench_tucker._kernels.ascent import stepped_by_length

        if self._sketches(oracle):
            return {"basis": np.ascontiguousarray(SKETCH.finish(oracle, summary).point.T)}
        state, accepted = self._evaluated(oracle, summary)
        stuck = not accepted and (unresolved(state.iterate) or state.step_size <= SMALLEST)
        if stuck or 0 < self.tolerance >= state.relative_gradient:
            return None
        moved = stepped_by_length(*state.iterate[:3], state.squares, state.step_size)
        return {"basis": moved, "state": state}

    def _sketches(self, oracle: BlockOracle) -> bool:
        return oracle.number == 0 and self.start != "random"

    def _evaluated(self, oracle: BlockOracle, summary: BlockSum) -> tuple[PGDState, bool]:
        """Return the state after a pass, and whether its step was accepted."""
        from orthobench_tucker._kernels.ascent import evaluated

        basis, order = _basis(oracle), oracle.sizes[2]
        multiplicities = monomials(oracle.k, order - 1).multiplicities
        trial = Iterate(basis, *evaluated(summary.mean, basis, multiplicities, order))
        if "state" not in oracle.shared:
            return first_state(trial, self.step_size), True
        state = replace(oracle.shared["state"])
        return state, accepts(state, trial, order, self.step_size)


class _Evaluation:
    """Maps Q' to its `Iterate`, by the kernels of NumPy or of other arrays."""

    def __init__(self, oracle: SymmetricTensorOracle, form: str) -> None:
        self.order = oracle.order
        if oracle.place.moves:
            self.kernels: Any = arrays
            self.cores: Any = arrays.ArrayCores(oracle, form)
        else:
            from orthobench_tucker._kernels import ascent

            self.kernels, self.cores = ascent, partial_cores(oracle, form)
        self.multiplicities = self.cores.multiplicities(oracle.k)
        size = monomials(oracle.k, self.order - 1).size
        self.flops = self.cores.at_flops(oracle.k) + step_flops(oracle.n, oracle.k, size)

    def __call__(self, basis: Any) -> Iterate:
        W = in_rows(self.cores.at(basis.T).T)
        return Iterate(basis, *self.kernels.evaluated(W, basis, self.multiplicities, self.order))


def step_flops(n: int, rank: int, size: int) -> int:
    """Return the flops of a step besides W; `size` is N."""
    return derivatives_flops(n, rank, size) + flops.gemm(n, rank, rank) + flops.qr(n, rank)


def _basis(oracle: BlockOracle) -> Array:
    basis: Array = oracle.shared.get("basis", oracle.start.T)
    return np.ascontiguousarray(basis)
