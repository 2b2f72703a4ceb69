"""oja and grassmannian-sgd against their plain definitions."""

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca.reference import METHODS
from orthobench_stochastic_pca.solvers.rotating import GrassmannianSGD, Oja

from orthobench.contract.samples import SampleOracle
from orthobench.tools.geometry import drift, random_point

SOLVERS = [Oja, GrassmannianSGD]


def oracle_of(X, k, seed=0):
    oracle = SampleOracle(ArraySource(X), k)
    oracle.start = random_point(X.shape[1], k, np.random.default_rng(seed))
    oracle.start.flags.writeable = False
    oracle.prepare(len(X))
    return oracle


def reached(solver, X, k):
    oracle = oracle_of(X, k)
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, len(X))
    return state


def gaussian(rng, n, d):
    return rng.standard_normal((n, d)) * np.linspace(1.5, 0.2, d) / np.sqrt(d)


def unit_vectors(rng, n, d):
    return np.eye(d)[rng.integers(0, d, n)]


def duplicated(rng, n, d):
    X = np.repeat(gaussian(rng, n // 2, d), 2, axis=0)
    X[::7] = 0.0
    return X


def low_rank(rng, n, d):
    return rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) / d


@pytest.mark.parametrize("sample", [gaussian, unit_vectors, duplicated, low_rank])
@pytest.mark.parametrize("cls", SOLVERS)
def test_follows_the_plain_method(cls, sample):
    for d, k in ((20, 1), (30, 4), (300, 8)):
        X = sample(np.random.default_rng(1), 400, d)
        solver = cls(step_size=2.0, relative=False)
        U = oracle_of(X, k).start
        for t, x in enumerate(X, 1):
            U = METHODS[cls.name].step(U, x, 2.0 / np.sqrt(t))
        point = solver.solution(reached(solver, X, k)).point
        assert subspace_error(U, point) <= 1e-10, (d, k)
        if cls is GrassmannianSGD:
            np.testing.assert_allclose(point, U, rtol=0, atol=1e-10)


def test_oja_returns_the_polar_factor():
    X = gaussian(np.random.default_rng(2), 50, 12)
    solver = Oja(relative=False, step_size=3.0, schedule="constant")
    U = oracle_of(X, 3).start
    for x in X:
        left, _, right = np.linalg.svd(U + 3.0 * np.outer(x, x @ U), full_matrices=False)
        U = left @ right
    np.testing.assert_allclose(solver.solution(reached(solver, X, 3)).point, U, atol=1e-12)


@pytest.mark.parametrize("cls", SOLVERS)
def test_samples_that_say_nothing_change_nothing(cls):
    rng = np.random.default_rng(5)
    X = np.zeros((60, 15))
    X[20:40] = 1e-200 * rng.standard_normal((20, 15))
    X[40:] = rng.standard_normal((20, 3)) @ oracle_of(X, 3).start.T
    solver = cls(step_size=1.0, relative=False)
    start = oracle_of(X, 3).start
    assert (solver.solution(reached(solver, X[:20], 3)).point == start).all()
    np.testing.assert_allclose(solver.solution(reached(solver, X, 3)).point, start, atol=1e-14)


@pytest.mark.parametrize("sample", [gaussian, unit_vectors, low_rank])
@pytest.mark.parametrize("cls", SOLVERS)
def test_drift_stays_at_rounding(cls, sample):
    X = sample(np.random.default_rng(8), 1000, 20)
    solver = cls(step_size=0.5, schedule="constant")
    state = reached(solver, np.tile(X, (10, 1)), 4)
    assert drift(solver.solution(state).point) <= 1e-12


@pytest.mark.parametrize("cls", SOLVERS)
def test_converges_to_the_leading_subspace(cls):
    d, k = 40, 3
    rng = np.random.default_rng(9)
    spikes = random_point(d, k, rng)
    X = rng.standard_normal((30_000, k)) @ spikes.T + 0.1 * rng.standard_normal((30_000, d))
    solver = cls(step_size=1.0, schedule="1/t", relative=False)
    assert subspace_error(spikes, oracle_of(X, k).start) > 1.0
    assert subspace_error(spikes, solver.solution(reached(solver, X, k)).point) < 0.02
