"""oja and grassmannian-sgd against their plain definitions."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca._kernels.iterates import Angle
from orthobench_stochastic_pca._kernels.rotations import rotate_blocks
from orthobench_stochastic_pca.reference import METHODS
from orthobench_stochastic_pca.solvers.rotating import (
    CLEANED,
    DEPENDENT,
    GrassmannianSGD,
    Oja,
    rotated_elsewhere,
)

from orthobench.contract.samples import SampleOracle
from orthobench.tools.geometry import drift, random_point, subspace_error

SOLVERS = [Oja, GrassmannianSGD]


def oracle_of(X, k, seed=0):
    oracle = SampleOracle(ArraySource(X), k)
    oracle.start = random_point(X.shape[1], k, np.random.default_rng(seed))
    oracle.start.flags.writeable = False
    oracle.prepare(len(X))
    return oracle


def started(solver, X, k):
    oracle = oracle_of(X, k)
    return oracle, solver.init(oracle, np.random.default_rng(0))


def reached(solver, X, k, chunks=()):
    oracle, state = started(solver, X, k)
    for chunk in [*chunks, len(X) - sum(chunks)]:
        solver.advance(oracle, state, chunk)
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
@given(data=st.data())
def test_bits_do_not_depend_on_chunks(cls, data):
    n = 100
    sample = data.draw(st.sampled_from([gaussian, unit_vectors, duplicated]))
    X = sample(np.random.default_rng(3), n, data.draw(st.sampled_from([10, 70])))
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    chunks = np.diff([0, *cuts]).tolist()
    solver = cls(step_size=1.0)
    whole, parts = reached(solver, X, 4), reached(solver, X, 4, chunks)
    assert solver.solution(whole).point.tobytes() == solver.solution(parts).point.tobytes()
    assert whole.work == parts.work


@pytest.mark.parametrize("cls", SOLVERS)
def test_resumes_from_a_pickle_inside_a_block(cls):
    X = gaussian(np.random.default_rng(4), 60, 15)
    solver = cls(step_size=1.0)
    oracle, state = started(solver, X, 3)
    solver.advance(oracle, state, 27)
    solver.advance(oracle, state, 1)
    state = pickle.loads(pickle.dumps(state))  # noqa: S301
    solver.advance(oracle, state, 32)
    expected = solver.solution(reached(solver, X, 3)).point
    assert solver.solution(state).point.tobytes() == expected.tobytes()


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


@pytest.mark.parametrize("cls", SOLVERS)
def test_any_scale_of_samples_and_steps_stays_orthonormal(cls):
    for scale in (1e-140, 1e-70, 1.0, 1e70, 1e145):
        X = scale * gaussian(np.random.default_rng(6), 60, 15)
        for step in (1e-100, 1e-3, 1e6, 1e100):
            solver = cls(step_size=step, relative=False)
            point = solver.solution(reached(solver, X, 3)).point
            if cls is GrassmannianSGD and step * scale**2 > 1e300:  # no angle: the run must see it
                assert not np.isfinite(point).any(), (scale, step)
            else:
                assert drift(point) <= 1e-13, (scale, step)


@pytest.mark.parametrize("cls", SOLVERS)
def test_long_steps_along_short_residuals_stay_orthonormal(cls):
    X = gaussian(np.random.default_rng(11), 60, 15)
    start = oracle_of(X, 3).start
    X = X @ start @ start.T + 1e-7 * X
    solver = cls(step_size=1e7, schedule="constant")
    assert drift(solver.solution(reached(solver, X, 3)).point) <= 1e-13


@pytest.mark.parametrize("cls", SOLVERS)
def test_all_dimensions_are_a_fixed_point(cls):
    X = gaussian(np.random.default_rng(7), 50, 5)
    solver = cls(step_size=1.0)
    np.testing.assert_allclose(
        solver.solution(reached(solver, X, 5)).point, oracle_of(X, 5).start, atol=1e-13
    )


def drift_after(cls, updates, sample, d=20, k=4):
    rng = np.random.default_rng(8)
    X = sample(rng, 1000, d)
    solver = cls(step_size=0.5, schedule="constant")
    oracle, state = started(solver, np.tile(X, (10, 1)), k)
    for _ in range(updates // 10_000):
        oracle.rewind(rng)
        oracle.prepare(10_000)
        solver.advance(oracle, state, 10_000)
    return drift(solver.solution(state).point)


@pytest.mark.parametrize("sample", [gaussian, unit_vectors, low_rank])
@pytest.mark.parametrize("cls", SOLVERS)
def test_drift_stays_at_rounding(cls, sample):
    assert drift_after(cls, 10_000, sample) <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("sample", [gaussian, unit_vectors, low_rank])
@pytest.mark.parametrize("cls", SOLVERS)
def test_drift_stays_at_rounding_for_a_million_updates(cls, sample):
    assert drift_after(cls, 1_000_000, sample) <= 1e-12


@pytest.mark.parametrize("cls", SOLVERS)
def test_converges_to_the_leading_subspace(cls):
    d, k = 40, 3
    rng = np.random.default_rng(9)
    spikes = random_point(d, k, rng)
    X = rng.standard_normal((30_000, k)) @ spikes.T + 0.1 * rng.standard_normal((30_000, d))
    solver = cls(step_size=1.0, schedule="1/t", relative=False)
    assert subspace_error(spikes, oracle_of(X, k).start) > 1.0
    assert subspace_error(spikes, solver.solution(reached(solver, X, k)).point) < 0.02


@pytest.mark.parametrize("kind", Angle)
def test_arrays_of_other_libraries_are_rotated_as_those_of_numpy(kind):
    """Samples in the span, orthogonal to it and of zeros among them."""
    rng = np.random.default_rng(10)
    U = np.ascontiguousarray(random_point(6, 2, rng).T)
    X = rng.standard_normal((6, 6))
    X[1], X[2], X[3] = U[0] + U[1], X[2] - (U @ X[2]) @ U, 0.0
    etas = np.array([0.3, 1.0, 1.0, 1.0, 0.1, 2.0])
    found = rotated_elsewhere(U, X, etas, 0, kind)
    np.testing.assert_allclose(found, rotate_blocks(U, 0.0, X, etas, kind)[0], atol=1e-13)
    assert drift(found.T) < 1e-14


@pytest.mark.parametrize(("share", "moves"), [(0.1, False), (10.0, True)])
def test_there_a_residual_of_rounding_changes_nothing(share, moves):
    basis, x = np.eye(2, 6), np.zeros((1, 6))
    x[0, 0], x[0, 4] = 1.0, share * DEPENDENT * 2.0**-52
    found = rotated_elsewhere(basis, x, np.ones(1), 0, Angle.GEODESIC)
    assert np.array_equal(found, basis) is not moves


@pytest.mark.parametrize(("first", "cleaned"), [(CLEANED - 2, False), (CLEANED - 1, True)])
def test_there_a_basis_is_orthonormalized_after_so_many_samples(first, cleaned):
    found = rotated_elsewhere(np.eye(2, 6) * 1.01, np.zeros((1, 6)), np.ones(1), first, Angle.OJA)
    assert (drift(found.T) < 1e-14) is cleaned
