"""Projected gradient ascent for symmetric Tucker decomposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench import flops
from orthobench.arrays import Array
from orthobench.families.monomials import monomials
from orthobench.families.tucker_oracles import MomentOracle, SymmetricTensorOracle
from orthobench.parameters import parameter
from orthobench.problem import AnyProblem
from orthobench.solution import Solution
from orthobench.solver import Solver, State, Status
from orthobench_tucker.partial_cores import (
    PartialCores,
    form_parameter,
    forming_flops,
    partial_cores,
    refusal,
)
from orthobench_tucker.starts import (
    SMALL,
    first_basis,
    first_basis_flops,
    start_parameter,
)
from orthobench_tucker.unfoldings import Unfolding

RULES = ("adagrad", "constant")

VANISHING = 1e-13
"""A core this small, relative to what it would be without cancellation, is rounding."""

RAISED = 1e-12
"""A step that raises F by less than this times F does not raise it."""

RETURNED = 1e-3
"""Two steps that end closer to where they began than this times a step's length return there."""

MOVED = 1e-6
"""Least distance of two subspaces that is a step, not the end of convergence."""

RETURNS = 8
"""So many returns in a row are a cycle."""


@dataclass(slots=True, kw_only=True)
class PGDState(State):
    """The basis with its gradient. Bases are transposed.

    Attributes
    ----------
    basis : ndarray, shape (r, n)
        Q'.
    before : ndarray, shape (r, n)
        Q' of the step before.
    inner : ndarray, shape (r, r)
        P, and
    tangent : ndarray, shape (r, n)
        V', of grad F = QP + V at Q.
    objective : float
        F(Q).
    relative : float
        |V| / F.
    squares : ndarray, shape (r,)
        gamma² of AdaGrad, for each column.
    lipschitz : float
        L (`PGD`), under the rule "constant"; else zero.
    raised : bool
        Whether the last step raised F.
    returns : int
        How many steps in a row have led back to the basis before.
    """

    basis: Array
    before: Array
    inner: Array
    tangent: Array
    objective: float = 0.0
    relative: float = 0.0
    squares: Array
    lipschitz: float
    raised: bool = True
    returns: int = 0


@dataclass(frozen=True)
class PGD(Solver[SymmetricTensorOracle, PGDState]):
    """Projected gradient ascent: Q <- orth(Q + grad F(Q) diag(gamma)), on all data at once.

    Under the rule "constant" gamma is `step` / L with L = 2d(d - 1) sigma², sigma the spectral norm
    of the unfolding mat(X). With `step` <= 1 then F never falls: this makes the unknown bound of
    Theorem 6.1 explicit. For |Q|_2 <= 1 and any V,

        D²F(Q)[V, V] = 2 |C'|² + 2 <C, C''> >= -2d(d - 1) sigma² |V|²,

    since C = X ·(Q, ..., Q), C'' sums d(d - 1) terms such as X ·(V, V, Q, ..., Q), and each has
    |<C, X ·(V, V, Q, ..., Q)>| <= sigma² |V|²: with the slices B_k of X ·(I, I, Q, ..., Q) it is
    sum_k tr(B_k Q V' B_k V Q'), at most sqrt(sum_k |B_k Q V'|²) sqrt(sum_k |B_k V Q'|²); and the
    B_k on top of each other have spectral norm at most sigma. The segment between two
    orthonormal bases stays where |Q|_2 <= 1, so F(Y) >= F(Q) + <grad F(Q), Y - Q> - L/2 |Y - Q|².
    The right-hand side with L / `step` in place of L is largest on the Stiefel manifold at the
    polar factor of Q + `step`/L grad F(Q), where it is at least F(Q), its value at Y = Q. The
    QR factor spans the same subspace, on which alone F depends. (|X| in place of sigma, and
    2d(2d - 1) in place of 2d(d - 1), which bounds the Hessian on both sides, would do as well,
    with shorter steps.)

    Under "adagrad" gamma is `step` over the root of the sum of all squared gradients so far, for
    each column (Algorithm 2, lines 4 to 6). With a `step` of 1000 that is in effect the power
    iteration Q <- orth(grad F(Q)). gamma_0 is 1e-5 times the first gradient: the plain 1e-5 that
    is printed stops all motion on data of small scale.

    Ends where the relative gradient |(I - QQ') grad F| / F is at most `tolerance`. It fails where F
    vanishes at the first basis, as it does of symmetric data and odd d, and where large steps
    lead back and forth between two subspaces (Remark 8, which means Algorithm 1, not 2): steps
    that do not raise F and return, eight times in a row.

    Parameters
    ----------
    form, start, rule : str
    step_size : float
        The parameter ``step``.
    tolerance : float
        Zero to go on for ever.

    Notes
    -----
    A step takes the flops of one W (`SampleCores.at`, 2pn(r + N) + pN, or `TensorCores.at`) and
    6nrN + 10nr² + 2r²N for all else, N = C(r + d - 2, d - 1). Memory: W, nN doubles, and six
    times nr.

    References
    ----------
    Jin, Kileel, Kolda and Ward 2022, Algorithm 1, with gradient (6), or (13), whose factor
    Algorithm 2 misprints (`orthobench.families.sample_moments.gradient`). Section 2.3 speaks of
    the negative gradient: it is ascent.
    """

    form: str = form_parameter()
    start: str = start_parameter()
    rule: str = parameter(
        "adagrad", help="steps by AdaGrad for each column, or constant ones", choices=RULES
    )
    step_size: float = parameter(
        1000.0,
        name="step",
        help="step size: c2 of AdaGrad; constant: in units of 1/L, monotone up to 1",
        above=0.0,
        grid=(0.1, 1.0, 10.0, 1000.0),
    )
    tolerance: float = parameter(1e-12, help="relative gradient to end at; 0: never", low=0.0)

    name: ClassVar[str] = "pgd"
    needs: ClassVar[type[SymmetricTensorOracle]] = SymmetricTensorOracle  # type: ignore[type-abstract]
    source: ClassVar[str] = "Jin, Kileel, Kolda and Ward 2022, Algorithm 1"

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: no tensor, no samples for this form or start, or too large a tensor."""
        return Solver.refuses(self, problem) or refusal(problem, self.form, self.start)

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> PGDState:
        """Compute the first basis and its gradient."""
        from orthobench_tucker.gradient_ascent import square_columns

        del rng
        Q = first_basis(oracle, self.start, self.form)
        lipschitz = 0.0
        if self.rule == "constant":
            square = float(Unfolding(oracle, self.form).leading[0][0])
            lipschitz = 2 * oracle.order * (oracle.order - 1) * square
        n, r = Q.shape
        basis = np.ascontiguousarray(Q.T)
        state = PGDState(
            basis=basis,
            before=basis,
            inner=np.empty((r, r)),
            tangent=np.empty((r, n)),
            squares=np.zeros(r),
            lipschitz=lipschitz,
        )
        self._evaluate(_Evaluation(partial_cores(oracle, self.form), r), state)
        state.squares += SMALL**2 * square_columns(state.inner, state.tangent).sum()
        state.work.flops += forming_flops(oracle, self.form) + self._start_flops(oracle)
        if not state.objective > (VANISHING * _scale(oracle, Q)) ** 2:
            state.status = Status.FAILED
            state.reason = (
                "the objective vanishes at the first basis, |X ·(Q, ..., Q)| is rounding: samples "
                "that are symmetric about zero have no moments of odd order"
            )
        return state

    def advance(self, oracle: SymmetricTensorOracle, state: PGDState, count: int) -> None:
        """Take `count` steps, or fewer where it converges or fails."""
        evaluation = _Evaluation(partial_cores(oracle, self.form), oracle.k)
        for _ in range(count):
            if state.status is not Status.RUNNING:
                return
            self._step(evaluation, state)

    def step(self, oracle: SymmetricTensorOracle, state: PGDState) -> None:
        """Take one step."""
        self.advance(oracle, state, 1)

    def solution(self, state: PGDState) -> Solution:
        """Return Q."""
        return Solution(state.basis.T.copy(order="C"))

    def _step(self, evaluation: _Evaluation, state: PGDState) -> None:
        from orthobench_tucker.gradient_ascent import stepped

        before, objective, raised = state.before, state.objective, state.raised
        adaptive = self.rule == "adagrad"
        length = self.step_size if adaptive else self.step_size / state.lipschitz
        state.before, state.basis = (
            state.basis,
            stepped(state.basis, state.inner, state.tangent, state.squares, length, adaptive),
        )
        self._evaluate(evaluation, state)
        state.work.steps += 1
        state.raised = state.objective > objective * (1 + RAISED)
        if raised and state.raised:
            state.returns = 0
        elif state.status is Status.RUNNING:
            _check_cycle(state, before)

    def _evaluate(self, evaluation: _Evaluation, state: PGDState) -> None:
        """Compute F and its gradient at the basis; converge where the gradient is small."""
        found = evaluation(state.basis)
        state.inner, state.tangent, state.objective, state.relative = found
        state.work.flops += evaluation.flops
        if self.tolerance > 0 and state.relative <= self.tolerance:
            state.status = Status.CONVERGED

    def _start_flops(self, oracle: SymmetricTensorOracle) -> int:
        started = first_basis_flops(oracle, self.start, self.form)
        if self.rule == "constant":
            started += Unfolding(oracle, self.form).flops
        return started


class _Evaluation:
    """Maps Q' to what `gradient_ascent.evaluated` returns; made once for many steps."""

    def __init__(self, cores: PartialCores, rank: int) -> None:
        from orthobench_tucker.gradient_ascent import evaluated

        self.cores, self.evaluated = cores, evaluated
        self.counts = monomials(rank, cores.order - 1).counts
        self.flops = cores.at_flops(rank) + step_flops(cores.n, rank, len(self.counts))

    def __call__(self, basis: Array) -> tuple[Array, Array, float, float]:
        W = np.ascontiguousarray(self.cores.at(basis.T).T)
        return self.evaluated(W, basis, self.counts, self.cores.order)


def step_flops(n: int, rank: int, size: int) -> int:
    """Return the flops of a step beside W: S, W - QS, P and V, the step and the retraction.

    Parameters
    ----------
    n, rank : int
    size : int
        N.
    """
    parts = 3 * flops.gemm(n, rank, size) + flops.gemm(rank, rank, size)
    return parts + 3 * flops.gemm(n, rank, rank) + flops.qr(n, rank)


def _check_cycle(state: PGDState, before: Array) -> None:
    """Count steps that return to where the step before began; fail where they do not end."""
    from orthobench_tucker.gradient_ascent import distance

    moved = distance(state.before, before)
    returned = moved > MOVED and distance(state.basis, before) <= RETURNED * moved
    state.returns = state.returns + 1 if returned else 0
    if state.returns >= RETURNS:
        since = state.work.steps - state.returns
        state.status = Status.FAILED
        state.reason = f"oscillates between two points since step {since}: lower `step`"


def _scale(oracle: SymmetricTensorOracle, Q: Array) -> float:
    """Return about what |M ·(Q, ..., Q)| would be if samples did not cancel; zero of a tensor."""
    if not isinstance(oracle, MomentOracle):
        return 0.0
    Z = oracle.X[:: max(1, len(oracle.X) // 64)] @ Q
    return float((np.vdot(Z, Z) / len(Z)) ** (oracle.order / 2))
