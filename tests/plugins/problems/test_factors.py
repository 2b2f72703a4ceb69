"""Factor models and planted tensors: what is drawn is what is said."""

from __future__ import annotations

import doctest
from itertools import permutations
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_tucker import (
    GivenTensorOracle,
    MomentOracle,
    MomentStream,
    SampleMoment,
)
from orthobench_tucker.full_tensors import partial_core
from orthobench_tucker.problems import factors
from orthobench_tucker.problems.factors import (
    GaussianFactor,
    NIGFactor,
    NormalInverseGaussian,
    least_kurtosis,
)
from orthobench_tucker.problems.planted import RandomSymmetric, symmetric_gaussian
from orthobench_tucker.sample_moments import monomials
from orthobench_tucker.whole_tensor import refusal
from scipy.stats import norminvgauss

from orthobench.contract.problem import Solution
from orthobench.errors import UsageError
from orthobench.tools import machine
from orthobench.tools.geometry import drift, random_point, subspace_error

SMALL = {
    "nig-factor": NIGFactor(n=12, true_rank=3, rank=3, samples=400, test=300, validation=200),
    "gaussian-factor": GaussianFactor(
        n=12, true_rank=3, rank=3, samples=400, test=300, validation=200
    ),
    "random-symmetric": RandomSymmetric(n=9, order=4, rank=2, true_rank=3),
}


def rng(seed=0):
    return np.random.default_rng(seed)


def built(problem, seed=0):
    return problem.build(rng(seed))


def seen(problem, count, seed=0, chunks=1):
    """The first samples of a stream, as a run sees them."""
    oracle = built(problem, seed).oracle
    oracle.rewind(rng(99))
    pieces = []
    for _ in range(chunks):
        oracle.prepare(count // chunks)
        pieces.append(oracle.take(count // chunks).copy())
    return np.concatenate(pieces)


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
    def test_the_docstring_example_runs(self):
        found = doctest.testmod(factors)
        assert found.attempted
        assert not found.failed

    def test_the_default_values_are_those_of_round_parameters(self):
        found = NormalInverseGaussian.standardized(1.5, 9.0)
        expected = (4 / 3, 2 / 3, sqrt(3) / 2, -1 / 2)
        assert (found.alpha, found.beta, found.delta, found.mu) == pytest.approx(expected)
        problem = NIGFactor()
        assert (problem.skewness, problem.kurtosis) == (1.5, 9.0)

    @given(skewness=st.floats(-5, 5), excess=st.floats(0.01, 1000))
    def test_the_moments_are_those_asked_for(self, skewness, excess):
        kurtosis = least_kurtosis(skewness) + excess
        law = NormalInverseGaussian.standardized(skewness, kurtosis)
        assert abs(law.beta) < law.alpha
        assert law.delta > 0
        moments = moments_of(law, 4)
        close = {"rel": 1e-6, "abs": 1e-7 * (1 + abs(law.mu))}
        assert moments == pytest.approx([1, 0, 1, skewness, kurtosis], **close)

    @pytest.mark.parametrize(
        ("skewness", "kurtosis"), [(1.5, 9.0), (0.0, 3.5), (-1.5, 9.0), (3.0, 27.0), (0.0, 60.0)]
    )
    def test_draws_have_these_moments_within_5_standard_errors(self, skewness, kurtosis):
        law = NormalInverseGaussian.standardized(skewness, kurtosis)
        moments = moments_of(law, 8)
        X = law.draw(rng(1), (400, 1000)).ravel()
        for m, expected in enumerate([1, 0, 1, skewness, kurtosis]):
            error = sqrt((moments[2 * m] - moments[m] ** 2) / X.size)
            assert abs(np.mean(X**m) - expected) <= 5 * error

    @pytest.mark.parametrize(("skewness", "kurtosis"), [(1.5, 9.0), (-3.0, 27.0), (0.0, 4.0)])
    def test_draws_have_the_distribution_that_scipy_knows(self, skewness, kurtosis):
        law = NormalInverseGaussian.standardized(skewness, kurtosis)
        X = np.sort(law.draw(rng(2), (200_000,)))
        known = norminvgauss(law.alpha * law.delta, law.beta * law.delta, law.mu, law.delta)
        for at in np.linspace(-3, 4, 15):
            share = known.cdf(at)
            error = sqrt(share * (1 - share) / X.size)
            assert abs(np.searchsorted(X, at) / X.size - share) < 5 * error + 1e-8

    def test_near_the_bounds_draws_stay_finite_with_unit_variance(self):
        for skewness, kurtosis in [(0.0, 1e4), (10.0, 1e4), (0.0, 3 + 1e-9), (1.5, 6.75 + 1e-9)]:
            X = NormalInverseGaussian.standardized(skewness, kurtosis).draw(rng(3), (100_000,))
            assert np.isfinite(X).all()
            error = sqrt((kurtosis - 1) / X.size)
            assert abs(np.mean(X**2) - 1) < 5 * error


@pytest.mark.parametrize("problem", SMALL.values(), ids=SMALL)
class TestEvery:
    def test_the_seed_alone_decides(self, problem):
        first, again, other = (built(problem, seed) for seed in (1, 1, 2))
        Q = Solution(random_point(first.oracle.n, first.oracle.k, rng()))
        assert np.array_equal(first.oracle.T, again.oracle.T)
        assert not np.array_equal(first.oracle.T, other.oracle.T)
        assert first.measure(Q) == again.measure(Q) != other.measure(Q)
        assert np.array_equal(first.measure.basis, again.measure.basis)

    def test_reports_the_metrics_that_it_is_ranked_and_tuned_by(self, problem):
        instance = built(problem)
        metrics = instance.measure(Solution(random_point(instance.oracle.n, problem.rank, rng())))
        assert next(iter(metrics)) == problem.primary == "relative_error"
        assert problem.tuned_by in metrics
        assert {"objective", "objective_ratio", "subspace_error", "relative_gradient"} < {*metrics}
        assert all(np.isfinite(list(metrics.values())))
        assert instance.best.keys() <= metrics.keys()

    def test_says_its_shape_and_what_it_offers(self, problem):
        oracle = built(problem).oracle
        assert type(oracle) is problem.offers
        assert problem.tensor_shape == oracle.T.shape == (problem.n,) * problem.order
        assert oracle.k == problem.rank
        assert problem.streamed is False
        assert problem.checksum() == ""

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

    def test_the_judge_may_measure_on_the_samples_themselves(self, problem):
        instance = built(type(problem)(**{**vars(problem), "test": 0}))
        judge = instance.measure
        assert judge.test is judge.train
        Q = random_point(40, 4, rng(1))
        error = SampleMoment(instance.oracle.X, problem.order).relative_error(Solution(Q))
        assert judge(Solution(Q))["relative_error"] == error

    def test_an_endless_stream_does_not_depend_on_chunks(self, problem):
        endless = type(problem)(**{**vars(problem), "samples": 0})
        assert endless.streamed
        first = seen(endless, 1200)
        assert np.array_equal(first, seen(endless, 1200, chunks=8))
        assert not np.array_equal(first, seen(endless, 1200, seed=1))
        instance = built(endless)
        assert type(instance.oracle) is MomentStream
        assert instance.oracle.remaining() == np.inf
        metrics = instance.measure(Solution(random_point(40, 4, rng())))
        assert "relative_gradient" not in metrics
        assert "validation_relative_error" in metrics
        # the samples are those of the model whose basis the judge knows
        residual = first - first @ instance.measure.basis @ instance.measure.basis.T
        assert np.sum(residual**2) / np.sum(first**2) < problem.inverse_snr**2

    def test_passes_repeat_the_samples(self, problem):
        twice = type(problem)(**{**vars(problem), "passes": 2, "samples": 300})
        X = seen(twice, 600)
        assert np.array_equal(X[:300], X[300:])
        assert np.array_equal(X[:300], built(twice).oracle.X)


def test_more_samples_of_the_model_bring_the_flattening_closer_to_the_true_basis():
    few, many = (
        flattened(instance.oracle, instance.oracle.k)
        for instance in (built(NIGFactor(n=20, samples=p)) for p in (200, 10_000))
    )
    truth = built(NIGFactor(n=20)).measure.basis
    assert subspace_error(many, truth) < subspace_error(few, truth) / 3


def test_gaussian_defaults_are_those_of_table_2():
    problem = GaussianFactor()
    assert (problem.order, problem.inverse_snr) == (4, 0.05)
    assert NIGFactor().order == 3
    assert NIGFactor().inverse_snr == 0.5


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

    def test_their_entries_have_the_variance_of_such_a_mean(self):
        table = monomials(3, 3)
        drawn = np.array(
            [symmetric_gaussian(3, 3, rng(s)).ravel()[table.positions] for s in range(4000)]
        )
        np.testing.assert_allclose(
            drawn.var(axis=0) * table.multiplicities, 1, atol=5 * sqrt(2 / 4000)
        )

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

    def test_the_best_is_known_only_without_noise_and_with_rank_enough(self):
        with pytest.warns(UserWarning, match="rank = 6 is above the rank of the tensor"):
            assert built(RandomSymmetric(n=8, noise=0.0, rank=6)).best
        assert not built(RandomSymmetric(n=8, noise=0.0, rank=4)).best
        assert not built(RandomSymmetric(n=8, noise=1e-3)).best

    @pytest.mark.parametrize("noise", [1e-6, 0.1, 3.0])
    def test_the_noise_has_the_norm_asked_for(self, noise):
        clean, noisy = (built(RandomSymmetric(noise=x)).oracle.T for x in (0.0, noise))
        ratio = np.linalg.norm(noisy - clean) / np.linalg.norm(clean)
        assert ratio == pytest.approx(noise, rel=1e-8)

    def test_the_core_is_gaussian_in_the_planted_basis(self):
        instance = built(RandomSymmetric(n=8, noise=0.0, true_rank=2, rank=2))
        core = partial_core(instance.oracle.T, instance.measure.basis)
        assert core.shape == (8, 3)
        again = rng()
        Q = random_point(8, 2, again)
        np.testing.assert_allclose(instance.measure.basis, Q)
        C = symmetric_gaussian(2, 3, again)
        np.testing.assert_allclose(instance.measure.test.core(Q), C, atol=1e-13)

    def test_a_tensor_that_does_not_fit_is_refused(self, monkeypatch):
        monkeypatch.setattr(machine, "total", lambda: 10_000)
        with pytest.raises(UsageError, match=r"30\^3 entries, .* needs"):
            built(RandomSymmetric())
        assert refusal(RandomSymmetric(), "auto") is not None


def test_solvers_know_before_a_run_what_they_cannot_take(monkeypatch):
    assert issubclass(NIGFactor.offers, MomentOracle)
    assert RandomSymmetric.offers is GivenTensorOracle
    assert refusal(NIGFactor(), "auto") is None
    assert refusal(NIGFactor(), "implicit") is None
    assert "only stream" in refusal(NIGFactor(samples=0), "auto")
    assert "not samples" in refusal(RandomSymmetric(), "implicit")
    assert refusal(RandomSymmetric(), "explicit") is None
    monkeypatch.setattr(machine, "total", lambda: 2**30)
    assert "1000^3 entries" in refusal(NIGFactor(n=1000), "explicit")
    assert refusal(NIGFactor(n=1000), "auto") is None
