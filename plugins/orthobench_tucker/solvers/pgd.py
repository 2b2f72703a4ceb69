"""Projected gradient ascent for symmetric Tucker decomposition."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import (
    AnyProblem,
    ArraySolver,
    Solution,
    Status,
    copied,
    namespace,
    parameter,
)
from orthobench.tools.arrays import in_rows, like, norm
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels import whole_arrays
from orthobench_tucker._kernels.ascending import SMALLEST, Iterate, unresolved
from orthobench_tucker._kernels.partial_cores import PartialCores, form_parameter, partial_cores
from orthobench_tucker._kernels.pgd_passes import PGDPasses, step_flops
from orthobench_tucker._kernels.pgd_state import PGDState, accepts, first_state
from orthobench_tucker._kernels.unfoldings import Unfolding
from orthobench_tucker.sample_moments import monomials
from orthobench_tucker.starts import start_parameter
from orthobench_tucker.stopping import (
    count_returns,
    fail_if_cycling,
    fail_if_vanishing,
    perturbed,
    stop_at_rounding,
    tolerance_parameter,
)
from orthobench_tucker.whole_tensor import WholeTensorSolver, refusal_of_blocks

RULES = ("ascending", "adagrad", "constant")
"""Step-size rules: values of the parameter ``rule``."""

RAISED = 1e-12
"""Least gain of F, relative to F, of a step that raises it."""

RETURNED = 1e-3
"""Distance to the subspace before the last, relative to the step, below which a step returns."""


@dataclass(frozen=True)
class PGD(PGDPasses, WholeTensorSolver[PGDState], ArraySolver[SymmetricTensorOracle, PGDState]):
    """Projected gradient ascent: Q <- orth(Q + ∇F(Q) diag(gamma)), on all data at once.

    Under "ascending" gamma is s over the length of each column of ∇F, with s = `step` at first.
    With a `step` of 1000 that is practically the power iteration Q <- orth(∇F(Q)). A step that
    does not raise F enough is rejected, and tried again from the same point with a tenth of s
    (`orthobench_tucker._kernels.ascending`): F never falls, up to rounding, and no run can
    oscillate.

    Under "adagrad" gamma is `step` over the root of the sum of all squared gradients so far, for
    each column (Algorithm 2, lines 4 to 6): steps become shorter, and all are accepted. gamma_0 is
    1e-5 times the norm of the first gradient; the paper's plain 1e-5 stops all motion on data of
    small scale. On some tensors large steps alternate between two subspaces (Remark 8, which
    means Algorithm 1, not 2): the run fails after eight steps in a row that return without raising
    F.

    Under "constant" gamma is `step` / L with L = 2d(d - 1) sigma², where sigma is the spectral norm
    of the unfolding mat(X). With `step` <= 1 F never falls: this makes the unknown bound of
    Theorem 6.1 explicit. For |Q|_2 <= 1 and any V,

        D²F(Q)[V, V] = 2 |C'|² + 2 <C, C''> >= -2d(d - 1) sigma² |V|²,

    since C = X ·(Q, ..., Q), and C'' is the sum of d(d - 1) terms such as X ·(V, V, Q, ..., Q),
    each with |<C, X ·(V, V, Q, ..., Q)>| <= sigma² |V|²: with the slices B_k of
    X ·(I, I, Q, ..., Q) this is sum_k tr(B_k Q V' B_k V Q'), at most
    sqrt(sum_k |B_k Q V'|²) sqrt(sum_k |B_k V Q'|²), and the spectral norm of the stacked B_k is at
    most sigma. On the segment between two orthonormal bases |Q|_2 <= 1, so that
    F(Y) >= F(Q) + <∇F(Q), Y - Q> - L/2 |Y - Q|². The right-hand side with L / `step` in place of L
    is largest on the Stiefel manifold at the polar factor of Q + `step`/L ∇F(Q), where it is at
    least F(Q), its value at Y = Q. The QR factor spans the same subspace, on which alone F
    depends. (|X| in place of sigma, and 2d(2d - 1) in place of 2d(d - 1), which bounds the Hessian
    on both sides, would be valid as well, with shorter steps.)

    With blocks W is the sum of those of all blocks, and a pass tries one step; the first pass makes
    a Khatri-Rao sketch to start from, unless `start` is "random". It ends at the tolerance, or
    where a step is rejected and gains are near rounding.

    It ends where the relative gradient |(I - QQ')∇F| / F is at most `tolerance`; "ascending" also
    where the gradient is found to be rounding (`orthobench_tucker.stopping.stop_at_rounding`). It
    fails where F vanishes at the first basis, as it does for symmetric data and odd d.

    F and its gradient decide whether a step is accepted, and where the next one begins: elsewhere
    than in NumPy they are read at each step.

    Parameters
    ----------
    form, start, rule : str
    step_size : float
        The parameter ``step``.
    tolerance : float
        Zero never ends the run.

    Notes
    -----
    A step, also one that is rejected, costs one W (2pn(r + N) + pN flops from samples,
    `SampleCores.at`, or those of `TensorCores.at`) and 6nrN + 10nr² + 2r²N flops,
    N = C(r + d - 2, d - 1). Memory: W, nN doubles, and six times nr, or eight times where a step is
    rejected.

    References
    ----------
    Jin, Kileel, Kolda and Ward 2022, Algorithm 1, with gradient (6), or (13), whose factor
    Algorithm 2 misprints (`sample_moments.gradient`). Section 2.3 speaks of the negative gradient,
    but it is ascent. The rule "ascending" is this project's.
    """

    form: str = form_parameter()
    start: str = start_parameter()
    rule: str = parameter(
        "ascending",
        help="steps relative to the gradient, shorter where F would fall; AdaGrad; or constant",
        choices=RULES,
    )
    step_size: float = parameter(
        1000.0,
        name="step",
        help="largest step relative to the gradient; c2 of AdaGrad; or constant step in units of "
        "1/L, monotone up to 1",
        above=0.0,
        grid=(0.1, 1.0, 10.0, 1000.0),
    )
    tolerance: float = tolerance_parameter()

    name: ClassVar[str] = "pgd"
    source: ClassVar[str] = "Jin, Kileel, Kolda and Ward 2022, Algorithm 1"
    readings: ClassVar[float] = 6

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: no tensor; or, with blocks, no samples, or another rule or start."""
        if not self.place.reduces:
            return super().refuses(problem)
        return refusal_of_blocks(problem) or self.refusal_of_passes() or self.place.missing()

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> PGDState:
        """Compute the first basis and its gradient."""
        Q = self.first_basis(oracle, rng)
        lipschitz = 0.0
        if self.rule == "constant":
            square = float(Unfolding(oracle, self.form).leading[0][0])
            lipschitz = 2 * oracle.order * (oracle.order - 1) * square
        evaluate = _Evaluation(cores_of(oracle, self.form), oracle.k)
        iterate = evaluate(in_rows(Q.T))
        state = first_state(iterate, self.step_size, lipschitz)
        state.work.flops += evaluate.flops + self.start_flops(oracle)
        self._stop_if_converged(state)
        fail_if_vanishing(state, oracle, Q, sqrt(iterate.objective), oracle.order)
        return state

    def advance(self, oracle: SymmetricTensorOracle, state: PGDState, count: int) -> None:
        """Take `count` steps, or fewer where the run ends."""
        evaluate = _Evaluation(cores_of(oracle, self.form), oracle.k)
        step = self._ascending_step if self.rule == "ascending" else self._plain_step
        for _ in range(count):
            if state.status is not Status.RUNNING:
                return
            state.work.steps += 1
            state.work.flops += evaluate.flops
            step(evaluate, state)

    def solution(self, state: PGDState) -> Solution:
        """Return Q."""
        return Solution(copied(state.basis.T))

    def start_flops(self, oracle: SymmetricTensorOracle) -> int:
        """Return the flops of the tensor and the start, and of L where the rule needs it."""
        norm = Unfolding(oracle, self.form).flops if self.rule == "constant" else 0
        return super().start_flops(oracle) + norm

    def _ascending_step(self, evaluate: _Evaluation, state: PGDState) -> None:
        """Try one step, and accept it if it raises F enough."""
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
        """Take one step, whether or not it raises F."""
        iterate, before, raised = state.iterate, state.before, state.raised
        kernels = evaluate.kernels
        if self.rule == "adagrad":
            added = kernels.square_columns(iterate.inner, iterate.tangent)
            state.squares = state.squares + added
            scales = self.step_size / namespace(added).sqrt(state.squares)
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
        """End the run where the gradient is small."""
        if 0 < self.tolerance >= state.relative_gradient:
            state.status = Status.CONVERGED


class _Evaluation:
    """Maps Q' to its `Iterate`, and holds the kernels; made once for many steps."""

    def __init__(self, cores: PartialCores | whole_arrays.ArrayCores, rank: int) -> None:
        self.cores, self.order, self.kernels = cores, cores.order, _kernels(cores)
        counts = monomials(rank, cores.order - 1).multiplicities
        self.multiplicities = (
            cores.multiplicities(rank) if isinstance(cores, whole_arrays.ArrayCores) else counts
        )
        self.flops = cores.at_flops(rank) + step_flops(cores.n, rank, len(counts))

    def __call__(self, basis: Any) -> Iterate:
        W = in_rows(self.cores.at(basis.T).T)
        return Iterate(basis, *self.kernels.evaluated(W, basis, self.multiplicities, self.order))


def cores_of(oracle: SymmetricTensorOracle, form: str) -> PartialCores | whole_arrays.ArrayCores:
    """Return the partial cores of an oracle's tensor, of NumPy or of arrays elsewhere."""
    if oracle.place.moves:
        return whole_arrays.ArrayCores.of(oracle, form)
    return partial_cores(oracle, form)


def _kernels(cores: PartialCores | whole_arrays.ArrayCores) -> Any:
    """Return the module that computes with the arrays of the cores."""
    if isinstance(cores, whole_arrays.ArrayCores):
        return whole_arrays
    from orthobench_tucker._kernels import pgd_kernels

    return pgd_kernels
