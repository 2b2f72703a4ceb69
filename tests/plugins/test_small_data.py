"""Data that end within a batch, fewer samples than columns, and spectra of the wrong sign."""

import numpy as np
import pytest
from kinds import one_of
from orthobench_cca import generalized_eigenvectors

import orthobench as ob

RNG = np.random.default_rng(0)
DOMINANT = np.ones(6) / np.sqrt(6)
LAST = np.vstack([0.1 * RNG.standard_normal((149, 6)), 100 * DOMINANT])
"""Samples of which the last one has nearly all the variance."""


@pytest.mark.parametrize("batch", one_of(2, [100, 10, 200]))
@pytest.mark.parametrize("name", ["history-pca", "vr-pca", "ada-oja", "sklearn-incremental-pca"])
def test_the_last_samples_are_taken_where_they_fill_no_batch(name, batch):
    outcome = ob.solve(name, ob.stochastic_pca(LAST, 1), batch=batch)
    assert outcome.work.samples == 150
    assert outcome.work.steps == -(-150 // batch)
    if name != "ada-oja":  # whose steps have shrunk by then, if there were some before
        assert abs(DOMINANT @ outcome.solution[:, 0]) > 0.999


@pytest.mark.parametrize("name", ["shoevd", "spgd", "cp-adam", "khatri-rao-sketch"])
@pytest.mark.parametrize("count", one_of(3, [120, 7, 50]))
def test_the_last_samples_count_in_moments(name, count):
    samples = RNG.standard_normal((5, count)).T
    instance = ob.symmetric_tucker(samples, rank=2, order=3)
    outcome = ob.solve(name, instance, seed=0)
    assert outcome.work.samples == count
    assert np.isfinite(outcome.solution).all()


def test_canonical_variables_of_fewer_pairs_than_a_batch():
    X = RNG.standard_normal((60, 3))
    outcome = ob.solve("cca-appgrad", ob.cca(X, X[:, :2] + 0.1, 1))
    assert (outcome.work.steps, outcome.work.samples) == (1, 60)


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (9, 4)])
def test_svds_finds_all_directions_of_the_samples(shape):
    X = RNG.standard_normal(shape)
    outcome = ob.solve("scipy-svds", ob.stochastic_pca(X, min(shape)))
    assert np.linalg.norm(X @ outcome.solution) == pytest.approx(np.linalg.norm(X), rel=1e-12)


@pytest.mark.parametrize("values", [(1.0, -100.0, 0.5), (1.0, -1.0, 0.9), (2.0, -3.0, -5.0)])
def test_genelink_finds_the_largest_eigenvalue(values):
    pencil = generalized_eigenvectors(np.diag(values), np.diag([1.0, 2.0, 1.0]), 1)
    outcome = ob.solve("genelink", pencil, ob.Budget(steps=5000))
    assert outcome.trace[-1].metrics["suboptimality"] < 1e-12


def test_a_method_that_never_ends_needs_a_budget():
    with pytest.raises(ob.UsageError, match="give a budget"):
        ob.solve("tensorly-power-iteration", "odeco")


def test_a_stochastic_step_by_default_is_better_than_none():
    X = RNG.standard_normal((400, 8)) * 0.6 ** np.arange(8) * 1000
    moment = X.T @ X
    best = np.linalg.eigvalsh(moment)[-2:].sum()

    def lost(point):
        return 1 - np.vdot(point, moment @ point) / best

    for name in ("oja", "grassmannian-sgd", "msg", "capped-msg", "meg", "warmuth-kuzmin"):
        assert lost(ob.solve(name, ob.stochastic_pca(X, 2)).solution) < 0.02, name
