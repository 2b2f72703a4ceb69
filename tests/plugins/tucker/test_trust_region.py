"""trust-region: where it ends, how fast, and what it does where there is nowhere to go."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from orthobench_tucker._kernels.partial_cores import partial_cores
from orthobench_tucker.objective import evaluate, hessian
from orthobench_tucker.solvers.quasi_newton import QuasiNewton
from orthobench_tucker.solvers.trust_region import TrustRegion

from orthobench.contract.solver import Status
from orthobench.tools.geometry import orthonormalize, subspace_error

KINDS = [
    pytest.param({"preconditioned": preconditioned}, id=name)
    for preconditioned, name in ((True, "core"), (False, "identity"))
]


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
def test_both_kinds_and_forms_end_where_quasi_newton_does(second_order, order):
    oracle = second_order.moment(order)
    other, _ = second_order.ended(QuasiNewton(), oracle)
    for preconditioned in (True, False):
        for form in ("implicit", "explicit"):
            state, _ = second_order.ended(
                TrustRegion(form=form, preconditioned=preconditioned), oracle
            )
            assert state.status is Status.CONVERGED
            assert state.point.relative_gradient <= 1e-12
            assert second_order.objective(state.point) == pytest.approx(
                second_order.objective(other.point), rel=1e-12
            )
            assert subspace_error(state.point.Q, other.point.Q) < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_both_forms_make_the_same_steps(second_order, kind):
    for case in product([2, 3, 4, 5], ["hoevd", "random"]):
        order, start = case
        oracle = second_order.moment(order, n=15 if order < 5 else 8, r=3)
        solvers = [TrustRegion(form=f, start=start, **kind) for f in ("implicit", "explicit")]
        states = [second_order.begun(solver, oracle) for solver in solvers]
        for _ in range(12):
            for solver, state in zip(solvers, states, strict=True):
                solver.advance(oracle, state, 1)
            one, other = states
            np.testing.assert_allclose(one.point.Q, other.point.Q, atol=1e-10, err_msg=f"{case}")
            assert one.radius == other.radius, case
            # rounding may decide whether the last of the inner iterations is taken
            assert abs(one.products - other.products) <= 1, case


@pytest.mark.parametrize("kind", KINDS)
def test_convergence_is_quadratic(second_order, kind):
    """Digits double: log |g_k+1| / log |g_k| nears two, once the region does not bind."""
    for seed in range(4):
        oracle = second_order.random_tensor(8, 3, 2, seed)
        _, way = second_order.ended(
            TrustRegion(start="random", tolerance=1e-15, **kind), oracle, most=60
        )
        slopes = np.array([point.relative_gradient for point in way])
        late = slopes[(slopes < 0.1) & (slopes > 1e-15)]
        pairs = [(a, b) for a, b in pairwise(late) if a < 1e-2]
        assert pairs
        assert all(b < max(30 * a**2, 1e-14) for a, b in pairs)


@pytest.mark.parametrize(("order", "n", "r"), [(2, 10, 3), (3, 8, 2), (3, 7, 1), (4, 6, 2)])
def test_from_anywhere_it_ends_at_a_maximum_of_second_order(second_order, order, n, r):
    for seed in range(5):
        oracle = second_order.random_tensor(n, order, r, seed)
        state, _ = second_order.ended(TrustRegion(start="random"), oracle)
        assert state.status is Status.CONVERGED
        assert curvatures(oracle, state.point).max() < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_it_leaves_a_saddle_point(second_order, kind):
    """The trailing eigenvectors of a matrix, and a millionth of something else."""
    oracle = second_order.moment(order=2, n=12, r=2)
    values, vectors = np.linalg.eigh(oracle.X.T @ oracle.X / len(oracle.X))
    nudge = 1e-6 * np.random.default_rng(0).standard_normal((12, 2))
    oracle.start = orthonormalize(vectors[:, 4:6] + nudge)
    state, _ = second_order.ended(TrustRegion(start="random", **kind), oracle)
    assert subspace_error(state.point.Q, vectors[:, -2:]) < 1e-9
    assert second_order.objective(state.point) == pytest.approx(np.sum(values[-2:] ** 2), rel=1e-12)


def test_the_core_makes_a_metric_that_saves_most_products(second_order):
    oracle = second_order.moment(order=3)
    products = [
        second_order.ended(TrustRegion(preconditioned=p), oracle)[0].products for p in (True, False)
    ]
    assert products[0] * 3 < products[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_that_gains_less_than_promised_is_not_made(second_order, kind):
    """Far too large a first radius: the model fails, the point stays, the radius shrinks."""
    failed = 0
    for seed in range(8):
        oracle = second_order.random_tensor(8, 4, 2, seed)
        solver = TrustRegion(start="random", radius=1.0, **kind)
        state = second_order.begun(solver, oracle)
        for _ in range(10):
            point, radius = state.point, state.radius
            solver.advance(oracle, state, 1)
            if state.point is point and state.status is Status.RUNNING:
                failed += 1
                assert state.radius == radius / 4
    assert failed


def test_the_region_grows_where_it_binds_and_the_model_holds(second_order):
    oracle = second_order.moment(order=3)
    state = second_order.begun(TrustRegion(radius=1e-4), oracle)
    first = state.radius
    assert first == 1e-4 * np.sqrt(5)
    TrustRegion().advance(oracle, state, 3)
    assert state.radius == pytest.approx(8 * first)


def test_it_fails_where_no_radius_is_left_though_there_is_a_gradient(second_order):
    oracle = second_order.moment(order=3)
    state = second_order.begun(TrustRegion(start="random"), oracle)
    state.radius = 1e-18
    TrustRegion().step(oracle, state)
    assert state.status is Status.FAILED
    assert "is not rounding" in state.reason


def test_pymanopts_trust_regions_end_at_the_same_optimum(second_order):
    pymanopt = pytest.importorskip("pymanopt")
    oracle = second_order.moment(order=3, n=12, r=2)
    cores = partial_cores(oracle, "implicit")
    first = second_order.begun(TrustRegion(), oracle).point
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
    state, _ = second_order.ended(TrustRegion(), oracle)
    assert subspace_error(found, state.point.Q) < 1e-8
