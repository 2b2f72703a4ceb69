"""quasi-newton and trust-region: what both promise, in all kinds."""

from functools import partial
from itertools import permutations

import numpy as np
import pytest
from orthobench_tucker.solvers.quasi_newton import QuasiNewton
from orthobench_tucker.solvers.trust_region import TrustRegion

from orthobench.contract.solver import Status
from orthobench.tools.geometry import drift

KINDS = [
    pytest.param(partial(method, preconditioned=preconditioned), id=f"{name}-{metric}")
    for name, method in (
        ("lbfgs", partial(QuasiNewton, method="lbfgs")),
        ("bfgs", partial(QuasiNewton, method="bfgs")),
        ("trust-region", TrustRegion),
    )
    for preconditioned, metric in ((True, "core"), (False, "identity"))
]

kinds = pytest.mark.parametrize("kind", KINDS)
starts = pytest.mark.parametrize("start", ["hoevd", "random"])


@starts
@kinds
def test_f_never_falls_and_the_basis_stays_orthonormal(second_order, kind, start):
    oracle = second_order.moment(order=3, n=20, r=3, seed=2)
    _, way = second_order.ended(kind(start=start), oracle, most=300)
    values = np.array([point.value for point in way])
    assert np.all(np.diff(values) >= -1e-13 * values[1:])
    assert max(drift(point.Q) for point in way) < 1e-13


@kinds
def test_a_tensor_of_exact_rank_is_recovered(second_order, kind):
    for order in [2, 3, 4, 5]:
        rng = np.random.default_rng(order)
        X = (rng.exponential(size=(200, 2)) - 1) @ np.linalg.qr(rng.standard_normal((6, 2)))[0].T
        oracle = second_order.moment(order, r=2, X=X)
        state, _ = second_order.ended(kind(start="random", form="explicit"), oracle)
        assert second_order.objective(state.point) == pytest.approx(
            np.sum(oracle.T**2), rel=1e-12
        ), order


@kinds
def test_an_objective_of_zero_at_the_start_fails(second_order, kind):
    T = np.zeros((3, 3, 3))
    for i, j, k in permutations(range(3)):
        T[i, j, k] = 1.0
    oracle = second_order.tensor(T, 1)
    oracle.start = np.eye(3)[:, :1]
    state = second_order.begun(kind(start="random"), oracle)
    assert state.status is Status.FAILED
    assert "the objective vanishes at the first basis" in state.reason
    assert np.isfinite(state.point.Q).all()


@starts
@kinds
def test_an_objective_of_rounding_alone_fails(second_order, kind, start):
    """The third moment of symmetric data vanishes."""
    half = np.random.default_rng(0).standard_normal((60, 10))
    oracle = second_order.moment(order=3, r=3, X=np.vstack([half, -half]))
    state, _ = second_order.ended(kind(start=start, form="implicit"), oracle)
    assert state.status is Status.FAILED
    assert "symmetric about zero" in state.reason


@kinds
def test_it_ends_where_the_gradient_is_rounding(second_order, kind):
    """All but a millionth of the samples cancels: six digits of the gradient are lost."""
    half = second_order.factors(n=12, r=3)
    X = np.vstack([half, -half + 1e-6 * np.roll(half, 1, axis=0)])
    state, _ = second_order.ended(kind(), second_order.moment(order=3, r=3, X=X))
    assert state.status is Status.CONVERGED
    assert 1e-12 < state.point.relative_gradient < 1e-7
