"""trust-region: its limits, its speed, and its failures."""

from itertools import pairwise

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_tucker._kernels.partial_cores import partial_cores
from orthobench_tucker.objective import hessian
from orthobench_tucker.solvers.quasi_newton import QuasiNewton
from orthobench_tucker.solvers.trust_region import TrustRegion

from orthobench.contract.solver import Status
from orthobench.tools.geometry import orthonormalize

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


def test_a_vanished_radius_with_a_gradient_fails(second_order):
    oracle = second_order.moment(order=3)
    state = second_order.begun(TrustRegion(start="random"), oracle)
    state.radius = 1e-18
    TrustRegion().step(oracle, state)
    assert state.status is Status.FAILED
    assert "is not rounding" in state.reason
