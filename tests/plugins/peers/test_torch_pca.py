"""PCA of torch: what it finds of samples, and its flops, which no counter sees."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_stochastic_pca.solvers.torch_pca import TorchEigh, TorchPCALowrank, TorchSVDLowrank

from orthobench.registry.plugins import catalogue
from orthobench.tools.flops import eigh, qr

PACKAGES = ("torch",)

N, D, K = 60, 8, 3
SEEDED = SimpleNamespace(seed=0)


def samples(n=N, d=D):
    return np.random.default_rng(0).standard_normal((n, d)) * np.linspace(2, 1, d)


@pytest.mark.parametrize("cls", [TorchSVDLowrank, TorchPCALowrank])
def test_oversampling_and_power_iterations_reduce_the_error(cls):
    X = samples(N, 40)
    right = np.linalg.svd(X)[2][:K]

    def captured(**settings):
        return np.linalg.norm(right @ cls(**settings).fit(X, K, SEEDED)[0])

    assert captured(oversampling=0, iterations=0) < captured(oversampling=10, iterations=0)
    assert captured(oversampling=0, iterations=0) < captured(oversampling=0, iterations=2)


@pytest.mark.parametrize(("n", "rest"), [(N, 0), (5, 2 * D * 5 * K + qr(D, K))])
def test_smaller_of_both_moments_is_decomposed(n, rest):
    found, spent = TorchEigh().fit(samples(n), K, SEEDED)
    right, small = np.linalg.svd(samples(n))[2][:K], min(n, D)
    np.testing.assert_allclose(np.abs(right @ found), np.eye(K), atol=1e-10)
    assert spent == 2 * n * D * small + eigh(small) + rest


def test_a_place_of_another_library_is_refused():
    problem = catalogue().problem("spiked-covariance")
    assert TorchEigh().refuses(problem) is None
    assert TorchEigh(on="jax").refuses(problem) == "computes with torch only, not on jax:cpu"
