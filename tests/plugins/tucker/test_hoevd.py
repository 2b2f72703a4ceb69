"""HOEVD: both forms, every way of computing the unfolding's Gram matrix, and the bound."""

from itertools import product

import numpy as np
import pytest
from cases import case
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.geometry import subspace_error
from orthobench_tucker._kernels.unfoldings import (
    OVERSAMPLED,
    _first_vectors,
    gram_of_entries,
    gram_of_samples,
    gram_of_tensor,
    leading_eigenpairs,
)
from orthobench_tucker.reference import hoevd
from orthobench_tucker.sample_moments import moment_tensor
from orthobench_tucker.solvers.hoevd import HOEVD
from orthobench_tucker.solvers.pgd import PGD
from orthobench_tucker.whole_tensor import shoevd_basis

from orthobench.contract.solver import Status
from orthobench.tools.geometry import drift, random_point


def test_all_ways_give_the_same_gram_matrix(tucker):
    for p, order in product([1, 5, 47, 300], [2, 3, 4, 5]):
        X, _ = tucker.factors(5, p)
        T = moment_tensor(X, order)
        U = T.reshape(5, -1)
        expected = U @ U.T
        size = 1e-12 * np.linalg.norm(X, axis=1).max() ** (2 * order)
        for made in (gram_of_tensor(T), gram_of_samples(X, order), gram_of_entries(X, order)):
            np.testing.assert_allclose(
                made, expected, rtol=1e-10, atol=size, err_msg=f"{p}, {order}"
            )


def test_one_step_gives_the_leading_singular_vectors_of_the_unfolding(tucker):
    sizes = [(12, 60, 3), (6, 400, 4), (6, 50, 5), (9, 30, 2)]
    for (n, p, order), form in product(sizes, ["implicit", "explicit"]):
        with case(n, p, order, form):
            X, _ = tucker.factors(n, p)
            made, solver = tucker.of_samples(X, order, 3), HOEVD(form=form)
            state = tucker.begun(solver, made)
            np.testing.assert_array_equal(solver.solution(state).point, made.oracle.start)
            solver.advance(made.oracle, state, 10)
            assert (state.status, state.work.steps) == (Status.COMPLETE, 1)
            Q = solver.solution(state).point
            assert subspace_error(Q, hoevd(moment_tensor(X, order), 3)) < 1e-9
            assert drift(Q) < 1e-12


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_within_the_root_of_d_of_the_best(tucker, order, seed):
    n, r = 5, 2
    T = tucker.symmetric(n, order, seed)
    made = tucker.of_tensor(T, r)
    error = made.measure(HOEVD().solution(tucker.ended(HOEVD(), made)))["relative_error"]
    best = error
    for restart in range(20):
        made.oracle.start = random_point(n, r, np.random.default_rng(restart))
        state = tucker.ended(PGD(start="random", rule="constant", step_size=1.0), made, 300)
        best = min(best, 1 - state.objective / np.vdot(T, T))
    assert error <= order * best * (1 + 1e-12)


@pytest.mark.parametrize("p", [1, 2, 4])
@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.filterwarnings("ignore:rank = .* is above the rank")
def test_fewer_samples_than_columns(tucker, p, form):
    X, _ = tucker.factors(8, p)
    made = tucker.of_samples(X, 3, 5)
    Q = tucker.ended(HOEVD(form=form), made).basis
    assert drift(Q) < 1e-12
    assert subspace_error(Q, np.linalg.qr(X.T)[0]) < 1e-7
    rest = Q[:, p:]
    span = np.hstack([X.T, made.oracle.start])
    assert subspace_error(np.linalg.qr(span)[0], rest) < 1e-10


@given(st.integers(2, 40), st.integers(0, 2**31), st.floats(0, 3), st.booleans())
def test_leading_eigenvectors_of_any_spectrum(n, seed, decay, gap):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, n + 1))
    values = np.sort(rng.uniform(size=n))[::-1] * np.exp(-decay * np.arange(n))
    if gap:
        values[count:] *= 1e-3
    V = random_point(n, n, rng)
    A = (V * values) @ V.T
    A = (A + A.T) / 2
    theta, found = leading_eigenpairs(A, count)
    np.testing.assert_allclose(theta, values[:count], atol=1e-14 * values[0])
    np.testing.assert_allclose(A @ found, found * theta, atol=1e-13 * values[0])
    assert drift(found) < 1e-12


def test_an_eigenvector_that_the_iteration_cannot_see_is_not_missed():
    n, count = 40, 2
    blind = _first_vectors(count + OVERSAMPLED, n)
    hidden = np.linalg.svd(blind)[2][-1]
    others = np.random.default_rng(0).standard_normal((n, n - 1))
    V = np.linalg.qr(np.column_stack([hidden, others]))[0]
    values = np.r_[1.0, 0.99, 0.98, np.full(n - 3, 1e-4)]
    theta, _ = leading_eigenpairs((V * values) @ V.T, count)
    np.testing.assert_allclose(theta, [1.0, 0.99], rtol=1e-12)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_the_start_in_single_precision_is_hoevd_to_single_precision(tucker, order):
    X, _ = tucker.factors(30, 100)
    made = tucker.of_samples(X, order, 3)
    exact = tucker.ended(HOEVD(), made).basis
    single = PGD(start="hoevd-single").first_basis(made.oracle, None)  # it draws nothing
    # of order 2 distinct entries are the cheapest way, in double precision
    assert (0 if order == 2 else 1e-11) < subspace_error(single, exact) < 1e-5


def test_shoevd_finds_the_factors(tucker):
    X, basis = tucker.factors(20, 3000, noise=0.1)
    start = random_point(20, 3, np.random.default_rng(0))
    Q = shoevd_basis(X, 3, start)
    assert subspace_error(Q, basis) < 0.3 * subspace_error(start, basis)
    assert drift(Q) < 1e-12
    np.testing.assert_allclose(Q, shoevd_basis(X[:1000] * 1e-3, 3, start), atol=1e-9)
