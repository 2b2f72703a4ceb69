"""Projected gradient ascent for symmetric Tucker decomposition."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from orthobench.contract import AnyProblem, Array, Solution, Solver, State, Status, flops, parameter
from orthobench.families.symmetric_tucker import SymmetricTensorOracle
from orthobench.families.symmetric_tucker.monomials import monomials
from orthobench_tucker.adagrad import GAMMA_0
from orthobench_tucker.endings import (
    count_returns,
    end_in_rounding,
    fail_where_it_cycles,
    fail_where_it_vanishes,
    next_numbers,
    tolerance_parameter,
)
from orthobench_tucker.monotone import CUT, SMALLEST, Place, next_length, rises, unresolved
from orthobench_tucker.objective import derivatives_flops
from orthobench_tucker.partial_cores import (
    PartialCores,
    form_parameter,
    forming_flops,
    partial_cores,
    refusal,
)
from orthobench_tucker.starts import (
    first_basis,
    first_basis_flops,
    start_parameter,
)
from orthobench_tucker.unfoldings import Unfolding

RULES = ("ascending", "adagrad", "constant")

RAISED = 1e-12
"""A step that raises F by less than this times F does not raise it."""

RETURNED = 1e-3
"""Two steps that end closer to where they began than this times a step's length return there."""


@dataclass(slots=True, kw_only=True)
class PGDState(State):
    """Where it is, and how long its steps are.

    Attributes
    ----------
    place : Place
        The basis with its gradient.
    before : ndarray, shape (r, n)
        Q' of the step before.
    squares : ndarray, shape (r,)
        gamma_0², to which AdaGrad adds the square of each gradient, for each column.
    lipschitz : float
        L (`PGD`), under the rule "constant"; else zero.
    length : float
        s of the rule "ascending" (`orthobench_tucker.monotone`).
    calm : int
        Steps in a row that it has taken since s changed.
    raised : bool
        Whether the last step raised F.
    returns : int
        How many steps in a row have led back to the basis before.
    """

    place: Place
    before: Array
    squares: Array
    lipschitz: float
    length: float
    calm: int = 0
    raised: bool = True
    returns: int = 0

    @property
    def basis(self) -> Array:
        """Q', shape (r, n)."""
        return self.place.basis

    @property
    def objective(self) -> float:
        """F(Q)."""
        return self.place.objective

    @property
    def relative_gradient(self) -> float:
        """The relative gradient."""
        return self.place.relative_gradient


@dataclass(frozen=True)
class PGD(Solver[SymmetricTensorOracle, PGDState]):
    """Projected gradient ascent: Q <- orth(Q + ∇F(Q) diag(gamma)), on all data at once.

    Under "ascending" gamma is s over the length of each column of ∇F, where s begins at `step`.
    With a `step` of 1000 that is in effect the power iteration Q <- orth(∇F(Q)). A step that
    does not raise F is taken back, and tried again from the same point with a tenth of s
    (`orthobench_tucker.monotone`): F never falls, up to rounding, and no run can oscillate.

    Under "adagrad" gamma is `step` over the root of the sum of all squared gradients so far, for
    each column (Algorithm 2, lines 4 to 6): the same, with steps that become shorter, and are
    always taken. gamma_0 is 1e-5 times the first gradient: the plain 1e-5 that is printed stops
    all motion on data of small scale. Large steps lead back and forth between two subspaces on
    some tensors (Remark 8, which means Algorithm 1, not 2): the run fails where steps do not
    raise F and return, eight times in a row.

    Under "constant" gamma is `step` / L with L = 2d(d - 1) sigma², sigma the spectral norm
    of the unfolding mat(X). With `step` <= 1 then F never falls: this makes the unknown bound of
    Theorem 6.1 explicit. For |Q|_2 <= 1 and any V,

        D²F(Q)[V, V] = 2 |C'|² + 2 <C, C''> >= -2d(d - 1) sigma² |V|²,

    since C = X ·(Q, ..., Q), C'' sums d(d - 1) terms such as X ·(V, V, Q, ..., Q), and each has
    |<C, X ·(V, V, Q, ..., Q)>| <= sigma² |V|²: with the slices B_k of X ·(I, I, Q, ..., Q) it is
    sum_k tr(B_k Q V' B_k V Q'), at most sqrt(sum_k |B_k Q V'|²) sqrt(sum_k |B_k V Q'|²); and the
    B_k on top of each other have spectral norm at most sigma. The segment between two
    orthonormal bases stays where |Q|_2 <= 1, so F(Y) >= F(Q) + <∇F(Q), Y - Q> - L/2 |Y - Q|².
    The right-hand side with L / `step` in place of L is largest on the Stiefel manifold at the
    polar factor of Q + `step`/L ∇F(Q), where it is at least F(Q), its value at Y = Q. The
    QR factor spans the same subspace, on which alone F depends. (|X| in place of sigma, and
    2d(2d - 1) in place of 2d(d - 1), which bounds the Hessian on both sides, would do as well,
    with shorter steps.)

    Ends where the relative gradient |(I - QQ')∇F| / F is at most `tolerance`; "ascending" also
    where it is found to be rounding (`orthobench_tucker.endings.end_in_rounding`). It fails where F
    vanishes at the first basis, as it does of symmetric data and odd d.

    Parameters
    ----------
    form, start, rule : str
    step_size : float
        The parameter ``step``.
    tolerance : float
        Zero to go on for ever.

    Notes
    -----
    A step, also one that is taken back, takes the flops of one W (`SampleCores.at`, 2pn(r + N) +
    pN, or `TensorCores.at`) and 6nrN + 10nr² + 2r²N for all else, N = C(r + d - 2, d - 1). Memory:
    W, nN doubles, and six times nr, or eight where a step is taken back.

    References
    ----------
    Jin, Kileel, Kolda and Ward 2022, Algorithm 1, with gradient (6), or (13), whose factor
    Algorithm 2 misprints (`sample_moments.gradient`). Section 2.3 speaks of
    the negative gradient: it is ascent. The rule "ascending" is ours.
    """

    form: str = form_parameter()
    start: str = start_parameter()
    rule: str = parameter(
        "ascending",
        help="steps over the gradient, shortened where F would fall; by AdaGrad; or constant ones",
        choices=RULES,
    )
    step_size: float = parameter(
        1000.0,
        name="step",
        help="step size: the longest in units of the gradient; c2 of AdaGrad; constant: in units "
        "of 1/L, monotone up to 1",
        above=0.0,
        grid=(0.1, 1.0, 10.0, 1000.0),
    )
    tolerance: float = tolerance_parameter()

    name: ClassVar[str] = "pgd"
    needs: ClassVar[type[SymmetricTensorOracle]] = SymmetricTensorOracle  # type: ignore[type-abstract]
    source: ClassVar[str] = "Jin, Kileel, Kolda and Ward 2022, Algorithm 1"

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: no tensor, no samples for this form or start, or too large a tensor."""
        return super().refuses(problem) or refusal(problem, self.form, self.start)

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> PGDState:
        """Compute the first basis and its gradient."""
        del rng
        Q = first_basis(oracle, self.start, self.form)
        lipschitz = 0.0
        if self.rule == "constant":
            square = float(Unfolding(oracle, self.form).leading[0][0])
            lipschitz = 2 * oracle.order * (oracle.order - 1) * square
        evaluate = _Evaluation(partial_cores(oracle, self.form), oracle.k)
        place = evaluate(np.ascontiguousarray(Q.T))
        first = GAMMA_0**2 * (
            np.vdot(place.inner, place.inner) + np.vdot(place.tangent, place.tangent)
        )
        state = PGDState(
            place=place,
            before=place.basis,
            squares=np.full(oracle.k, first),
            lipschitz=lipschitz,
            length=self.step_size,
        )
        state.work.flops += evaluate.flops + forming_flops(oracle, self.form)
        state.work.flops += self._start_flops(oracle)
        self._settle(state)
        fail_where_it_vanishes(state, oracle, Q, sqrt(place.objective), oracle.order)
        return state

    def advance(self, oracle: SymmetricTensorOracle, state: PGDState, count: int) -> None:
        """Take `count` steps, or fewer where it converges or fails."""
        evaluate = _Evaluation(partial_cores(oracle, self.form), oracle.k)
        step = self._climb if self.rule == "ascending" else self._go
        for _ in range(count):
            if state.status is not Status.RUNNING:
                return
            state.work.steps += 1
            state.work.flops += evaluate.flops
            step(evaluate, state)

    def step(self, oracle: SymmetricTensorOracle, state: PGDState) -> None:
        """Take one step."""
        self.advance(oracle, state, 1)

    def solution(self, state: PGDState) -> Solution:
        """Return Q."""
        return Solution(state.basis.T.copy(order="C"))

    def _climb(self, evaluate: _Evaluation, state: PGDState) -> None:
        """Try one step, and take it if it raises F enough."""
        place = state.place
        moved = evaluate.kernels.stepped_by_length(*place[:3], state.squares, state.length)
        trial = evaluate(moved)
        if rises(place, trial, evaluate.order, state.length):
            state.place = trial
            state.length, state.calm = next_length(state.length, self.step_size, state.calm)
            self._settle(state)
            return
        stuck = state.length <= SMALLEST
        state.length, state.calm = max(state.length / CUT, SMALLEST), 0
        if self.tolerance > 0 and (stuck or unresolved(place)):
            shaken = evaluate(next_numbers(place.basis))
            state.work.flops += evaluate.flops
            noise = float(np.linalg.norm(shaken.tangent - place.tangent))
            slope = place.relative_gradient * place.objective
            end_in_rounding(state, noise, slope, place.objective, stuck=stuck)

    def _go(self, evaluate: _Evaluation, state: PGDState) -> None:
        """Take one step, whatever it does to F."""
        place, before, raised = state.place, state.before, state.raised
        kernels = evaluate.kernels
        if self.rule == "adagrad":
            state.squares += kernels.square_columns(place.inner, place.tangent)
            scales = self.step_size / np.sqrt(state.squares)
        else:
            scales = np.full(len(place.basis), self.step_size / state.lipschitz)
        state.place, state.before = evaluate(kernels.stepped(*place[:3], scales)), place.basis
        self._settle(state)
        state.raised = state.objective > place.objective * (1 + RAISED)
        if raised and state.raised:
            state.returns = 0
            return
        bases = before.T, place.basis.T, state.basis.T
        state.returns = count_returns(state.returns, bases, RETURNED)
        fail_where_it_cycles(state, state.returns, "lower `step`, or take the rule ascending")

    def _settle(self, state: PGDState) -> None:
        """Converge where the gradient is small."""
        if 0 < self.tolerance >= state.relative_gradient:
            state.status = Status.CONVERGED

    def _start_flops(self, oracle: SymmetricTensorOracle) -> int:
        started = first_basis_flops(oracle, self.start, self.form)
        if self.rule == "constant":
            started += Unfolding(oracle, self.form).flops
        return started


class _Evaluation:
    """Maps Q' to its `Place`, and holds the kernels; made once for many steps."""

    def __init__(self, cores: PartialCores, rank: int) -> None:
        from orthobench_tucker import pgd_kernels

        self.cores, self.order, self.kernels = cores, cores.order, pgd_kernels
        self.counts = monomials(rank, cores.order - 1).multiplicities
        self.flops = cores.at_flops(rank) + step_flops(cores.n, rank, len(self.counts))

    def __call__(self, basis: Array) -> Place:
        W = np.ascontiguousarray(self.cores.at(basis.T).T)
        return Place(basis, *self.kernels.evaluated(W, basis, self.counts, self.order))


def step_flops(n: int, rank: int, size: int) -> int:
    """Return the flops of a step beside W: S, W - QS, P and V, the step and the retraction.

    Parameters
    ----------
    n, rank : int
    size : int
        N.
    """
    return derivatives_flops(n, rank, size) + flops.gemm(n, rank, rank) + flops.qr(n, rank)
