"""Moments of Gaussian mixtures against explicit tensors, and the way back to their parameters."""

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.sources import ArraySource
from orthobench_kit.streams import IteratorSource
from orthobench_orthogonal_tensor.problems.mixtures import (
    ESTIMATES,
    Mixture,
    Moments,
    noise_spread,
    noise_variance,
    population_moments,
    sample_moments,
    whitened_moments,
)
from orthobench_orthogonal_tensor.problems.whitening import third_power_sum
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from orthobench.errors import DataError, UsageError
from orthobench.tools.geometry import polar, random_point

seeds = st.integers(0, 2**32 - 1)


def samples(n, d, seed=0):
    """Rows that are neither centred nor symmetric, so that no moment vanishes."""
    return rng(seed).exponential(size=(n, d)) @ rng(seed + 1).standard_normal((d, d))


def some_mixture(k, d, seed=0, variance=0.7):
    """A mixture with well-conditioned centres of different lengths and weights."""
    generator = rng(seed)
    spread = random_point(d, k, generator).T * generator.uniform(1, 3, (k, 1))
    centres = spread + 0.2 * generator.standard_normal((k, d)) / np.sqrt(d)
    weights = generator.uniform(0.5, 1.5, k)
    return Mixture(centres, weights / weights.sum(), variance)


def decomposed(T, seed=0):
    """The factors of an orthogonally decomposable tensor: eigenvectors of T(I, I, w), polished."""
    U = np.linalg.eigh(T @ rng(seed).standard_normal(len(T)))[1]
    for _ in range(3):
        U = polar(np.einsum("abc,bi,ci->ai", T, U, U))
    return U


def explicit_third(X, mean, variance):
    """M3 of the module's docstring, all d³ entries of it."""
    n, d = X.shape
    M3 = np.einsum("na,nb,nc->abc", X, X, X) / n
    for e in np.eye(d):
        M3 -= variance * np.einsum("a,b,c->abc", mean, e, e)
        M3 -= variance * np.einsum("a,b,c->abc", e, mean, e)
        M3 -= variance * np.einsum("a,b,c->abc", e, e, mean)
    return M3


def assert_same_mixture(found, true, atol=1e-10):
    distances = np.linalg.norm(found.centres[:, None] - true.centres, axis=2)
    rows, columns = linear_sum_assignment(distances)
    np.testing.assert_allclose(found.centres[rows], true.centres[columns], rtol=0, atol=atol)
    np.testing.assert_allclose(found.weights[rows], true.weights[columns], rtol=0, atol=atol)
    assert found.variance == pytest.approx(true.variance, abs=atol)


@given(n=st.integers(1, 700), k=st.integers(1, 6), seed=seeds)
def test_third_powers_are_summed_over_all_rows(n, k, seed):
    Y = rng(seed).standard_normal((n, k))
    explicit = np.einsum("na,nb,nc->abc", Y, Y, Y)
    found = third_power_sum(np.array_split(Y, 3), k)
    np.testing.assert_allclose(found, explicit, rtol=0, atol=1e-12 * n)


@given(n=st.integers(30, 600), d=st.integers(1, 7), seed=seeds, estimate=st.sampled_from(ESTIMATES))
def test_the_whitened_third_moment_is_that_of_the_explicit_tensor(n, d, seed, estimate):
    X = samples(n, d, seed)
    k = int(rng(seed).integers(1, d + 1))
    try:
        found = whitened_moments(sample_moments(ArraySource(X)), k, estimate)
    except DataError:  # what is no mixture may have an indefinite second moment
        assert estimate == "bottom"
        return
    mean, W = X.mean(axis=0), found.whitening.matrix
    M2 = X.T @ X / n - found.variance * np.eye(d)
    np.testing.assert_allclose(
        W.T @ M2 @ W, np.eye(k), rtol=0, atol=1e-13 * np.linalg.norm(M2) * np.linalg.norm(W) ** 2
    )
    M3 = explicit_third(X, mean, found.variance)
    explicit = np.einsum("abc,ai,bj,cl->ijl", M3, W, W, W, optimize=True)
    scale = np.abs(M3).max() * np.linalg.norm(W, 2) ** 3
    np.testing.assert_allclose(found.tensor, explicit, rtol=0, atol=1e-12 * scale)


@given(k=st.integers(1, 8), more=st.integers(0, 8), seed=seeds, estimate=st.sampled_from(ESTIMATES))
def test_exact_moments_give_back_the_mixture(k, more, seed, estimate):
    true = some_mixture(k, k + more, seed, variance=2.0)
    moments = population_moments(true)
    found = whitened_moments(moments, k, estimate)
    U = decomposed(found.tensor)
    assert_same_mixture(found.mixture(U), true)
    assert_same_mixture(found.mixture(-U), true)


def test_the_bottom_eigenvalues_hold_the_variance():
    C = np.diag([9.0, 7.0, 1.0, 2.0, 3.0])
    assert noise_variance(C, 3, "bottom") == pytest.approx(2.0)
    assert noise_variance(C, 3, "smallest") == pytest.approx(1.0)
    assert noise_variance(C, 5, "bottom") == pytest.approx(1.0)
    assert noise_variance(C - 1.5 * np.eye(5), 5) == 0.0


@pytest.mark.parametrize(
    ("values", "count", "spread"),
    [
        ([9, 1, 3, 1], 100, (8 / 9 / (5 / 3) ** 2 - 0.1) ** 0.5),
        ([9, 1, 3, 1], 20, 0),
        ([9, 2, 2, 2], 10**9, 0),
        ([9, 0, 0, 0], 100, 0),
    ],
)
def test_noise_spread_is_beyond_what_samples_explain(values, count, spread):
    """With two components three eigenvalues count: the mean is 4/N, the deviation 2/N."""
    moments = Moments(np.ones(4), np.diag(np.array(values, dtype=float)), np.diag, count)
    assert noise_spread(moments, 2) == pytest.approx(spread)


def test_covariance_of_data_far_from_zero_keeps_its_digits():
    X = rng(3).standard_normal((4000, 4))
    far = sample_moments(ArraySource(X + 2.0**20))
    np.testing.assert_allclose(far.covariance, np.cov(X.T, bias=True), rtol=0, atol=1e-9)
    np.testing.assert_allclose(far.mean - 2.0**20, X.mean(axis=0), rtol=0, atol=1e-9)


class TestMixture:
    true = some_mixture(3, 3, variance=0.5)
    X = rng(5).standard_normal((200, 3)) * 2

    def log_joint(self):
        densities = [
            multivariate_normal(centre, 0.5 * np.eye(3)).logpdf(self.X)
            for centre in self.true.centres
        ]
        return np.transpose(densities) + np.log(self.true.weights)

    def test_assigns_by_the_largest_posterior(self):
        assert np.array_equal(self.true.assign(self.X), self.log_joint().argmax(axis=1))

    def test_without_variance_the_nearest_centre_is_assigned(self):
        nearest = np.linalg.norm(self.X[:, None] - self.true.centres, axis=2).argmin(axis=1)
        mixture = Mixture(self.true.centres, self.true.weights, 0.0)
        assert np.array_equal(mixture.assign(self.X), nearest)

    def test_has_the_mean_log_likelihood_of_its_densities(self):
        expected = logsumexp(self.log_joint(), axis=1).mean()
        assert self.true.log_likelihood(self.X) == pytest.approx(expected, rel=1e-12)

    def test_likelihood_of_far_points_does_not_underflow(self):
        assert self.true.log_likelihood(self.X + 1e4) == pytest.approx(-3e8, rel=0.01)

    @pytest.mark.parametrize(
        ("centres", "weights", "variance", "said"),
        [
            (np.ones((2, 3)), np.ones(3) / 3, 1.0, r"\(2, 3\) and \(3,\)"),
            (np.ones(3), np.ones(3) / 3, 1.0, r"\(k, d\)"),
            (np.ones((2, 3)), np.array([0.5, 0.6]), 1.0, "sum to one"),
            (np.ones((2, 3)), np.array([0.0, 1.0]), 1.0, "positive"),
            (np.ones((2, 3)), np.array([np.nan, 1.0]), 1.0, "positive"),
            (np.ones((2, 3)), np.array([0.5, 0.5]), -1.0, "variance"),
            (np.ones((2, 3)), np.array([0.5, 0.5]), np.nan, "variance"),
        ],
    )
    def test_invalid_mixture_is_refused(self, centres, weights, variance, said):
        with pytest.raises(UsageError, match=said):
            Mixture(centres, weights, variance)

    @pytest.mark.parametrize(
        ("centres", "weights", "said"),
        [
            (np.eye(2, 3) * 1j, np.full(2, 0.5), "centres .* real numbers, not of dtype complex"),
            (np.full((2, 3), "1"), np.full(2, 0.5), "centres .* real numbers, not of dtype <U1"),
            (np.eye(2, 3), np.full(2, 0.5 + 0j), "weights .* real numbers, not of dtype complex"),
            (np.array([[0, 0], [1, np.nan]]), np.full(2, 0.5), "centre 1 .*: feature 1 is nan"),
            (np.array([[-np.inf, 0], [1, 2]]), np.full(2, 0.5), "centre 0 .*: feature 0 is -inf"),
        ],
    )
    def test_centres_and_weights_are_checked_like_data(self, centres, weights, said):
        with pytest.raises(DataError, match=said):
            Mixture(centres, weights, 1.0)


class TestRefusals:
    def test_dependent_centres_name_the_eigenvalue(self):
        centres = np.array([[1.0, 0, 0, 0], [0, 2, 0, 0], [0.5, 1, 0, 0]])
        moments = population_moments(Mixture(centres, np.full(3, 1 / 3), 1.0))
        with pytest.raises(DataError, match=r"eigenvalue 3 of the second moment .*at most 2 fit"):
            whitened_moments(moments, 3)

    def test_no_more_samples_than_features(self):
        with pytest.raises(DataError, match=r"5 samples of 5 features .*at least 6 are needed"):
            sample_moments(ArraySource(samples(5, 5)))
        assert sample_moments(ArraySource(samples(6, 5))).count == 6

    @pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
    def test_a_row_that_is_not_finite_is_named(self, value):
        X = samples(700, 4)
        X[513, 2] = value
        for source in (ArraySource(X), IteratorSource([X[:100], X[100:]])):
            with pytest.raises(DataError, match=r"sample 513 .*feature 2"):
                sample_moments(source)
