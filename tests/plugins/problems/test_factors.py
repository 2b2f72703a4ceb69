"""Factor models and planted tensors: what is drawn is what is said."""

from itertools import permutations
from math import comb, sqrt

import numpy as np
import pytest
from drawn import built, rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.geometry import subspace_error
from orthobench_tucker.problems.factors import (
    GaussianFactor,
    NIGFactor,
    NormalInverseGaussian,
    least_kurtosis,
)
from orthobench_tucker.problems.planted import RandomSymmetric, symmetric_gaussian
from orthobench_tucker.solvers.quasi_newton import QuasiNewton
from scipy.stats import norminvgauss

from orthobench.contract.problem import Solution
from orthobench.errors import UsageError
from orthobench.tools.geometry import drift

SMALL = {
    "nig-factor": NIGFactor(n=12, true_rank=3, rank=3, samples=400, test=300, validation=200),
    "gaussian-factor": GaussianFactor(
        n=12, true_rank=3, rank=3, samples=400, test=300, validation=200
    ),
    "random-symmetric": RandomSymmetric(n=9, order=4, rank=2, true_rank=3),
}


def flattened(oracle, r):
    """The leading eigenvectors of the flattened tensor (equation 7)."""
    unfolding = oracle.T.reshape(oracle.n, -1)
    return np.linalg.eigh(unfolding @ unfolding.T)[1][:, ::-1][:, :r]


def moments_of(law, most):
    """Moments from the cumulants, the series of mu t + delta (gamma - √(alpha² - (beta + t)²))."""
    square = [law.alpha**2 - law.beta**2, -2 * law.beta, -1.0] + [0.0] * most
    root = [sqrt(square[0])]
    for k in range(1, most + 1):
        root.append((square[k] - sum(root[i] * root[k - i] for i in range(1, k))) / (2 * root[0]))
    factorials = np.cumprod([1.0, *range(1, most + 1)])
    cumulants = [-law.delta * root[k] * factorials[k] for k in range(most + 1)]
    cumulants[1] += law.mu
    moments = [1.0]
    for m in range(1, most + 1):
        terms = (comb(m - 1, k - 1) * cumulants[k] * moments[m - k] for k in range(1, m + 1))
        moments.append(sum(terms))
    return np.array(moments)


class TestNormalInverseGaussian:
    @given(skewness=st.floats(-5, 5), excess=st.floats(0.01, 1000))
    def test_the_moments_are_those_asked_for(self, skewness, excess):
        kurtosis = least_kurtosis(skewness) + excess
        law = NormalInverseGaussian.standardized(skewness, kurtosis)
        assert abs(law.beta) < law.alpha
        assert law.delta > 0
        moments = moments_of(law, 4)
        close = {"rel": 1e-6, "abs": 1e-7 * (1 + abs(law.mu))}
        assert moments == pytest.approx([1, 0, 1, skewness, kurtosis], **close)

    @pytest.mark.parametrize(("skewness", "kurtosis"), [(1.5, 9.0), (-3.0, 27.0), (0.0, 4.0)])
    def test_draws_have_the_distribution_that_scipy_knows(self, skewness, kurtosis):
        law = NormalInverseGaussian.standardized(skewness, kurtosis)
        X = np.sort(law.draw(rng(2), (200_000,)))
        known = norminvgauss(law.alpha * law.delta, law.beta * law.delta, law.mu, law.delta)
        for at in np.linspace(-3, 4, 15):
            share = known.cdf(at)
            error = sqrt(share * (1 - share) / X.size)
            assert abs(np.searchsorted(X, at) / X.size - share) < 5 * error + 1e-8


@pytest.mark.parametrize("problem", SMALL.values(), ids=SMALL)
class TestEvery:
    def test_the_flattening_has_the_true_basis_nearby(self, problem):
        instance = built(type(problem)(**{**vars(problem), "rank": 3}))
        Q = flattened(instance.oracle, instance.oracle.k)
        metrics = instance.measure(Solution(Q))
        assert metrics["subspace_error"] < 0.45 < sqrt(3)
        assert metrics["objective_ratio"] == pytest.approx(1, abs=0.15)
        assert instance.measure(Solution(instance.measure.basis))["objective_ratio"] == 1


FACTORS = [
    NIGFactor(n=40, true_rank=4, rank=4, inverse_snr=0.5),
    NIGFactor(n=40, true_rank=4, rank=4, inverse_snr=2.0, skewness=3.0, kurtosis=27.0),
    GaussianFactor(n=40, true_rank=4, rank=4),
]


def loadings(problem, seed=0):
    return rng(seed).standard_normal((problem.n, problem.true_rank))


@pytest.mark.parametrize("problem", FACTORS)
class TestFactors:
    def test_the_true_basis_spans_the_loadings(self, problem):
        Q, B = built(problem).measure.basis, loadings(problem)
        assert drift(Q) < 1e-14
        np.testing.assert_allclose(Q @ (Q.T @ B), B, atol=1e-12)
        assert Q.shape == B.shape
        assert subspace_error(Q, built(problem, 1).measure.basis) > 1

    def test_the_noise_has_the_level_asked_for(self, problem):
        instance = built(problem)
        X, Q, n = instance.oracle.X, instance.measure.basis, problem.n
        inside = X @ Q
        sigma = sqrt((np.sum(X**2) - np.sum(inside**2)) / (len(X) * (n - 4)))
        expected = problem.inverse_snr * np.linalg.norm(loadings(problem)) / sqrt(n)
        assert sigma == pytest.approx(expected, rel=0.01)
        signal = np.mean(np.sum(inside**2, axis=1)) - 4 * sigma**2
        assert sigma * sqrt(n) / sqrt(signal) == pytest.approx(problem.inverse_snr, rel=0.06)

    @pytest.mark.wide
    def test_the_factors_are_independent_with_the_moments_of_their_law(self, problem):
        clean = type(problem)(**{**vars(problem), "inverse_snr": 0.0, "samples": 100_000})
        X = built(clean).oracle.X
        F = X @ np.linalg.pinv(loadings(problem)).T
        np.testing.assert_allclose(X, F @ loadings(problem).T, atol=1e-10 * np.abs(X).max())
        skewness = getattr(problem, "skewness", 0.0)
        kurtosis = getattr(problem, "kurtosis", 3.0)
        error = 5 * sqrt(kurtosis / len(F))
        assert np.abs(F.mean(axis=0)).max() < error
        assert np.abs(F.T @ F / len(F) - np.eye(4)).max() < error
        assert np.median(np.mean(F**3, axis=0)) == pytest.approx(skewness, rel=0.06, abs=0.05)
        crossed = np.mean(F[:, 0] ** 2 * F[:, 1])
        assert abs(crossed) < error * sqrt(kurtosis)

    def test_samples_test_and_validation_are_drawn_apart(self, problem):
        instance = built(problem)
        parts = instance.oracle.X, instance.measure.test.X, instance.measure.validation.X
        assert [X.shape for X in parts] == [(5000, 40), (5000, 40), (2000, 40)]
        for i, j in [(0, 1), (0, 2), (1, 2)]:
            assert not np.isin(parts[i], parts[j]).any()
        assert np.shares_memory(instance.measure.train.X, instance.oracle.X)


def test_more_samples_bring_the_flattening_closer_to_the_basis():
    few, many = (
        flattened(instance.oracle, instance.oracle.k)
        for instance in (built(NIGFactor(n=20, samples=p)) for p in (200, 10_000))
    )
    truth = built(NIGFactor(n=20)).measure.basis
    assert subspace_error(many, truth) < subspace_error(few, truth) / 3


def test_solvers_of_all_samples_refuse_an_endless_stream_alone():
    assert "only stream" in QuasiNewton().refuses(NIGFactor(samples=0))
    assert QuasiNewton().refuses(NIGFactor(samples=1)) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NIGFactor(rank=101), "rank = 101 is more than n = 100"),
        (lambda: GaussianFactor(true_rank=11, n=10), "true_rank = 11 is more than n = 10"),
        (lambda: NIGFactor(order=1), "order must be >= 2"),
        (lambda: NIGFactor(rank=0), "rank must be >= 1"),
        (lambda: NIGFactor(validation=0), "validation must be >= 1"),
        (lambda: NIGFactor(samples=-1), "samples must be >= 0"),
        (lambda: NIGFactor(samples=0, test=0), "endless stream needs a test part"),
        (lambda: NIGFactor(samples=0, passes=2), "endless stream has one pass"),
        (lambda: NIGFactor(inverse_snr=-0.1), "inverse_snr must be >= 0"),
        (lambda: NIGFactor(inverse_snr=float("nan")), "inverse_snr must be"),
        (lambda: NIGFactor(kurtosis=6.75), "kurtosis must be > .* = 6.75 where .* 1.5, not 6.75"),
        (lambda: NIGFactor(skewness=-3.0), "kurtosis must be > .* = 18 where .* -3, not 9"),
        (lambda: NIGFactor(skewness=0.0, kurtosis=3.0), "kurtosis must be > 3"),
        (lambda: NIGFactor(kurtosis=1e5), "kurtosis must be > 3 and <= 10000"),
        (lambda: RandomSymmetric(n=4), "rank = 5 is more than n = 4"),
        (lambda: RandomSymmetric(n=4, rank=2), "true_rank = 5 is more than n = 4"),
        (lambda: RandomSymmetric(order=1), "order must be >= 2"),
        (lambda: RandomSymmetric(noise=-1.0), "noise must be >= 0"),
    ],
)
def test_bad_parameters_are_refused_before_any_work(make, message):
    with pytest.raises(UsageError, match=message):
        make()


class TestRandomSymmetric:
    @pytest.mark.parametrize("order", [2, 3, 4, 5])
    def test_gaussian_tensors_are_means_over_all_permutations(self, order):
        raw = rng(4).standard_normal((4,) * order)
        axes = list(permutations(range(order)))
        expected = sum(raw.transpose(a) for a in axes) / len(axes)
        np.testing.assert_allclose(symmetric_gaussian(4, order, rng(4)), expected, atol=1e-14)

    @pytest.mark.parametrize("order", [2, 3, 4])
    def test_without_noise_the_planted_basis_is_exact(self, order):
        problem = RandomSymmetric(n=8, order=order, true_rank=3, rank=3, noise=0.0)
        instance = built(problem)
        metrics = instance.measure(Solution(instance.measure.basis))
        assert instance.best == {"relative_error": 0.0, "subspace_error": 0.0}
        assert metrics["relative_error"] < 1e-14
        assert metrics["relative_gradient"] < 1e-13
        unfolding = instance.oracle.T.reshape(8, -1)
        assert np.linalg.matrix_rank(unfolding, tol=1e-10) == 3
        assert subspace_error(flattened(instance.oracle, 3), instance.measure.basis) < 1e-7

    @pytest.mark.parametrize("noise", [1e-6, 0.1, 3.0])
    def test_the_noise_has_the_norm_asked_for(self, noise):
        clean, noisy = (built(RandomSymmetric(noise=x)).oracle.T for x in (0.0, noise))
        ratio = np.linalg.norm(noisy - clean) / np.linalg.norm(clean)
        assert ratio == pytest.approx(noise, rel=1e-8)
