"""grassmannian-sgd and petrels on samples with missing entries, at rest and moving."""

import numpy as np
import pytest
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca import EntryOracle
from orthobench_stochastic_pca.problems.missing_entries import MissingEntries
from orthobench_stochastic_pca.solvers.petrels import PETRELS
from orthobench_stochastic_pca.solvers.rotating import GrassmannianSGD

from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import Status
from orthobench.tools.geometry import drift, random_point


def opened(rows, k, kind=EntryOracle):
    oracle = kind(ArraySource(rows), k)
    oracle.start = random_point(rows.shape[1], k, np.random.default_rng(0))
    oracle.prepare(len(rows))
    return oracle


def entries(count, d, share, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, d)) * (rng.random((count, d)) < share) / np.sqrt(d)


def plain_grouse(U, x, eta):
    """Algorithm 1 of Balzano, Nowak and Recht (2010)."""
    seen = np.flatnonzero(x)
    w = np.linalg.pinv(U[seen]) @ x[seen]
    p, r = U @ w, np.zeros(len(x))
    r[seen] = x[seen] - U[seen] @ w
    if np.linalg.norm(r) <= 1e-10 * np.linalg.norm(x):
        return U
    angle = np.linalg.norm(r) * np.linalg.norm(p) * eta
    along = (np.cos(angle) - 1) * p / np.linalg.norm(p)
    return U + np.outer(along + np.sin(angle) * r / np.linalg.norm(r), w / np.linalg.norm(w))


def test_grassmannian_sgd_is_the_published_algorithm():
    for share in (0.2, 0.6, 1.0):
        rows = entries(50, 12, share)
        solver = GrassmannianSGD(relative=False, step_size=2.0, schedule="1/t")
        oracle = opened(rows, 3)
        state = solver.init(oracle, np.random.default_rng(0))
        solver.advance(oracle, state, 50)
        U = oracle.start
        for t, x in enumerate(rows, 1):
            U = plain_grouse(U, x, 2.0 / t)
        np.testing.assert_allclose(solver.solution(state).point, U, atol=1e-10)


def test_fewer_observed_entries_than_columns_change_nothing():
    rows = entries(1, 7, 1.0)
    rows[0, 2:] = 0.0
    oracle, solver = opened(rows, 2), GrassmannianSGD(relative=False)
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, 1)
    np.testing.assert_allclose(solver.solution(state).point, oracle.start, atol=1e-12)


def test_complete_entries_give_the_method_for_whole_samples():
    rows, found = entries(200, 10, 1.0), []
    for kind in (EntryOracle, SampleOracle):
        oracle, solver = opened(rows, 3, kind), GrassmannianSGD(relative=False)
        state = solver.init(oracle, np.random.default_rng(0))
        solver.advance(oracle, state, 200)
        found.append(solver.solution(state).point)
    np.testing.assert_allclose(*found, atol=1e-10)


@pytest.mark.parametrize("forgetting", [0.9, 1.0])
def test_petrels_rows_are_discounted_least_squares_fits(forgetting):
    rows, k, trust = entries(40, 8, 0.6), 2, 5.0
    solver = PETRELS(relative=False, forgetting=forgetting, trust=trust)
    oracle = opened(rows, k)
    state = solver.init(oracle, np.random.default_rng(0))
    coefficients = []
    for x in rows:
        seen = np.flatnonzero(x)
        coefficients.append(np.linalg.pinv(state.D[seen]) @ x[seen])
        solver.advance(oracle, state, 1)
    A, ages = np.array(coefficients), np.arange(len(rows))[::-1]
    for m in range(8):
        seen = np.flatnonzero(rows[:, m])
        weights = forgetting ** ages[seen].astype(float)
        prior = forgetting ** len(rows) / trust
        R = (A[seen].T * weights) @ A[seen] + prior * np.eye(k)
        b = (A[seen].T * weights) @ rows[seen, m] + prior * oracle.start[m]
        np.testing.assert_allclose(state.D[m], np.linalg.solve(R, b), atol=1e-9)
        np.testing.assert_allclose(state.inverses[m], np.linalg.inv(R), rtol=1e-7)


def test_petrels_counts_inverses_of_all_rows_and_fits_of_seen_ones():
    rows, k = entries(3, 8, 0.6), 2
    oracle, solver = opened(rows, k), PETRELS()
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, len(rows))
    seen = np.count_nonzero(rows)
    assert state.work.flops == len(rows) * 8 * k**2 + seen * (7 * k**2 + 11 * k)


SOLVERS = {
    "grassmannian-sgd": GrassmannianSGD(relative=False, schedule="constant", step_size=1.0),
    "petrels": PETRELS(relative=False, forgetting=0.95),
}


def tracked(solver, problem, samples, seed=0):
    instance = problem.build(np.random.default_rng(seed))
    oracle = instance.oracle
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(1))
    oracle.rewind(np.random.default_rng(2))
    state = solver.init(oracle, np.random.default_rng(3))
    oracle.prepare(samples)
    solver.advance(oracle, state, samples)
    return instance, state


@pytest.mark.parametrize("name", SOLVERS)
def test_noiseless_subspace_is_recovered_from_a_third_of_entries(name):
    problem, solver = MissingEntries(n=40, k=2, observed=0.35, noise=0.0), SOLVERS[name]
    instance, state = tracked(solver, problem, 2000)
    point = solver.solution(state).point
    assert instance.measure(solver.solution(state))["subspace_error"] < 1e-10
    assert drift(point) < 1e-12


@pytest.mark.parametrize("name", SOLVERS)
def test_a_moving_subspace_is_followed(name):
    problem, solver = MissingEntries(n=40, k=2, observed=0.5, drift=2.0), SOLVERS[name]
    instance, state = tracked(solver, problem, 2000)
    solution = solver.solution(state)
    assert instance.measure_after(solution, 2000)["subspace_error"] < 0.15
    assert instance.measure(solution)["subspace_error"] > 0.5  # where it was at first


def test_petrels_stays_accurate_after_many_discounts():
    """0.9^1000 is 1e-46: rounding that is not symmetric would grow by its inverse."""
    problem = MissingEntries(n=20, k=2, observed=0.7, noise=0.01)
    solver = PETRELS(relative=False, forgetting=0.9)
    instance, state = tracked(solver, problem, 1000)
    assert np.array_equal(state.inverses, state.inverses.transpose(0, 2, 1))
    assert instance.measure(solver.solution(state))["subspace_error"] < 0.05


def test_a_factor_that_overflows_ends_the_run():
    """While a row is not seen, its inverse grows by 1 / forgetting with each sample."""
    rows = entries(200, 6, 1.0)
    rows[:180, 0] = 0.0
    solver, oracle = PETRELS(relative=False, forgetting=0.01), opened(rows, 2)
    state = solver.init(oracle, np.random.default_rng(0))
    with np.errstate(all="ignore"):
        solver.advance(oracle, state, 200)
    assert state.status is Status.FAILED
    assert "the factor overflows: raise `forgetting`" in state.reason
