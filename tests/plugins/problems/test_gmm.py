"""The instance maker and the judge of Gaussian mixtures."""

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.sources import ArraySource
from orthobench_orthogonal_tensor.problems import gmm
from orthobench_orthogonal_tensor.problems.gmm import centre_error, mixture_instance, nmi
from orthobench_orthogonal_tensor.problems.mixtures import Mixture

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.errors import DataError, UsageError


def sample(n=3000, k=3, d=6, seed=0, variance=1.0):
    """Samples of a mixture with overlapping components, their labels, and the mixture."""
    generator = rng(seed)
    weights = generator.uniform(0.5, 1.5, k)
    truth = Mixture(generator.standard_normal((k, d)) * 1.5, weights / weights.sum(), variance)
    labels = generator.choice(k, size=n, p=truth.weights)
    noise = generator.standard_normal((n, d)) * np.sqrt(variance)
    return truth.centres[labels] + noise, labels, truth


def factors(instance, seed=0):
    T = instance.oracle.T
    return np.linalg.eigh(T @ rng(seed).standard_normal(len(T)))[1]


class TestMetrics:
    X, labels, truth = sample()

    def measured(self, **given):
        instance = ob.gmm_tensor(self.X, 3, **given)
        U = factors(instance)
        return instance, U, instance.measure(Solution(U))

    def test_metrics_depend_on_the_known_labels_and_truth(self):
        plain = ["residual", "objective", "relative_gradient", "log_likelihood"]
        assert list(self.measured()[2]) == plain
        _, _, metrics = self.measured(labels=self.labels)
        assert list(metrics) == ["nmi", *plain]
        instance, _, metrics = self.measured(labels=self.labels, truth=self.truth)
        clustering = ["nmi_gap", "nmi", "optimal_nmi"]
        assert list(metrics) == [*clustering, *plain[:-1], "centre_error", plain[-1]]
        assert instance.best == {"nmi_gap": 0.0}

    def test_the_clustering_is_that_of_the_mixture_in_all_dimensions(self):
        instance, U, metrics = self.measured(labels=self.labels, truth=self.truth)
        mixture = instance.mixture(U)
        assert mixture.centres.shape == (3, 6)
        assert metrics["nmi"] == nmi(self.labels, mixture.assign(self.X))
        assert metrics["optimal_nmi"] == nmi(self.labels, self.truth.assign(self.X))
        assert metrics["nmi_gap"] == metrics["optimal_nmi"] - metrics["nmi"]
        expected = mixture.log_likelihood(self.X)
        assert metrics["log_likelihood"] == pytest.approx(expected, rel=1e-12)
        assert metrics["centre_error"] == centre_error(mixture.centres, self.truth.centres)

    def test_the_mixture_found_is_near_the_truth(self):
        X, labels, truth = sample(100_000)
        instance = ob.gmm_tensor(X, 3, labels, truth=truth)
        metrics = instance.measure(Solution(factors(instance)))
        assert metrics["centre_error"] < 0.1
        assert abs(metrics["nmi_gap"]) < 0.01
        assert instance.moments.variance == pytest.approx(1.0, abs=0.02)


class TestNMI:
    def test_equal_clusterings_under_any_names_are_at_one(self):
        labels = rng().integers(5, size=500)
        assert nmi(labels, labels) == pytest.approx(1.0)
        assert nmi(labels, rng(1).permutation(5)[labels]) == pytest.approx(1.0)
        assert nmi(labels, np.zeros(500, dtype=int)) == pytest.approx(0.0)

    @given(seed=st.integers(0, 2**32 - 1))
    def test_it_is_the_information_over_the_mean_entropy(self, seed):
        a, b = rng(seed).integers(4, size=(2, 60))
        b = np.where(rng(seed + 1).random(60) < 0.5, a, b)
        joint = np.array([[np.mean((a == i) & (b == j)) for j in range(4)] for i in range(4)])

        def entropy(p):
            return -np.sum(p[p > 0] * np.log(p[p > 0]))

        apart = entropy(joint.sum(axis=1)), entropy(joint.sum(axis=0))
        information = sum(apart) - entropy(joint)
        assert nmi(a, b) == pytest.approx(2 * information / sum(apart), abs=1e-12)


def test_centres_are_matched_one_to_one():
    true = rng().standard_normal((4, 3))
    assert centre_error(true[[2, 0, 3, 1]], true) == 0
    off = true[[1, 0, 2, 3]] + 0.01
    assert centre_error(off, true) == pytest.approx(0.01 * np.sqrt(12) / np.linalg.norm(true))


class TestRows:
    X, labels, truth = sample(1000)

    def test_the_judge_takes_few_rows_and_their_labels(self, monkeypatch):
        whole = ob.gmm_tensor(self.X, 3, self.labels, truth=self.truth)
        monkeypatch.setattr(gmm, "JUDGED", 300)
        few = ob.gmm_tensor(self.X, 3, self.labels, truth=self.truth)
        rows = mixture_instance(whole.moments, self.X[::4], self.labels[::4], self.truth)
        solution = Solution(factors(whole))
        assert few.measure(solution) == rows.measure(solution) != whole.measure(solution)

    def test_arrays_maps_sources_and_blocks_give_the_same_tensor(self, tmp_path):
        T = ob.gmm_tensor(self.X, 3).oracle.T
        np.save(tmp_path / "x.npy", self.X)
        mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
        for X in (mapped, ArraySource(self.X), list(self.X), [self.X[:7], self.X[7:]]):
            assert np.array_equal(ob.gmm_tensor(X, 3).oracle.T, T)


class TestRefusals:
    X, labels, truth = sample(500, 2)

    @pytest.mark.parametrize(
        ("make", "error", "said"),
        [
            (lambda X: ob.gmm_tensor(X, 7), UsageError, "between 1 and 6, not 7: .* 6 features"),
            (lambda X: ob.gmm_tensor(X, 0), UsageError, "components must .*, not 0"),
            (lambda X: ob.gmm_tensor(X, 2.5), UsageError, "whole number .* 6, not 2.5"),
            (lambda X: ob.gmm_tensor((x for x in X), 2), UsageError, "generator can be read once"),
            (lambda X: ob.gmm_tensor(X[:6], 2), DataError, "6 samples of 6 features"),
            (lambda X: ob.gmm_tensor(X[0], 2), DataError, "must be a matrix"),
            (lambda X: ob.gmm_tensor(X, 2, np.zeros(499, int)), DataError, "500 integers"),
            (lambda X: ob.gmm_tensor(X, 2, np.zeros(500)), DataError, "integers or strings"),
            (
                lambda X: ob.gmm_tensor(X, 2, variance_estimate="least"),
                UsageError,
                "unknown variance estimate 'least'",
            ),
            (
                lambda X: ob.gmm_tensor(X, 2, truth=Mixture(np.eye(3, 6), np.ones(3) / 3, 1.0)),
                UsageError,
                r"true centres must be \(2, 6\), not \(3, 6\)",
            ),
        ],
    )
    def test_wrong_calls_say_what_is_right(self, make, error, said):
        with pytest.raises(error, match=said):
            make(self.X)

    @pytest.mark.parametrize("k", [2.5, 7, 0])
    def test_components_are_checked_before_the_samples_are_read(self, k):
        class Unread(ArraySource):
            def one_pass(self):
                raise AssertionError("the samples are read")

        with pytest.raises(UsageError, match="components"):
            ob.gmm_tensor(Unread(self.X), k)


class TestSphericity:
    @pytest.mark.parametrize(("d", "N"), [(6, 100), (6, 5000), (40, 90), (3, 20)])
    def test_spherical_mixtures_raise_no_warning(self, d, N):
        for seed in range(20):
            X, _, _ = sample(N, 2, d, seed)
            ob.gmm_tensor(X, 2)

    def test_unequal_variances_are_said_with_their_spread(self):
        X, _, _ = sample(20_000)
        stretched = X * np.array([1, 1, 1, 0.7, 0.7, 0.7])
        with pytest.warns(UserWarning, match="not spherical, .*: the 4 least .* by .*% of"):
            ob.gmm_tensor(stretched, 3)
