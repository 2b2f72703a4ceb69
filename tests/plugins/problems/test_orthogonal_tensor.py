"""Problems of orthogonal tensor decomposition: what is planted in them, and what comes back."""

import itertools

import numpy as np
import pytest
from drawn import built, rng
from orthobench_kit.symmetric_tensors import composed, contracted
from orthobench_orthogonal_tensor.problems.files import NpyTensor
from orthobench_orthogonal_tensor.problems.gmm import GaussianMixtureMoments, draw
from orthobench_orthogonal_tensor.problems.lda import LDAMoments
from orthobench_orthogonal_tensor.problems.odeco import Odeco, Odeco4

from orthobench.contract.problem import Solution
from orthobench.errors import DataError, UsageError
from orthobench.tools.geometry import polar, random_point

SMALL = {
    "odeco": Odeco(d=5),
    "nearly": Odeco(d=5, overlap=0.1, noise=0.1),
    "gmm-moments": GaussianMixtureMoments(d=6, components=3, samples=2000),
    "lda-moments": LDAMoments(topics=3, vocabulary=12, documents=500, words=10),
}


def decomposed(T, starts=1):
    """The best of some orthogonal matrices that polar iterations lead to."""
    found = []
    for seed in range(starts):
        U = np.linalg.eigh(T @ rng(seed).standard_normal(len(T)))[1]
        for _ in range(50):
            U = polar(np.einsum("abc,bi,ci->ai", T, U, U, optimize=True))
        found.append(U)
    return max(found, key=lambda U: contracted(T, U).sum())


def judged(problem, seed=0, starts=1):
    instance = built(problem, seed)
    return instance.measure(Solution(decomposed(instance.oracle.T, starts)))


@pytest.mark.parametrize("problem", SMALL.values(), ids=SMALL)
class TestEvery:
    def test_offers_a_symmetric_tensor_that_only_the_seed_decides(self, problem):
        T = built(problem).oracle.T
        for p in itertools.permutations(range(3)):
            np.testing.assert_allclose(T.transpose(p), T, rtol=0, atol=1e-14 * np.abs(T).max())
        assert np.array_equal(T, built(problem).oracle.T)
        assert not np.array_equal(T, built(problem, seed=1).oracle.T)


class TestOdeco:
    @pytest.mark.parametrize("spectrum", ["geometric", "linear"])
    @pytest.mark.parametrize("spread", [1.0, 4.0])
    def test_its_factors_are_the_maximum(self, spectrum, spread):
        problem = Odeco(d=8, spectrum=spectrum, spread=spread)
        instance = built(problem)
        U = decomposed(instance.oracle.T)
        found = np.sort(np.abs(contracted(instance.oracle.T, U)))[::-1]
        np.testing.assert_allclose(found, problem.weights, rtol=1e-12)
        metrics = instance.measure(Solution(U))
        assert metrics["recovery_error"] < 1e-12
        assert metrics["objective"] == pytest.approx(problem.weights.sum(), rel=1e-13)
        assert metrics["objective_gap"] == pytest.approx(0, abs=1e-13)
        assert instance.best == {"objective_gap": 0.0, "recovery_error": 0.0}
        for seed in range(10):
            other = instance.measure(Solution(random_point(8, 8, rng(seed))))
            assert other["objective_gap"] > 0

    @pytest.mark.parametrize("problem", [Odeco(d=6, overlap=0.3), Odeco4(d=5, overlap=0.3)])
    def test_components_overlap_by_what_is_asked_for(self, problem):
        instance = built(problem)
        U = random_point(problem.d, problem.d, rng())
        inner = 0.7 * np.eye(problem.d) + 0.3
        values, vectors = np.linalg.eigh(inner)
        A = U @ (vectors * np.sqrt(values)) @ vectors.T
        np.testing.assert_allclose(A.T @ A, inner, atol=1e-13)
        T = composed(A, problem.weights, problem.order)
        np.testing.assert_allclose(instance.oracle.T, T, atol=1e-12)
        assert instance.measure(Solution(U))["recovery_error"] < 1e-12
        np.testing.assert_allclose(polar(A), U, atol=1e-12)
        assert instance.best == {}

    def test_the_noise_is_symmetric_and_of_the_size_asked_for(self):
        clean = built(Odeco(d=7)).oracle.T
        for noise in (0.01, 0.5):
            E = built(Odeco(d=7, noise=noise)).oracle.T - clean
            assert np.linalg.norm(E) == pytest.approx(noise * np.linalg.norm(clean), rel=1e-10)
            assert all(np.allclose(E, E.transpose(p)) for p in itertools.permutations(range(3)))

    def test_with_noise_the_optimum_is_not_known(self):
        instance = built(Odeco(d=20, noise=0.1))
        metrics = instance.measure(Solution(decomposed(instance.oracle.T)))
        assert "objective_gap" not in metrics
        assert instance.best == {}
        assert 0 < metrics["recovery_error"] < 0.2
        assert metrics["residual"] == pytest.approx(0.1, rel=0.15)


class TestGaussianMixtures:
    def test_samples_come_from_their_components(self):
        mixture = GaussianMixtureMoments(d=3, components=2, variance=0.25).draw_mixture(rng())
        X, labels = draw(mixture, 20_000, rng(1))
        for component, centre in enumerate(mixture.centres):
            own = X[labels == component]
            assert len(own) == pytest.approx(10_000, rel=0.05)
            np.testing.assert_allclose(own.mean(axis=0), centre, atol=0.02)
            np.testing.assert_allclose(np.cov(own.T), 0.25 * np.eye(3), atol=0.01)

    def test_exact_moments_give_the_optimum(self):
        metrics = judged(GaussianMixtureMoments(d=12, components=8, samples=0))
        assert metrics["centre_error"] < 1e-9
        assert metrics["nmi_gap"] == pytest.approx(0, abs=1e-12)
        assert metrics["nmi"] == metrics["optimal_nmi"] - metrics["nmi_gap"] > 0.3

    def test_mean_of_bottom_eigenvalues_is_the_better_variance(self):
        def variance(estimate):
            problem = GaussianMixtureMoments(
                d=40, components=3, samples=2000, variance_estimate=estimate
            )
            return built(problem).moments.variance

        assert variance("bottom") == pytest.approx(2.0, rel=0.02)
        assert variance("smallest") < 1.7

    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"d": 10}, "20 components cannot be recovered .* d must be >= 20"),
            ({"d": 50, "samples": 50}, "more than d = 50"),
            ({"variance": 0.0}, "variance must be > 0"),
            ({"variance_estimate": "least"}, "unknown value of variance_estimate"),
        ],
    )
    def test_impossible_recovery_is_refused_before_the_run(self, settings, said):
        with pytest.raises(UsageError, match=said):
            GaussianMixtureMoments(**settings)


class TestTopics:
    def test_exact_moments_give_back_the_topics(self):
        for alpha0 in (0.1, 1.0, 20.0):
            problem = LDAMoments(topics=6, vocabulary=40, documents=0, alpha0=alpha0)
            metrics = judged(problem)
            assert metrics["topic_error"] < 1e-8
            weights = (alpha0 / 6) / (alpha0 * (alpha0 + 1))
            assert metrics["objective"] == pytest.approx(6 * weights**-0.5, rel=1e-8)

    def test_too_few_documents_name_the_eigenvalue(self):
        with pytest.raises(DataError, match=r"eigenvalue .* of the second moment"):
            built(LDAMoments(topics=10, vocabulary=20, documents=4, words=3))


class TestFile:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "t.npy"
        np.save(path, built(Odeco(d=5)).oracle.T)
        return path

    def test_the_tensor_is_that_of_the_file(self, path):
        instance = built(NpyTensor(path=str(path)))
        np.testing.assert_allclose(instance.oracle.T, np.load(path), rtol=1e-14)
        U = decomposed(instance.oracle.T)
        assert instance.measure(Solution(U))["residual"] < 1e-7

    @pytest.mark.parametrize(
        ("tensor", "said"),
        [
            (np.ones((3, 3)), "must be cubic"),
            (np.ones((3, 3, 2)), "must be cubic"),
            (np.ones((2, 2, 2, 2)), "of order 4: use ob.orthogonal_tensor"),
            (np.ones((2, 2, 2)) * 1j, "real numbers"),
            (np.arange(8.0).reshape(2, 2, 2), "not symmetric: entry"),
            (np.full((2, 2, 2), np.nan), r"entry \(0, 0, 0\)"),
            (np.zeros((2, 2, 2)), "zero"),
            (np.full((2, 2, 2), None), "cannot be read"),
        ],
    )
    def test_file_without_a_symmetric_tensor_is_refused(self, tmp_path, tensor, said):
        path = tmp_path / "bad.npy"
        np.save(path, tensor, allow_pickle=True)
        with pytest.raises(DataError, match=said) as raised:
            built(NpyTensor(path=str(path)))
        assert "bad.npy" in str(raised.value)
