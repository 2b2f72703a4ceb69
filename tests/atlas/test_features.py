"""Features of data against closed forms."""

import math

import numpy as np
import pytest

import orthobench as ob
from orthobench.atlas.features import EXTRA, Features, features, features_of, leading, not_commuting
from orthobench.harness.cell import instance_of
from orthobench.registry.plugins import catalogue


def geometric(m, d, ratio, seed=0):
    """Return a matrix (m, d) whose second moment has the eigenvalues 1, 1/ratio, 1/ratio², ..."""
    rng = np.random.default_rng(seed)
    rank = min(m, d)
    left = np.linalg.qr(rng.standard_normal((m, rank)))[0]
    right = np.linalg.qr(rng.standard_normal((d, rank)))[0]
    return left * np.sqrt(ratio ** -np.arange(float(rank))) @ right.T


def test_decay_and_noise_of_a_geometric_spectrum():
    for m, d, k in ((50, 12, 3), (12, 50, 3), (300, 200, 5), (40, 6, 6)):
        found = features(geometric(m, d, 1.5), k)
        assert (found.rows, found.d, found.k) == (m, d, k)
        assert found.decay == pytest.approx(1.5, rel=1e-6)
        rank = min(m, d)
        outside = (1.5**-k - 1.5**-rank) / (1 - 1.5**-rank)
        assert found.noise == pytest.approx(outside, rel=1e-6, abs=1e-12), (m, d, k)


def test_pure_noise_has_no_decay_and_a_rank_one_matrix_no_noise():
    flat = features(np.eye(30), 3)
    assert flat.decay == pytest.approx(1)
    assert flat.noise == pytest.approx(0.9)
    assert flat.sparsity == pytest.approx(29 / 30)
    line = features(np.outer(np.arange(1.0, 9), np.ones(4)), 1)
    assert line.noise == pytest.approx(0, abs=1e-12)
    assert line.decay == pytest.approx(1e12)


def test_scale_changes_nothing():
    X = geometric(40, 20, 1.3)
    for factor in (1e-6, 3.0, 1e6):
        a, b = features(X, 4), features(factor * X, 4)
        assert b.decay == pytest.approx(a.decay, rel=1e-9)
        assert b.noise == pytest.approx(a.noise, rel=1e-9)


def test_missing_and_zero_entries_are_shares_of_all():
    X = np.ones((10, 10))
    X[:3] = 0
    X[3, :5] = math.nan
    found = features(X, 2)
    assert found.sparsity == pytest.approx(0.35)
    assert math.isfinite(found.decay)


def test_leading_eigenvalues_agree_with_lapack_and_repeat():
    X = np.random.default_rng(1).standard_normal((400, 150)) * np.linspace(3, 1, 150)
    exact = np.linalg.eigvalsh(X.T @ X)[::-1]
    found = leading(X, 5)
    np.testing.assert_allclose(found, exact[:5], rtol=0.01)
    assert (found <= exact[:5] * (1 + 1e-12)).all()
    assert (found == leading(X, 5)).all()
    few = X[:, : 5 + EXTRA]
    np.testing.assert_allclose(leading(few, 5), np.linalg.eigvalsh(few.T @ few)[::-1][:5])


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("spiked-covariance", (0, 100, 4)),
        ("digits", (718, 64, 4)),
        ("planted-sparse", (200, 500, 5)),
        ("planted-correlations", (10_000, 35, 3)),
        ("stiefel-procrustes", (0, 50, 5)),
    ],
)
def test_sizes_of_problems(name, sizes):
    found = features_of(instance_of(catalogue().problem(name), 0))
    assert (found.rows, found.d, found.k) == sizes
    assert math.isnan(found.decay) == (name == "stiefel-procrustes")


def test_a_tensor_has_the_spectrum_of_its_unfolding():
    found = features_of(instance_of(catalogue().problem("odeco"), 0))
    assert found.decay == pytest.approx(10 ** (2 / 19))  # weights from 1 to 1/10, squared
    assert found.noise < 1e-12  # contractions of an orthogonal decomposition commute
    assert found.rows == 20**2


def test_features_of_scaled_pca_are_of_scaled_columns():
    X = np.random.default_rng(0).standard_normal((300, 8))
    plain = features_of(ob.pca(X / X.std(axis=0), 3))
    scaled = features_of(ob.pca(X * np.geomspace(1, 1e6, 8), 3, scale=True))
    assert scaled.decay == pytest.approx(plain.decay)
    assert scaled.noise == pytest.approx(plain.noise)
    raw = ob.pca(X + 5, 3, center=False)
    assert features_of(raw) == features(X + 5, 3)
    assert features_of(ob.pca(X + 5, 3)).decay == pytest.approx(
        features(X - X.mean(axis=0), 3).decay
    )


@pytest.mark.parametrize(("name", "d"), [("odeco", 20), ("odeco", 60), ("odeco-4", 15)])
def test_noise_of_a_tensor_measures_commutators(name, d):
    small, large = (
        features_of(instance_of(catalogue().problem(name, {"d": d, "noise": noise}), 0)).noise
        for noise in (0.01, 0.1)
    )
    assert 0.003 < small < 0.03
    assert large / small == pytest.approx(10, rel=0.2)
    random = np.random.default_rng(0).standard_normal((40, 40, 40))
    assert not_commuting(random) == pytest.approx(1, abs=0.1)


def test_missing_entries_are_counted():
    found = features_of(instance_of(catalogue().problem("missing-entries"), 0))
    assert found.sparsity == pytest.approx(0.7, abs=0.01)


def test_features_of_an_instance_rewind_its_oracle():
    instance = instance_of(catalogue().problem("digits"), 0)
    before = features_of(instance)
    assert instance.oracle.taken == 0
    assert features_of(instance) == before
    assert isinstance(before, Features)


def test_features_of_a_long_stream_are_those_of_its_beginning():
    X = np.random.default_rng(0).standard_normal((6000, 4)) * np.repeat([1.0, 9.0], 3000)[:, None]
    whole = features_of(ob.stochastic_pca(X, 2))
    start = features_of(ob.stochastic_pca(X, 2), most=4096 * 4)
    assert (whole.rows, start.rows) == (6000, 6000)
    assert (start.decay, start.noise) == pytest.approx(
        (features(X[:4096], 2).decay, features(X[:4096], 2).noise)
    )
    assert start.decay != whole.decay
