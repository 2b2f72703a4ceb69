"""The Khatri-Rao sketch against mat(M) times a Khatri-Rao product, and as a start."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.geometry import subspace_error
from orthobench_tucker import MomentOracle
from orthobench_tucker.sample_moments import moment_tensor
from orthobench_tucker.solvers.hoevd import HOEVD
from orthobench_tucker.solvers.khatri_rao_sketch import (
    KhatriRaoSketch,
    power_step,
    sketch_of,
    sketched_basis,
)

from orthobench.contract.solver import Status
from orthobench.tools.geometry import drift, random_point


def oracle_of(X, order, rank):
    oracle = MomentOracle(X, order, rank)
    oracle.start = random_point(X.shape[1], rank, np.random.default_rng(1))
    return oracle


def sketched(solver, oracle, seed=0):
    state = solver.init(oracle, np.random.default_rng(seed))
    oracle.rewind(np.random.default_rng(0))
    steps = -(-int(oracle.remaining()) // solver.batch)
    oracle.prepare(steps * solver.batch)
    solver.advance(oracle, state, steps)
    return state


def within(n, p, rank, seed=0):
    """Samples in a subspace, and its basis."""
    rng = np.random.default_rng([seed, n])
    basis = random_point(n, rank, rng)
    return (rng.exponential(size=(p, rank)) - 1) @ basis.T, basis


@pytest.mark.parametrize("order", [2, 3, 4])
def test_it_is_the_unfolding_times_a_khatri_rao_product(tucker, order):
    X = tucker.samples(6, 80, 2)
    factors = np.random.default_rng(0).standard_normal((order - 1, 6, 5))
    product = factors[0]
    for vectors in factors[1:]:
        product = np.einsum("aj,bj->abj", product, vectors).reshape(-1, 5)
    expected = moment_tensor(X, order).reshape(6, -1) @ product
    np.testing.assert_allclose(sketch_of(X, factors) / 80, expected, atol=1e-12)
    state = sketched(KhatriRaoSketch(oversampling=3, batch=8), oracle_of(X, order, 2))
    np.testing.assert_allclose(state.sums, sketch_of(X, factors), atol=1e-11)


@pytest.mark.parametrize("order", [2, 3, 4, 5])
@given(n=st.integers(4, 12), rank=st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
def test_samples_in_a_subspace_give_it_exactly(order, n, rank, seed):
    X, basis = within(n, 60, rank, seed)
    oracle = oracle_of(X, order, rank)
    solver = KhatriRaoSketch(batch=10)
    Q = solver.solution(sketched(solver, oracle, seed)).point
    assert subspace_error(Q, basis) < 1e-7
    assert drift(Q) < 1e-12
    assert subspace_error(sketched_basis(X, order, rank, np.random.default_rng(seed)), basis) < 1e-7


@pytest.mark.parametrize("order", [3, 4])
def test_a_power_step_is_one_with_the_gram_matrix_of_the_unfolding(tucker, order):
    X, Q = tucker.samples(6, 50, 2), random_point(6, 3, np.random.default_rng(0))
    unfolding = moment_tensor(X, order).reshape(6, -1)
    np.testing.assert_allclose(power_step(X, Q, order), unfolding @ (unfolding.T @ Q), rtol=1e-9)


def test_power_steps_lead_to_hoevd(tucker):
    oracle = oracle_of(tucker.samples(40, 90, 3, noise=1.0), 3, 3)
    hoevd = tucker.of_samples(oracle.X, 3, 3)
    state = tucker.ended(HOEVD(), hoevd)
    errors = []
    for power in (0, 1, 3, 30):
        solver = KhatriRaoSketch(power=power, batch=20)  # the last batch has 10 samples
        ended = sketched(solver, oracle)
        assert (ended.status is Status.COMPLETE) == (power > 0)
        errors.append(subspace_error(solver.solution(ended).point, state.basis))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-6


def test_samples_that_overflow_fail_the_run():
    oracle = oracle_of(np.full((40, 5), 1e150), 4, 2)
    with np.errstate(all="ignore"):
        state = sketched(KhatriRaoSketch(batch=10), oracle)
    assert state.status is Status.FAILED
    assert "rescale" in state.reason
