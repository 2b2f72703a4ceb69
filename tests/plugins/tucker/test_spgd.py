"""spgd against finite differences, and against Algorithms 2 and 3 written down literally."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from orthobench_tucker import MomentStream
from orthobench_tucker.solvers.spgd import GRAM_FORM, SPGD, monomial_table, tucker_flops

from orthobench.contract.parameters import ParameterError, make, parameters_of
from orthobench.tools import flops
from orthobench.tools.geometry import random_point, subspace_error

ORDERS = [2, 3, 4, 5, 6]


def dense_moment(X, d):
    """The moment of the columns of X (n, b), with all its entries."""
    total = X
    for _ in range(d - 1):
        total = np.einsum("...b,nb->...nb", total, X)
    return total.mean(axis=-1)


def objective(X, Q, d):
    """Equation 12, through the full tensor of the batch."""
    T = dense_moment(X, d)
    for _ in range(d):
        T = np.tensordot(T, Q, axes=(0, 0))
    return np.sum(T**2)


def gradient(X, Q, d, table):
    from orthobench_tucker._kernels.streaming_kernels import tucker_gradient

    b, (n, r) = X.shape[1], Q.shape
    powers, G = np.empty((max(r, len(table[0])), b)), np.empty((r, n))
    rows, samples = np.ascontiguousarray(Q.T), np.ascontiguousarray(X.T)
    assert tucker_gradient(samples, rows, d, *table, powers, G)
    return G.T


def test_the_gradient_of_a_batch_is_that_of_equation_12():
    for case in product(ORDERS, ["gram", "core"]):
        d, form = case
        rng = np.random.default_rng(d)
        X, Q = rng.exponential(size=(5, 7)) - 1, random_point(5, 2, rng)
        table = GRAM_FORM if form == "gram" else monomial_table(2, d, 7)
        assert len(table[2]) == (0 if form == "gram" else d), case
        expected, h = np.empty_like(Q), 1e-5
        for at in np.ndindex(Q.shape):
            change = np.zeros_like(Q)
            change[at] = h
            expected[at] = (objective(X, Q + change, d) - objective(X, Q - change, d)) / (2 * h)
        np.testing.assert_allclose(
            gradient(X, Q, d, table),
            expected,
            atol=1e-6 * np.abs(expected).max(),
            err_msg=f"{case}",
        )


def test_both_forms_are_line_3_of_algorithm_2(streaming):
    for case in product(ORDERS, [(1, 3, 9), (13, 4, 9), (300, 6, 400), (40, 1, 5)]):
        d, (b, r, n) = case
        rng = np.random.default_rng([d, b])
        X, Q = rng.exponential(size=(n, b)) - 1, random_point(n, r, rng)
        expected = streaming.tucker_gradient(X, Q, d)
        for table in (GRAM_FORM, monomial_table(r, d, 10**6)):
            found = gradient(X, Q, d, table)
            np.testing.assert_allclose(
                found, expected, rtol=0, atol=1e-13 * np.abs(expected).max(), err_msg=f"{case}"
            )


def test_the_smaller_form_is_taken():
    assert len(monomial_table(5, 3, 50)[2]) == 15
    assert len(monomial_table(5, 4, 50)[2]) == 35
    assert len(monomial_table(10, 4, 200)[2]) == 0
    assert len(monomial_table(60, 6, 50)[2]) == 0


def test_phase_one_then_phase_two_is_algorithm_3_then_algorithm_2(streaming):
    for case in product(ORDERS, [0.1, 1.0, 1000.0]):
        d, c = case
        rows, _ = streaming.factor_model(12, 3, 8 * 20, noise=1.0)
        solver = SPGD(step_size=c, batch=20, hoevd_steps=3, hoevd_step=0.5)
        oracle = streaming.stream(rows, d, 3)
        state = streaming.run(solver, oracle, 8)
        parts = streaming.batches(rows, 20)
        Q = streaming.ascent(streaming.hoevd_gradient, oracle.start, parts[:3], d, 0.5)
        Q = streaming.ascent(streaming.tucker_gradient, Q, parts[3:], d, c)
        np.testing.assert_allclose(solver.solution(state).point, Q, atol=1e-11, err_msg=f"{case}")


@pytest.mark.parametrize("d", ORDERS)
def test_phase_one_may_take_fewer_samples_a_step(streaming, d):
    rows, _ = streaming.factor_model(9, 2, 4 * 5 + 3 * 20)
    solver = SPGD(batch=20, hoevd_steps=4, hoevd_batch=5)
    oracle = streaming.stream(rows, d, 2)
    state = streaming.run(solver, oracle, 7)
    Q = streaming.ascent(
        streaming.hoevd_gradient, oracle.start, streaming.batches(rows[:20], 5), d, 1.0
    )
    Q = streaming.ascent(streaming.tucker_gradient, Q, streaming.batches(rows[20:], 20), d, 1.0)
    np.testing.assert_allclose(solver.solution(state).point, Q, atol=1e-11)
    assert (state.work.steps, state.work.samples) == (7, len(rows))


@pytest.mark.parametrize("d", [3, 4])
def test_on_full_batches_it_is_column_wise_adagrad_on_the_objective(streaming, d):
    """D.8 of what is known: Algorithm 2 is Algorithm 1 where that takes the same steps."""
    data, _ = streaming.factor_model(15, 3, 60)
    rows = np.tile(data, (10, 1))
    oracle = streaming.stream(rows, d, 3)
    state = streaming.run(SPGD(batch=60, hoevd_steps=0), oracle, 10)
    T = dense_moment(data.T, d)
    unfolded = T.reshape(15, -1)

    def full(X, Q, d):
        del X
        powers = Q
        for _ in range(d - 2):
            powers = np.kron(powers, Q)
        W = unfolded @ powers
        return 2 * d * W @ (Q.T @ W).T

    Q = streaming.ascent(full, oracle.start, [None] * 10, d, 1.0)
    assert np.linalg.norm(state.rows.T - Q) <= 2e-13


def test_without_phase_one_it_begins_at_the_common_start(streaming):
    rows, _ = streaming.factor_model(8, 2, 20)
    solver, oracle = SPGD(batch=10, hoevd_steps=0), streaming.stream(rows, 3, 2)
    state = streaming.run(solver, oracle)
    np.testing.assert_array_equal(solver.solution(state).point, oracle.start)
    assert (state.work.steps, state.work.samples, state.work.flops) == (0, 0, 0)


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


def test_rotated_samples_and_start_give_the_rotated_solution(streaming):
    rows, _ = streaming.factor_model(20, 3, 50 * 30, noise=1.0)
    rng = np.random.default_rng(5)
    V, start = random_point(20, 20, rng), random_point(20, 3, rng)
    straight = streaming.run(SPGD(hoevd_steps=5), streaming.stream(rows, 4, 3, start), 25)
    turned = streaming.run(SPGD(hoevd_steps=5), streaming.stream(rows @ V.T, 4, 3, V @ start), 25)
    np.testing.assert_allclose(turned.rows.T, V @ straight.rows.T, atol=1e-9)


def test_flops_are_those_of_both_phases(streaming):
    rows, _ = streaming.factor_model(9, 2, 100)
    state = streaming.run(SPGD(batch=10, hoevd_steps=2), streaming.stream(rows, 4, 2), 5)
    n, r, b, d = 9, 2, 10, 4
    step = 4 * n * r + flops.qr(n, r)
    hoevd = 2 * b * b * n + (d - 2) * b * b + 2 * r * b * b + 4 * r * n * b + step
    tucker = 4 * r * n * b + 4 * r * b * b + (d - 2) * b * b + step
    assert state.work.flops == 2 * hoevd + 3 * tucker
    assert tucker_flops(streaming.stream(rows, 4, 2).sizes, 10) == tucker


def test_its_parameters():
    assert [p.name for p in parameters_of(SPGD)] == [
        "step", "batch", "hoevd_steps", "hoevd_step", "hoevd_batch", "on",
    ]  # fmt: skip
    assert SPGD.needs is MomentStream
    with pytest.raises(ParameterError, match="hoevd_batch must be at most batch = 10, not 11"):
        make(SPGD, {"batch": 10, "hoevd_batch": 11}, "solver spgd")
