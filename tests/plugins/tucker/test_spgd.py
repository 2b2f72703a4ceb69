"""spgd against finite differences, and against Algorithms 2 and 3 written down literally."""

from itertools import product

import numpy as np
import pytest
from cases import case
from orthobench_kit.geometry import subspace_error
from orthobench_tucker._kernels import ascent as ascent_kernels
from orthobench_tucker.reference import (
    ascent,
    gradient,
    hoevd_gradient,
    moment,
    objective,
    tucker_gradient,
)
from orthobench_tucker.solvers.spgd import GRAM_FORM, SPGD, monomial_table

from orthobench.tools import flops
from orthobench.tools.geometry import random_point

ORDERS = [2, 3, 4, 5, 6]


def by_kernel(X, Q, d, table):
    b, (n, r) = X.shape[1], Q.shape
    powers, G = np.empty((max(r, len(table[0])), b)), np.empty((r, n))
    rows, samples = np.ascontiguousarray(Q.T), np.ascontiguousarray(X.T)
    assert ascent_kernels.tucker_gradient(samples, rows, d, *table, powers, G)
    return G.T


def test_the_gradient_of_a_batch_is_that_of_equation_12():
    for d in ORDERS:
        rng = np.random.default_rng(d)
        X, Q = rng.exponential(size=(5, 7)) - 1, random_point(5, 2, rng)
        T, expected, h = moment(X.T, d), np.empty_like(Q), 1e-5
        for at in np.ndindex(Q.shape):
            change = np.zeros_like(Q)
            change[at] = h
            expected[at] = (objective(T, Q + change) - objective(T, Q - change)) / (2 * h)
        for table, length in ((GRAM_FORM, 0), (monomial_table(2, d, 7), d)):
            with case(d, length):
                assert len(table[2]) == length
                found = by_kernel(X, Q, d, table)
                np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_both_forms_are_line_3_of_algorithm_2():
    for d, (b, r, n) in product(ORDERS, [(1, 3, 9), (13, 4, 9), (300, 6, 400), (40, 1, 5)]):
        rng = np.random.default_rng([d, b])
        X, Q = rng.exponential(size=(n, b)) - 1, random_point(n, r, rng)
        expected = tucker_gradient(X.T, Q, d)
        size = np.abs(expected).max()
        for table in (GRAM_FORM, monomial_table(r, d, 10**6)):
            with case(d, b, r, n):
                found = by_kernel(X, Q, d, table)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * size)


def test_phase_one_then_phase_two_is_algorithm_3_then_algorithm_2(streaming):
    for d, c in product(ORDERS, [0.1, 1.0, 1000.0]):
        rows, _ = streaming.factor_model(12, 3, 8 * 20, noise=1.0)
        solver = SPGD(step_size=c, batch=20, hoevd_steps=3, hoevd_step=0.5)
        oracle = streaming.stream(rows, d, 3)
        state = streaming.run(solver, oracle, 8)
        Q = ascent(hoevd_gradient, oracle.start, rows[:60], d, 20, 0.5)
        Q = ascent(tucker_gradient, Q, rows[60:], d, 20, c)
        streaming.same_columns(solver.solution(state).point, Q, f"{d}, {c}")


def test_flops_are_those_of_both_phases(streaming):
    rows, _ = streaming.factor_model(9, 2, 100)
    state = streaming.run(SPGD(batch=10, hoevd_steps=2), streaming.stream(rows, 4, 2), 5)
    n, r, b, d = 9, 2, 10, 4
    step = 4 * n * r + flops.qr(n, r)
    hoevd = 2 * b * b * n + (d - 2) * b * b + 2 * r * b * b + 4 * r * n * b + step
    tucker = 4 * r * n * b + 4 * r * b * b + (d - 2) * b * b + step
    assert state.work.flops == 2 * hoevd + 3 * tucker


def test_phase_one_takes_batches_of_its_own_size(streaming):
    rows, _ = streaming.factor_model(9, 2, 4 * 5 + 3 * 20)
    oracle = streaming.stream(rows, 3, 2)
    state = streaming.run(SPGD(batch=20, hoevd_steps=4, hoevd_batch=5), oracle, 7)
    Q = ascent(hoevd_gradient, oracle.start, rows[:20], 3, 5, 1.0)
    streaming.same_columns(state.rows.T, ascent(tucker_gradient, Q, rows[20:], 3, 20, 1.0))


@pytest.mark.parametrize("d", [3, 4])
def test_on_full_batches_it_is_column_wise_adagrad_on_the_objective(streaming, d):
    """Algorithm 2 is Algorithm 1 if both take the same steps."""
    data, _ = streaming.factor_model(15, 3, 60)
    rows = np.tile(data, (10, 1))
    oracle = streaming.stream(rows, d, 3)
    state = streaming.run(SPGD(batch=60, hoevd_steps=0), oracle, 10)
    T = moment(data, d)
    Q = ascent(lambda X, Q, d: gradient(T, Q), oracle.start, rows, d, 60, 1.0)
    streaming.same_columns(state.rows.T, Q)


@pytest.mark.parametrize("d", [3, 4])
def test_it_recovers_the_basis_of_a_skewed_factor_model(streaming, d):
    rows, basis = streaming.factor_model(60, 4, 50 * 220)
    solver, oracle = SPGD(), streaming.stream(rows, d, 4)
    state = streaming.run(solver, oracle, 20)
    after_phase_one = subspace_error(solver.solution(state).point, basis)
    solver.advance(oracle, state, 200)
    error = subspace_error(solver.solution(state).point, basis)
    assert error < 0.03
    assert error < after_phase_one
