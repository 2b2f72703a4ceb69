"""trust-region: where it ends, how fast, and what it does where there is nowhere to go."""

from __future__ import annotations

import pickle
from itertools import pairwise, permutations

import numpy as np
import pytest
from orthobench_tucker import QuasiNewton, TrustRegion
from orthobench_tucker.objective import evaluate, hessian
from orthobench_tucker.partial_cores import partial_cores

from orthobench.contract.solver import Status
from orthobench.families.symmetric_tucker import GivenTensorOracle, MomentOracle, symmetric_tucker
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import Budget, Ending
from orthobench.tools.geometry import drift, orthonormalize, random_point, subspace_error

KINDS = [
    pytest.param({"preconditioned": preconditioned}, id=name)
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


def random_tensor(n, order, r, seed):
    T = np.random.default_rng([seed, n]).standard_normal((n,) * order)
    T = sum(T.transpose(axes) for axes in permutations(range(order)))
    oracle = GivenTensorOracle(np.ascontiguousarray(T), r)
    oracle.start = random_point(n, r, np.random.default_rng(seed))
    return oracle


def begun(solver, oracle):
    return solver.init(oracle, np.random.default_rng(0))


def ended(solver, oracle, most=300):
    """The state at the end, and the points on the way."""
    state = begun(solver, oracle)
    way = [state.point]
    while state.status is Status.RUNNING and state.work.steps < most:
        solver.step(oracle, state)
        way.append(state.point)
    return state, way


def objective(point):
    return point.value * point.unit**2


def curvatures(oracle, point):
    """The eigenvalues of the Hessian on the tangent space."""
    cores = partial_cores(oracle, "auto")
    n, r = point.Q.shape
    Z = np.linalg.qr(point.Q, mode="complete")[0][:, r:]
    columns = []
    for unit in np.eye((n - r) * r):
        V = Z @ unit.reshape(n - r, r)
        columns.append((Z.T @ hessian(cores, point, V)).ravel())
    return np.linalg.eigvalsh(np.array(columns))


@pytest.mark.parametrize("order", [3, 4])
def test_both_kinds_and_forms_end_where_quasi_newton_does(order):
    oracle = moment(order)
    other, _ = ended(QuasiNewton(), oracle)
    for preconditioned in (True, False):
        for form in ("implicit", "explicit"):
            state, _ = ended(TrustRegion(form=form, preconditioned=preconditioned), oracle)
            assert state.status is Status.CONVERGED
            assert state.point.relative_gradient <= 1e-12
            assert objective(state.point) == pytest.approx(objective(other.point), rel=1e-12)
            assert subspace_error(state.point.Q, other.point.Q) < 1e-9


@pytest.mark.parametrize("start", ["hoevd", "random"])
@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_both_forms_make_the_same_steps(kind, order, start):
    oracle = moment(order, n=15 if order < 5 else 8, r=3)
    solvers = [TrustRegion(form=f, start=start, **kind) for f in ("implicit", "explicit")]
    states = [begun(solver, oracle) for solver in solvers]
    for _ in range(12):
        for solver, state in zip(solvers, states, strict=True):
            solver.advance(oracle, state, 1)
        one, other = states
        np.testing.assert_allclose(one.point.Q, other.point.Q, atol=1e-10)
        assert one.radius == other.radius
        assert one.products == other.products


@pytest.mark.parametrize("start", ["hoevd", "random"])
@pytest.mark.parametrize("kind", KINDS)
def test_f_never_falls_and_the_basis_stays_orthonormal(kind, start):
    oracle = moment(order=3, n=20, r=3, seed=2)
    _, way = ended(TrustRegion(start=start, **kind), oracle)
    values = np.array([point.value for point in way])
    assert np.all(np.diff(values) >= -1e-13 * values[1:])
    assert max(drift(point.Q) for point in way) < 1e-13


@pytest.mark.parametrize("kind", KINDS)
def test_convergence_is_quadratic(kind):
    """Digits double: log |g_k+1| / log |g_k| nears two, once the region does not bind."""
    for seed in range(4):
        oracle = random_tensor(8, 3, 2, seed)
        _, way = ended(TrustRegion(start="random", tolerance=1e-15, **kind), oracle, most=60)
        slopes = np.array([point.relative_gradient for point in way])
        late = slopes[(slopes < 0.1) & (slopes > 1e-15)]
        pairs = [(a, b) for a, b in pairwise(late) if a < 1e-2]
        assert pairs
        assert all(b < max(30 * a**2, 1e-14) for a, b in pairs)


@pytest.mark.parametrize(("order", "n", "r"), [(2, 10, 3), (3, 8, 2), (3, 7, 1), (4, 6, 2)])
def test_from_anywhere_it_ends_at_a_maximum_of_second_order(order, n, r):
    for seed in range(5):
        oracle = random_tensor(n, order, r, seed)
        state, _ = ended(TrustRegion(start="random"), oracle)
        assert state.status is Status.CONVERGED
        assert curvatures(oracle, state.point).max() < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_it_leaves_a_saddle_point(kind):
    """The trailing eigenvectors of a matrix, and a millionth of something else."""
    oracle = moment(order=2, n=12, r=2)
    values, vectors = np.linalg.eigh(oracle.X.T @ oracle.X / len(oracle.X))
    nudge = 1e-6 * np.random.default_rng(0).standard_normal((12, 2))
    oracle.start = orthonormalize(vectors[:, 4:6] + nudge)
    state, _ = ended(TrustRegion(start="random", **kind), oracle)
    assert subspace_error(state.point.Q, vectors[:, -2:]) < 1e-9
    assert objective(state.point) == pytest.approx(np.sum(values[-2:] ** 2), rel=1e-12)


@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_of_exact_rank_is_recovered(kind, order):
    rng = np.random.default_rng(order)
    X = (rng.exponential(size=(200, 2)) - 1) @ np.linalg.qr(rng.standard_normal((6, 2)))[0].T
    oracle = moment(order, r=2, X=X)
    state, _ = ended(TrustRegion(start="random", form="explicit", **kind), oracle)
    assert objective(state.point) == pytest.approx(np.sum(oracle.T**2), rel=1e-12)


def test_the_core_makes_a_metric_that_saves_most_products():
    oracle = moment(order=3)
    products = [ended(TrustRegion(preconditioned=p), oracle)[0].products for p in (True, False)]
    assert products[0] * 3 < products[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["implicit", "explicit"])
def test_advance_in_two_parts_and_from_a_file_leaves_the_same_bits(kind, form):
    oracle = moment(order=4, n=12, r=2, seed=5)
    solver = TrustRegion(form=form, start="random", **kind)
    whole, parts = begun(solver, oracle), begun(solver, oracle)
    solver.advance(oracle, whole, 6)
    solver.advance(oracle, parts, 3)
    parts = pickle.loads(pickle.dumps(parts))  # noqa: S301
    solver.advance(oracle, parts, 3)
    np.testing.assert_array_equal(whole.point.Q, parts.point.Q)
    assert (whole.work, whole.radius) == (parts.work, parts.radius)


@pytest.mark.parametrize("kind", KINDS)
def test_the_scale_of_the_data_changes_nothing(kind):
    X, ends = factors(n=12, r=2), []
    for scale in (1.0, 2.0**-50, 2.0**60):
        oracle = moment(order=4, r=2, X=X * scale)
        state, _ = ended(TrustRegion(start="random", **kind), oracle)
        assert state.status is Status.CONVERGED
        ends.append(state)
    assert len({state.work.steps for state in ends}) == 1
    np.testing.assert_allclose(ends[1].point.Q, ends[0].point.Q, atol=1e-10)
    np.testing.assert_allclose(ends[2].point.Q, ends[0].point.Q, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_that_gains_less_than_promised_is_not_made(kind):
    """Far too large a first radius: the model fails, the point stays, the radius shrinks."""
    failed = 0
    for seed in range(8):
        oracle = random_tensor(8, 4, 2, seed)
        solver = TrustRegion(start="random", radius=1.0, **kind)
        state = begun(solver, oracle)
        for _ in range(10):
            point, radius = state.point, state.radius
            solver.advance(oracle, state, 1)
            if state.point is point and state.status is Status.RUNNING:
                failed += 1
                assert state.radius == radius / 4
    assert failed


def test_the_region_grows_where_it_binds_and_the_model_holds():
    oracle = moment(order=3)
    state = begun(TrustRegion(radius=1e-4), oracle)
    first = state.radius
    assert first == 1e-4 * np.sqrt(5)
    TrustRegion().advance(oracle, state, 3)
    assert state.radius == pytest.approx(8 * first)


def test_it_fails_where_no_radius_is_left_though_there_is_a_gradient():
    oracle = moment(order=3)
    state = begun(TrustRegion(start="random"), oracle)
    state.radius = 1e-18
    TrustRegion().step(oracle, state)
    assert state.status is Status.FAILED
    assert "is not rounding" in state.reason


def test_products_are_bounded_by_inner():
    oracle = moment(order=3)
    solver = TrustRegion(inner=2, preconditioned=False)
    state = begun(solver, oracle)
    solver.advance(oracle, state, 5)
    assert state.products == 10


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_converged_where_there_is_only_one_subspace(kind):
    state = begun(TrustRegion(**kind), moment(order=3, r=4, X=factors(n=4, r=4)))
    assert state.status is Status.CONVERGED
    assert np.isfinite(TrustRegion(**kind).solution(state).point).all()


@pytest.mark.parametrize("kind", KINDS)
def test_it_fails_where_the_objective_is_zero_at_the_start(kind):
    T = np.zeros((3, 3, 3))
    for i, j, k in permutations(range(3)):
        T[i, j, k] = 1.0
    oracle = GivenTensorOracle(T, 1)
    oracle.start = np.eye(3)[:, :1]
    state = begun(TrustRegion(start="random", **kind), oracle)
    assert state.status is Status.FAILED
    assert "the objective vanishes at the first basis" in state.reason


@pytest.mark.parametrize("kind", KINDS)
def test_it_fails_where_all_of_the_objective_is_rounding(kind):
    """The third moment of symmetric data vanishes."""
    half = np.random.default_rng(0).standard_normal((60, 10))
    oracle = moment(order=3, r=3, X=np.vstack([half, -half]))
    state, _ = ended(TrustRegion(form="implicit", **kind), oracle)
    assert state.status is Status.FAILED
    assert "symmetric about zero" in state.reason


@pytest.mark.parametrize("kind", KINDS)
def test_it_ends_where_the_gradient_is_rounding(kind):
    """All but a millionth of the samples cancels: six digits of the gradient are lost."""
    half = factors(n=12, r=3)
    X = np.vstack([half, -half + 1e-6 * np.roll(half, 1, axis=0)])
    state, _ = ended(TrustRegion(**kind), moment(order=3, r=3, X=X))
    assert state.status is Status.CONVERGED
    assert 1e-12 < state.point.relative_gradient < 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_with_no_tolerance_it_goes_on_and_stays_where_it_is(kind):
    oracle = moment(order=3, n=10, r=2)
    solver = TrustRegion(tolerance=0.0, **kind)
    state = begun(solver, oracle)
    solver.advance(oracle, state, 20)
    best = state.point.value
    solver.advance(oracle, state, 100)
    assert (state.status, state.work.steps) == (Status.RUNNING, 120)
    assert state.point.relative_gradient < 1e-13
    assert state.point.value == pytest.approx(best, rel=1e-13)


def test_flops_count_the_evaluation_and_every_product():
    oracle = moment(order=3, n=12, r=3)
    p, n, r, N = len(oracle.X), 12, 3, 6
    state = begun(TrustRegion(start="random"), oracle)
    evaluation = 2 * p * n * (r + N) + p * N + 6 * n * r * N + 4 * n * r * r + 2 * r * r * N
    assert state.work.flops == evaluation
    TrustRegion().step(oracle, state)
    along = 4 * p * n * r + 3 * p * N + 2 * p * n * N
    product = along + 8 * n * r * N + 6 * n * r * r + 2 * n * r * r + 18 * n * r
    factored = 9 * r**3 + 4 * n * r * r - 4 * r**3 // 3
    assert state.work.flops == 2 * evaluation + state.products * product + factored


def test_through_the_harness_the_judge_agrees():
    X = factors(n=20, r=3)
    instance = symmetric_tucker(samples=X.T, order=3, rank=3)
    streams = Streams.of("p", "trust-region", 0)
    outcome = run(instance, TrustRegion(), Budget(steps=100), streams)
    assert outcome.stop.status is Ending.DONE
    assert outcome.trace[-1].metrics["relative_gradient"] <= 1.1e-12


def test_pymanopts_trust_regions_end_at_the_same_optimum():
    pymanopt = pytest.importorskip("pymanopt")
    oracle = moment(order=3, n=12, r=2)
    cores = partial_cores(oracle, "implicit")
    first = begun(TrustRegion(), oracle).point
    manifold = pymanopt.manifolds.Grassmann(12, 2)

    @pymanopt.function.numpy(manifold)
    def cost(Q):
        return -evaluate(cores, Q, first.unit).value

    @pymanopt.function.numpy(manifold)
    def gradient(Q):
        return -evaluate(cores, Q, first.unit).gradient

    @pymanopt.function.numpy(manifold)
    def product(Q, V):
        return -hessian(cores, evaluate(cores, Q, first.unit), V)

    problem = pymanopt.Problem(
        manifold, cost, riemannian_gradient=gradient, riemannian_hessian=product
    )
    optimizer = pymanopt.optimizers.TrustRegions(verbosity=0, min_gradient_norm=1e-12)
    found = optimizer.run(problem, initial_point=first.Q).point
    state, _ = ended(TrustRegion(), oracle)
    assert subspace_error(found, state.point.Q) < 1e-8
