"""ada-oja, history-pca, ccipca and vr-pca: fixed points, invariances and convergence."""

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca.solvers.ada_oja import AdaOja
from orthobench_stochastic_pca.solvers.ccipca import CCIPCA
from orthobench_stochastic_pca.solvers.history_pca import HistoryPCA
from orthobench_stochastic_pca.solvers.vr_pca import VRPCA

import orthobench as ob
from orthobench.contract.samples import SampleOracle
from orthobench.tools.geometry import random_point

D, K, N = 20, 3, 400


def cosines(n, values):
    """Return n rows whose second moment is exactly diag(values), up to rounding."""
    t, j = np.arange(n)[:, None], np.arange(1, len(values) + 1)
    return np.sqrt(2 * np.asarray(values)) * np.cos(2 * np.pi * j * t / n + 0.3 * j)


SPECTRUM = np.r_[4.0, 3.0, 2.0, np.full(D - K, 0.5)]
STREAM = cosines(N, SPECTRUM)[np.random.default_rng(0).permutation(N)]


def reached(solver, X=STREAM, start=None, passes=1, k=K):
    oracle = SampleOracle(ArraySource(X, passes=passes), k)
    oracle.start = random_point(X.shape[1], k, np.random.default_rng(1)) if start is None else start
    state = solver.init(oracle, np.random.default_rng(2))
    for _ in range(passes * len(X) // max(1, solver.batch)):
        oracle.prepare(solver.batch)
        solver.advance(oracle, state, 1)
    return state


def lost(solver, **options):
    """Return the share of the attainable variance that is missed."""
    U = solver.solution(reached(solver, **options)).point
    return 1 - np.einsum("ij,i,ij->", U, SPECTRUM, U) / SPECTRUM[:K].sum()


@pytest.mark.parametrize("solver", [AdaOja(batch=N), HistoryPCA(batch=N)], ids=lambda s: s.name)
def test_eigenvectors_are_a_fixed_point_of_one_whole_block(solver):
    start = np.eye(D)[:, :K]
    point = solver.solution(reached(solver, start=start)).point
    np.testing.assert_allclose(point, start, atol=1e-13)


@pytest.mark.parametrize("solver", [HistoryPCA(), CCIPCA(relative=False)], ids=lambda s: s.name)
def test_method_without_steps_finds_most_variance_in_one_pass(solver):
    assert lost(solver) < 5e-3


def test_lengths_of_directions_are_eigenvalues_whatever_their_unit():
    for unit in (1, 8):
        lengths = np.linalg.norm(reached(CCIPCA(relative=False), X=unit * STREAM).V, axis=1)
        np.testing.assert_allclose(np.sort(lengths)[::-1], unit**2 * SPECTRUM[:K], rtol=0.15)


def test_repeated_and_empty_samples_give_finite_directions():
    X = np.zeros((6, 5))
    X[1:4] = np.arange(5.0)
    point = CCIPCA(relative=False).solution(reached(CCIPCA(relative=False), X=X)).point
    assert np.abs(point.T @ point - np.eye(K)).max() < 1e-12
    assert abs(point[:, 0] @ X[1]) == pytest.approx(np.linalg.norm(X[1]))


def gaps(epochs):
    """Return the error of vr-pca after each number of epochs of two passes."""
    return [subspace_error(np.eye(D)[:, :K], reached(VRPCA(), passes=1 + 2 * e).W) for e in epochs]


def test_variance_reduction_converges_linearly_to_the_exact_subspace():
    errors = gaps([1, 3, 5, 7])
    ratios = np.divide(errors[1:], errors[:-1])
    assert max(ratios) < 0.1
    assert gaps([18])[0] < 1e-10


def test_epoch_takes_each_sample_twice_after_a_power_iteration():
    instance = ob.stochastic_pca(STREAM, k=K, passes=3)
    outcome = ob.solve("vr-pca", instance, batch=8)
    assert outcome.work.samples == 3 * N
    start = random_point(D, K, np.random.default_rng(1))
    one = reached(VRPCA(batch=50), start=start).W
    assert subspace_error(np.linalg.qr(SPECTRUM[:, None] * start)[0], one) < 1e-12
