"""quasi-newton: where it ends, how fast, and what it does where there is nowhere to go."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

import numpy as np
import pytest
from orthobench_tucker import QuasiNewton
from orthobench_tucker.starts import hoevd_basis

import orthobench.tools.memory
from orthobench.contract.parameters import parameter
from orthobench.contract.solver import Status
from orthobench.errors import UsageError
from orthobench.families.symmetric_tucker import (
    GivenTensorOracle,
    MomentOracle,
    MomentStream,
    SymmetricTucker,
    symmetric_tucker,
)
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import Budget, Ending
from orthobench.tools.geometry import drift, orthonormalize, random_point, subspace_error

KINDS = [
    pytest.param({"method": method, "preconditioned": preconditioned}, id=f"{method}-{name}")
    for method in ("lbfgs", "bfgs")
    for preconditioned, name in ((True, "core"), (False, "identity"))
]


def factors(n=30, r=5, seed=0, p=None):
    """Samples of a factor model, skewed factors, inverse signal-to-noise ratio 1/2; rows."""
    rng = np.random.default_rng([seed, n, r])
    p = p or 5 * n
    B = rng.standard_normal((n, r))
    noise = 0.5 * np.linalg.norm(B) / np.sqrt(n) * rng.standard_normal((p, n))
    return (rng.exponential(size=(p, r)) - 1) @ B.T + noise


def moment(order=3, r=5, seed=0, X=None, **sizes):
    X = factors(seed=seed, r=r, **sizes) if X is None else X
    oracle = MomentOracle(X, order, r)
    oracle.start = random_point(oracle.n, r, np.random.default_rng(seed))
    return oracle


def tensor(T, r, seed=0):
    oracle = GivenTensorOracle(np.ascontiguousarray(T), r)
    oracle.start = random_point(len(T), r, np.random.default_rng(seed))
    return oracle


def composed(core, Q):
    """The symmetric part of core ·(Q', ..., Q')."""
    T = core
    for _ in range(core.ndim):
        T = np.tensordot(T, Q, axes=([0], [1]))
    orders = list(permutations(range(T.ndim)))
    return sum(T.transpose(axes) for axes in orders) / len(orders)


def begun(solver, oracle):
    return solver.init(oracle, np.random.default_rng(0))


def ended(solver, oracle, most=1000):
    """The state at the end, and the points on the way."""
    state, way = begun(solver, oracle), []
    way.append(state.point)
    while state.status is Status.RUNNING and state.work.steps < most:
        solver.step(oracle, state)
        way.append(state.point)
    return state, way


def objective(point):
    return point.value * point.unit**2


@pytest.mark.parametrize("order", [3, 4])
def test_all_kinds_and_forms_end_at_the_same_optimum(order):
    oracle, values, bases = moment(order), [], []
    for kind in [param.values[0] for param in KINDS]:
        for form in ("implicit", "explicit"):
            state, _ = ended(QuasiNewton(form=form, **kind), oracle)
            assert state.status is Status.CONVERGED
            assert state.point.relative_gradient <= 1e-12
            values.append(objective(state.point))
            bases.append(state.point.Q)
    np.testing.assert_allclose(values, values[0], rtol=1e-12)
    assert max(subspace_error(Q, bases[0]) for Q in bases) < 1e-9


@pytest.mark.parametrize("start", ["hoevd", "random"])
@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_both_forms_make_the_same_steps(kind, order, start):
    oracle = moment(order, n=15 if order < 5 else 8, r=3)
    solvers = [QuasiNewton(form=f, start=start, **kind) for f in ("implicit", "explicit")]
    states = [begun(solver, oracle) for solver in solvers]
    for _ in range(8):
        one, other = (state.point for state in states)
        np.testing.assert_allclose(one.Q, other.Q, atol=1e-10)
        for solver, state in zip(solvers, states, strict=True):
            solver.advance(oracle, state, 1)
        one, other = (state.point for state in states)
        assert objective(one) == pytest.approx(objective(other), rel=1e-10)


@pytest.mark.parametrize("start", ["hoevd", "random"])
@pytest.mark.parametrize("kind", KINDS)
def test_f_never_falls_and_the_basis_stays_orthonormal(kind, start):
    oracle = moment(order=3, n=20, r=3, seed=2)
    _, way = ended(QuasiNewton(start=start, **kind), oracle, most=200)
    values = np.array([point.value for point in way])
    assert np.all(np.diff(values) >= -1e-13 * values[1:])
    assert max(drift(point.Q) for point in way) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_matrix_it_finds_the_leading_eigenvectors(kind):
    oracle = moment(order=2, n=20, r=3, seed=1)
    state, _ = ended(QuasiNewton(start="random", **kind), oracle)
    values, vectors = np.linalg.eigh(oracle.X.T @ oracle.X / len(oracle.X))
    assert objective(state.point) == pytest.approx(np.sum(values[-3:] ** 2), rel=1e-12)
    assert subspace_error(state.point.Q, vectors[:, -3:]) < 1e-10


@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_of_exact_rank_is_recovered(kind, order):
    rng = np.random.default_rng(order)
    X = (rng.exponential(size=(200, 2)) - 1) @ np.linalg.qr(rng.standard_normal((6, 2)))[0].T
    oracle = moment(order, r=2, X=X)
    state, _ = ended(QuasiNewton(start="random", form="explicit", **kind), oracle)
    assert objective(state.point) == pytest.approx(np.sum(oracle.T**2), rel=1e-12)


def test_more_columns_than_the_tensor_has_are_no_obstacle():
    core = composed(np.random.default_rng(0).standard_normal((2, 2, 2)), np.eye(2))
    T = composed(core, random_point(9, 2, np.random.default_rng(1)))
    for kind in [param.values[0] for param in KINDS]:
        state, _ = ended(QuasiNewton(start="random", **kind), tensor(T, 4))
        assert state.status is Status.CONVERGED
        assert objective(state.point) == pytest.approx(np.sum(T**2), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("preconditioned", [True, False])
def test_bfgs_converges_superlinearly(preconditioned, seed):
    """The ratio of successive gradients falls: of a tensor without low rank, in few dimensions."""
    T = composed(np.random.default_rng(seed).standard_normal((6, 6, 6)), np.eye(6))
    solver = QuasiNewton(
        method="bfgs", preconditioned=preconditioned, start="random", tolerance=1e-13
    )
    state, way = ended(solver, tensor(T, 1, seed))
    assert state.status is Status.CONVERGED
    rates = np.diff(np.log([point.slope for point in way]))
    late, before = np.exp(rates[-3:].mean()), np.exp(np.median(rates[:-6]))
    assert late < 0.05
    assert late < 0.2 * before


def test_a_matrix_that_began_far_away_is_begun_anew():
    for seed in range(4):
        state, _ = ended(QuasiNewton(method="bfgs", start="random"), moment(order=3, seed=seed))
        assert state.status is Status.CONVERGED
        assert state.work.steps < 40


def test_the_core_makes_a_first_hessian_that_saves_most_steps():
    oracle = moment(order=3)
    steps = [ended(QuasiNewton(preconditioned=p), oracle)[0].work.steps for p in (True, False)]
    assert steps[0] * 4 < steps[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["implicit", "explicit"])
def test_advance_in_two_parts_and_from_a_file_leaves_the_same_bits(kind, form):
    oracle, solver = moment(order=4, n=10, r=2), QuasiNewton(form=form, start="random", **kind)
    whole, parts = begun(solver, oracle), begun(solver, oracle)
    solver.advance(oracle, whole, 9)
    solver.advance(oracle, parts, 4)
    parts = pickle.loads(pickle.dumps(parts))  # noqa: S301
    solver.advance(oracle, parts, 5)
    np.testing.assert_array_equal(whole.point.Q, parts.point.Q)
    assert whole.work == parts.work
    assert whole.point.relative_gradient == parts.point.relative_gradient


@pytest.mark.parametrize("kind", KINDS)
def test_the_scale_of_the_data_changes_nothing(kind):
    X, ends = factors(n=12, r=2), []
    for scale in (1.0, 2.0**-50, 2.0**60):
        state, _ = ended(QuasiNewton(**kind), moment(order=4, r=2, X=X * scale))
        assert state.status is Status.CONVERGED
        ends.append(state)
    assert len({state.work.steps for state in ends}) == 1
    np.testing.assert_allclose(ends[1].point.Q, ends[0].point.Q, atol=1e-10)
    np.testing.assert_allclose(ends[2].point.Q, ends[0].point.Q, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_converged_where_there_is_only_one_subspace(kind):
    state = begun(QuasiNewton(tolerance=0.0, **kind), moment(order=3, r=4, X=factors(n=4, r=4)))
    assert state.status is Status.CONVERGED
    assert np.isfinite(QuasiNewton(**kind).solution(state).point).all()


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_converged_where_it_begins_at_the_optimum(kind):
    state = begun(QuasiNewton(**kind), moment(order=2, n=10, r=3))
    assert (state.status, state.work.steps) == (Status.CONVERGED, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_it_fails_where_the_objective_is_zero_at_the_start(kind):
    e = np.eye(3)
    T = composed(np.ones((1, 1, 1)), np.zeros((3, 1)))
    for i, j, k in permutations(range(3)):
        T[i, j, k] = 1.0
    oracle = tensor(T, 1)
    oracle.start = e[:, :1]
    state = begun(QuasiNewton(start="random", **kind), oracle)
    assert state.status is Status.FAILED
    assert "the objective vanishes at the first basis" in state.reason
    assert np.isfinite(state.point.Q).all()


@pytest.mark.parametrize("start", ["hoevd", "random"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_fails_where_all_of_the_objective_is_rounding(kind, start):
    """The third moment of symmetric data vanishes."""
    half = np.random.default_rng(0).standard_normal((60, 10))
    oracle = moment(order=3, r=3, X=np.vstack([half, -half]))
    state, _ = ended(QuasiNewton(start=start, form="implicit", **kind), oracle)
    assert state.status is Status.FAILED
    assert "symmetric about zero" in state.reason


@pytest.mark.parametrize("kind", KINDS)
def test_it_ends_where_the_gradient_is_rounding(kind):
    """All but a millionth of the samples cancels: six digits of the gradient are lost."""
    half = factors(n=12, r=3)
    X = np.vstack([half, -half + 1e-6 * np.roll(half, 1, axis=0)])
    state, _ = ended(QuasiNewton(**kind), moment(order=3, r=3, X=X))
    assert state.status is Status.CONVERGED
    assert 1e-12 < state.point.relative_gradient < 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_with_no_tolerance_it_goes_on_and_stays_where_it_is(kind):
    oracle = moment(order=3, n=10, r=2)
    solver = QuasiNewton(tolerance=0.0, **kind)
    state = begun(solver, oracle)
    solver.advance(oracle, state, 250)
    best = state.point.value
    solver.advance(oracle, state, 50)
    assert (state.status, state.work.steps) == (Status.RUNNING, 300)
    assert state.point.relative_gradient < 1e-13
    assert state.point.value == pytest.approx(best, rel=1e-13)
    assert drift(state.point.Q) < 1e-12


def test_a_tolerance_ends_the_run():
    oracle = moment(order=3)
    for tolerance in (1e-3, 1e-8):
        state, way = ended(QuasiNewton(tolerance=tolerance, start="random"), oracle)
        assert way[-1].relative_gradient <= tolerance < way[-2].relative_gradient
        assert state.status is Status.CONVERGED


def test_memory_bounds_the_pairs():
    oracle = moment(order=3, n=12, r=3)
    solver = QuasiNewton(memory=2, start="random")
    state = begun(solver, oracle)
    solver.advance(oracle, state, 6)
    assert len(state.inverse.pairs) == 2


def test_flops_count_the_start_and_every_trial():
    oracle = moment(order=3, n=12, r=3)
    p, n, r, N = len(oracle.X), 12, 3, 6
    state = begun(QuasiNewton(start="random"), oracle)
    evaluation = 2 * p * n * (r + N) + p * N + 6 * n * r * N + 4 * n * r * r + 2 * r * r * N
    assert state.work.flops == evaluation
    before = state.work.flops
    QuasiNewton().step(oracle, state)
    assert state.work.flops - before > evaluation


@dataclass(frozen=True)
class Sized(SymmetricTucker):
    """A problem of which only the sizes matter."""

    name: ClassVar[str] = "sized"
    rank: int = parameter(5, help="r")
    n: int = parameter(100, help="n")
    stream: bool = parameter(False, help="endless")

    @property
    def tensor_shape(self):
        return (self.n,) * 3

    @property
    def streamed(self):
        return self.stream

    def build(self, rng):
        raise NotImplementedError


def test_what_does_not_fit_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr(orthobench.tools.memory, "total", lambda: 2**20)
    why = QuasiNewton(method="bfgs", form="implicit").refuses(Sized())
    assert "475 x 475" in why
    assert "3.4 MiB" in why
    assert "lbfgs" in why
    assert QuasiNewton(method="lbfgs", form="implicit").refuses(Sized()) is None
    assert QuasiNewton(method="bfgs", form="implicit").refuses(Sized(n=20)) is None
    with pytest.raises(UsageError, match="475 x 475"):
        begun(QuasiNewton(method="bfgs"), moment(order=3, n=100))
    assert "explicit tensor" in QuasiNewton(form="explicit").refuses(Sized())


def test_a_stream_without_end_is_refused():
    assert "they only stream" in QuasiNewton().refuses(Sized(stream=True))
    assert issubclass(MomentOracle, MomentStream)


def test_through_the_harness_the_judge_agrees():
    X = factors(n=20, r=3)
    instance = symmetric_tucker(samples=X.T, order=3, rank=3)
    streams = Streams.of("p", "quasi-newton", 0)
    outcome = run(instance, QuasiNewton(), Budget(steps=100), streams)
    assert outcome.stop.status is Ending.DONE
    assert outcome.trace[-1].metrics["relative_gradient"] <= 1.1e-12
    errors = [mark.metrics["relative_error"] for mark in outcome.trace]
    assert np.all(np.diff(errors) <= 1e-12)
    assert outcome.work.flops > 0


def test_it_begins_at_the_unfoldings_eigenvectors():
    oracle = moment(order=3)
    state = begun(QuasiNewton(), oracle)
    np.testing.assert_array_equal(state.point.Q, hoevd_basis(oracle, "auto"))
    assert drift(orthonormalize(state.point.Q)) < 1e-14
